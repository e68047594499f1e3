/**
 * Type-checks all packages, in one program for each set of compiler options: a file that many packages import is then read and
 * checked once. Each program keeps its findings, so that the next run checks only the files that a change touches.
 *
 * A program also reads the files that its packages import from others, with its own options. Findings there do not count: a
 * package is held to the options of its own tsconfig.json.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { compile } from "./declarations.ts";
import { type CommandResult, eachOf } from "./process.ts";

/** Packages with the same compiler options. */
export interface TypeProgram {
  /** The base that the options extend, as an absolute path. */
  readonly base: string;
  readonly compilerOptions: Readonly<Record<string, unknown>>;
  /** The packages, as paths from the root. */
  readonly folders: readonly string[];
  /** Files to check, as absolute paths and patterns. */
  readonly include: readonly string[];
}

/** The programs of some packages, each given by its folder. Throws for a tsconfig.json of another form than they have here. */
export function typePrograms(root: string, folders: readonly string[]): TypeProgram[] {
  const programs = new Map<string, TypeProgram>();
  for (const folder of folders) {
    const path = join(root, folder, "tsconfig.json");
    const { config, error } = ts.parseConfigFileTextToJson(path, readFileSync(path, "utf8"));
    const { extends: base, compilerOptions = {}, include, ...others } = config ?? {};
    const isKnown = typeof base === "string" && Array.isArray(include) && Object.keys(others).length === 0;
    if (error !== undefined || !isKnown) {
      throw new Error(`${folder}/tsconfig.json: expected the fields extends, include and perhaps compilerOptions`);
    }
    const absolute = (each: unknown) => resolve(root, folder, String(each));
    const key = JSON.stringify([absolute(base), compilerOptions]);
    const known = programs.get(key);
    programs.set(key, {
      base: absolute(base),
      compilerOptions,
      folders: [...(known?.folders ?? []), folder],
      include: [...(known?.include ?? []), ...include.map(absolute)],
    });
  }
  return [...programs.values()];
}

/** Checks the programs, two at a time. */
export async function checkTypes(root: string, folders: readonly string[]): Promise<CommandResult> {
  const cache = join(root, "node_modules/.cache/nnhal-types");
  mkdirSync(cache, { recursive: true });
  const outputs: string[] = [];
  await eachOf(typePrograms(root, folders), async ({ base, compilerOptions, folders: own, include }) => {
    const options = { ...compilerOptions, incremental: true };
    const name = createHash("sha256")
      .update(JSON.stringify([base, options]))
      .digest("hex")
      .slice(0, 12);
    const config = join(cache, `${name}.json`);
    const text = `${JSON.stringify({
      extends: base,
      compilerOptions: { ...options, tsBuildInfoFile: join(cache, `${name}.tsbuildinfo`) },
      include,
    })}\n`;
    if (!existsSync(config) || readFileSync(config, "utf8") !== text) writeFileSync(config, text);
    const { ok, output } = await compile(root, ["-p", config, "--pretty", "false"]);
    const problems = problemsIn(output, own);
    // Without a single diagnostic that can be read, the compiler itself failed.
    if (!ok && (problems.length > 0 || !hasDiagnostic(output))) outputs.push(problems.join("\n") || output);
  });
  return { ok: outputs.length === 0, output: outputs.join("\n") };
}

/** `path(line,column): error TS…`, with the path from the root. */
const diagnostic = /^([^\s(][^(]*)\(\d+,\d+\): error TS/;

const hasDiagnostic = (output: string): boolean => output.split("\n").some((line) => diagnostic.test(line));

/**
 * The diagnostics of the compiler except those in folders that another program checks: those of files in the root count in each program.
 * Further lines of one are indented.
 */
export function problemsIn(output: string, folders: readonly string[]): string[] {
  let counts = true;
  return output.split("\n").filter((line) => {
    if (line.trim() === "") return false;
    const path = diagnostic.exec(line)?.[1];
    if (path !== undefined) counts = !path.includes("/") || folders.some((folder) => path.startsWith(`${folder}/`));
    else if (!/^\s/.test(line)) counts = true;
    return counts;
  });
}
