import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { workspaceRoot as root } from "./workspace.ts";

/** The programs that users start, by their packages: a wrong command line of each, and its exit code. */
const programs = [
  { name: "nnhal", folder: "apps/cli", needs: ["info", "absent.tflite"], code: 2 },
  { name: "nnhal-server", folder: "apps/server", needs: ["absent"], code: 2 },
  { name: "nnhal-sample-driver", folder: "apps/sample-driver", needs: ["--devices", "absent"], code: 2 },
  { name: "nnhal-worker", folder: "apps/worker", needs: ["--queue", "absent", "--threads", "none"], code: 2 },
] as const;

let empty: string;
beforeAll(() => {
  empty = mkdtempSync(join(tmpdir(), "nnhal-programs-"));
});
afterAll(() => rmSync(empty, { recursive: true, force: true }));

function run(folder: string, args: readonly string[]) {
  const sources = join(root, "tools/launcher/src/sources.mjs");
  return new Promise<{ stdout: string; stderr: string; code: number | null }>((resolve, reject) => {
    const child = spawn(process.execPath, ["--import", sources, join(root, folder, "src/main.ts"), ...args], {
      cwd: empty,
    });
    const written = { stdout: "", stderr: "" };
    child.stdout.on("data", (text) => {
      written.stdout += text;
    });
    child.stderr.on("data", (text) => {
      written.stderr += text;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...written, code }));
  });
}

/** A help's sentence about the program, and the texts about its arguments, options and commands. */
function describeHelp(help: string): readonly [string, ...string[]] {
  const texts = [...help.matchAll(/^ {2}\S.*? {2,}(\S.*)$/gm)].flatMap(([, text]) => text ?? []);
  return [help.split("\n\n")[1] ?? "", ...texts];
}

describe.each(programs)("$name", ({ name, folder, needs, code }) => {
  it("prints its help and its version on the standard output, and ends with 0", async () => {
    const [help, version, short] = await Promise.all(
      [["--help"], ["--version"], ["-v"]].map((args) => run(folder, args)),
    );
    expect(help).toMatchObject({ stderr: "", code: 0 });
    expect(help?.stdout).toMatch(new RegExp(`^Usage: ${name} `));
    // The program in a sentence with a capital, its options, arguments and commands in lower case.
    const [sentence, ...texts] = describeHelp(help?.stdout ?? "");
    expect(sentence).toMatch(/^[A-Z][a-z]+,? /);
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.filter((text) => /^[A-Z][a-z]/.test(text))).toEqual([]);
    expect(help?.stdout).toMatch(/Exit codes:\s+0 [\s\S]*1 [\s\S]*2\s+the command line is wrong/);
    const manifest: { readonly version: string } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    expect(version).toEqual({ stdout: `${manifest.version}\n`, stderr: "", code: 0 });
    expect(short).toEqual(version);
  });

  it("says in one line what is wrong with a command line, or missing, and ends with 2", async () => {
    const [option, missing] = await Promise.all([run(folder, ["--no-such-option"]), run(folder, needs)]);
    expect(option).toMatchObject({ stdout: "", code: 2 });
    expect(option?.stderr).toMatch(new RegExp(`^${name}: [^\\n]*; see ${name} --help\\n$`));
    expect(missing).toMatchObject({ stdout: "", code });
    expect(missing?.stderr).toMatch(new RegExp(`^${name}[^\\n]*: [^\\n]*(?:absent|none)[^\\n]*\\n$`));
  });
});

it("has its exit codes in the table of the documentation", () => {
  const table = readFileSync(join(root, "docs/cli.md"), "utf8").split("## Exit codes")[1] ?? "";
  for (const { name } of programs) expect(table).toContain(`\`${name}\``);
  for (const code of [0, 1, 2, 130]) expect(table).toMatch(new RegExp(`^\\| ${code}\\b`, "m"));
});
