/**
 * Declarations of all packages, made at once by the compiler that also checks types, and joined. A package's build only copies its own:
 * to make and join them package by package takes many times longer.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { joinDeclarations } from "./joined-declarations.ts";
import { type CommandResult, runCommand } from "./process.ts";
import { readManifest } from "./workspace.ts";

/** The compiler for checks and declarations. The other, which tsup and the API reports call, takes three times as long. */
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript-native/package.json")), "bin/tsc");

/**
 * One checker, and a garbage collector that works only when memory runs short: several checkers find out the same of the types that they
 * share. Both together take less than half of the processor time.
 */
export function compile(root: string, args: readonly string[]): Promise<CommandResult> {
  const environment = { GOGC: "off", GOMEMLIMIT: "2GiB" };
  return runCommand(root, process.execPath, [compiler, "--checkers", "1", ...args], root, environment);
}

/**
 * Where declarations are, from the root: each at the path of its source, and those that a package publishes at their paths in the folder of
 * the package. Not in node_modules, from which nothing is joined.
 */
const declarationsFolder = ".declarations";

/** Makes the declarations of all packages again, and joins them. */
export async function emitDeclarations(root: string): Promise<CommandResult> {
  const folder = join(root, declarationsFolder);
  rmSync(folder, { recursive: true, force: true });
  const result = await compile(root, ["-p", "tsconfig.declarations.json"]);
  if (result.ok) {
    for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!path.endsWith(".d.ts")) continue;
      const file = join(folder, path);
      writeFileSync(file, withoutSources(readFileSync(file, "utf8")));
    }
    for (const parent of ["apps", "packages"]) {
      for (const name of readdirSync(join(folder, parent))) {
        const made = join(folder, parent, name);
        await joinDeclarations(join(made, "src"), join(made, "dist"), readManifest(join(root, parent, name)));
      }
    }
  }
  return result;
}

/** A declaration whose relative imports name declarations: the compiler leaves the names of sources in them. */
export function withoutSources(declaration: string): string {
  return declaration.replace(/((?:\bfrom |\bimport\()"\.{1,2}\/[^"]*)\.ts"/g, '$1.js"');
}
