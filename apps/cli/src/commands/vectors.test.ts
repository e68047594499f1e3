import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { addExample, bytesOf, toLine, withOperands } from "@nnhal/test-kit/examples";
import { type FakeBehaviour, fakeDevice } from "@nnhal/test-kit/fake-device";
import { fromSource } from "@nnhal/test-kit/from-source";
import { type Device, ErrorStatus } from "@nnhal/types";
import { Command, CommanderError } from "commander";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CommandContext } from "../context.ts";
import { createDeviceFinder } from "../devices.ts";
import { CommandError } from "../failure.ts";
import { registerVectorsCommand } from "./vectors.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nnhal-vectors-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function put(name: string, ...lines: readonly string[]): Promise<void> {
  await writeFile(join(folder, name), gzipSync(lines.map((line) => `${line}\n`).join("")));
}

const example = (name: string, more: Parameters<typeof addExample>[0] = {}) => toLine(addExample({ name, ...more }));

/** Gives 11, 22, 33, and something else for a relaxed model. */
const behaviour: FakeBehaviour = {
  execute({ output, model }) {
    output(0).set(bytesOf(Float32Array.of(11, 22, model.relaxComputationFloat32toFloat16 ? 34 : 33)));
    return { outputShapes: [{ dimensions: [1, 3], isSufficient: true }] };
  },
};

async function run(args: readonly string[], device: Device = fakeDevice(behaviour)) {
  const output = { stdout: "", stderr: "", exitCode: undefined as number | undefined };
  const context: CommandContext = {
    stdout: { write: (text) => (output.stdout += text) },
    stderr: { write: (text) => (output.stderr += text) },
    async openDevice(name) {
      if (name === device.name) return device;
      throw new Error(`there is no device "${name}"`);
    },
    showWhere() {},
    deviceToCheck: async (names) => createDeviceFinder([]).toCheck(names),
    setExitCode(code) {
      output.exitCode = code;
    },
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: context.stderr.write });
  registerVectorsCommand(program.command("vectors"), async () => context);
  try {
    await program.parseAsync(["vectors", ...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    context.stderr.write(`nnhal vectors: ${error.message}\n`);
    context.setExitCode(error.exitCode);
  }
  return output;
}

describe("nnhal vectors", () => {
  it("exits with 0 if everything passes", async () => {
    await put("a.jsonl.gz", example("a/a"), example("a/b"));
    const { stdout, stderr, exitCode } = await run([folder, "--device", "fake"]);
    expect(stdout).toMatch(/^ADD +2 +0 +0 +0$/m);
    expect(stdout).toMatch(/fake: 2 passed, 0 failed, 0 unsupported, 0 skipped of 2\n$/);
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
  });

  it("drives the device through a HAL version, and says so", async () => {
    await put("a.jsonl.gz", example("a/a"), example("a/b"));
    const args = [folder, "--device", "fake", "--variants", "--hal"];
    expect((await run([...args, "aidl4"])).stdout).toMatch(
      /fake through HAL aidl4: 4 passed, 0 failed, 0 unsupported,/,
    );
    const { stdout } = await run([...args, "1.0", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ device: "fake", hal: "1.0", passed: 2, failed: 0, unsupported: 2 });
    await expect(run([...args, "aidl5"])).rejects.toThrow(CommanderError);
  });

  it("exits with 1 if an example fails, and shows the first difference", async () => {
    await put("a.jsonl.gz", example("a/a"), example("a/bad", { isRelaxed: true }), example("a/c"));
    const { stdout, exitCode } = await run([folder, "--device", "fake"]);
    expect(stdout).toMatch(/^FAILED a\/bad\n {7}ADD output 0 element 2 \[0, 2\]: expected 33, got 34, with/m);
    expect(stdout).toMatch(/fake: 2 passed, 1 failed/);
    expect(exitCode).toBe(1);
  });

  it("exits with 0 if operations are unsupported, and says why", async () => {
    await put("a.jsonl.gz", example("a/a"));
    const unsupporting = fakeDevice({
      getSupportedOperations: () => ({ status: ErrorStatus.NONE, supported: [false], reasons: ["ADD: no adder"] }),
    });
    const { stdout, exitCode } = await run([folder, "--device", "fake"], unsupporting);
    expect(stdout).toMatch(/^ +1 {2}ADD: no adder$/m);
    expect(stdout).toMatch(/fake: 0 passed, 0 failed, 1 unsupported, 0 skipped of 1\n$/);
    expect(exitCode).toBe(0);
  });

  it("prints one JSON object and nothing else with --json", async () => {
    await put("a.jsonl.gz", example("a/bad", { isRelaxed: true }), example("a/c"));
    const { stdout, exitCode } = await run([folder, "--device", "fake", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      device: "fake",
      passed: 1,
      failed: 1,
      unsupported: 0,
      skipped: 0,
      total: 2,
      byOperation: { ADD: { passed: 1, failed: 1, unsupported: 0 } },
      failures: [{ name: "a/bad", reason: expect.stringMatching(/^ADD output 0 element 2/) }],
    });
    expect(exitCode).toBe(1);
  });

  it("runs derived forms with --variants, and only what --filter finds", async () => {
    await put("a.jsonl.gz", example("a/one"), example("a/two"));
    const total = async (...args: readonly string[]) =>
      JSON.parse((await run([folder, "--device", "fake", "--json", ...args])).stdout).total;
    expect(await total()).toBe(2);
    expect(await total("--variants")).toBe(4);
    expect(await total("--filter", "TWO")).toBe(1);
    expect(await total("--filter", "TWO", "--variants")).toBe(2);
  });

  it("executes by the --path that is asked for, and knows no others", async () => {
    await put("a.jsonl.gz", example("a/a"));
    const fenced = await run([folder, "--device", "fake", "--path", "fenced"]);
    expect(fenced.stdout).toMatch(/^ +1 {2}the device has no fenced executions$/m);
    const burst = await run([folder, "--device", "fake", "--path", "burst"]);
    expect(burst.stdout).toMatch(/fake: 1 passed, 0 failed, 0 unsupported, 0 skipped of 1\n$/);
    await expect(run([folder, "--device", "fake", "--path", "telepathy"])).rejects.toThrow(CommanderError);
  });

  it("fails an example that is over the time limit and goes on", async () => {
    await put("a.jsonl.gz", example("a/slow", { isRelaxed: true }), example("a/b"));
    const slow = fakeDevice({
      execute: (execution) =>
        execution.model.relaxComputationFloat32toFloat16
          ? new Promise(() => {})
          : (behaviour.execute?.(execution) ?? {}),
    });
    const { stdout } = await run([folder, "--device", "fake", "--json", "--time-limit", "0.1"], slow);
    expect(JSON.parse(stdout)).toMatchObject({
      passed: 1,
      failures: [{ name: "a/slow", reason: "no answer within 100 ms" }],
    });
  });

  it("exits with 2 and one line if it cannot run", async () => {
    const problem = async (...args: readonly string[]) => {
      const { stdout, stderr, exitCode } = await run(args);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(/^nnhal vectors: .*\n$/);
      return stderr;
    };
    expect(await problem(folder, "--device", "fake")).toContain(`there are no *.jsonl.gz files in ${folder}`);
    expect(await problem(join(folder, "gone"), "--device", "fake")).toContain("the file does not exist");
    await put("a.jsonl.gz", example("a/a"), "{}");
    expect(await problem(folder, "--device", "fake")).toContain("a.jsonl.gz:2: name: expected a string, found nothing");
    await put("a.jsonl.gz", example("a/a"));
    expect(await problem(folder, "--device", "none")).toContain('there is no device "none"');
    expect(await problem(folder, "--device", "fake", "--filter", "zzz")).toContain('matches the filter "zzz"');
  });

  it("refuses options that make no sense", async () => {
    expect((await run([folder])).stderr).toContain("--device says what to check, and it is not given");
    for (const wrong of ["0", "-1", "soon", "86401"]) {
      await expect(run([folder, "--device", "fake", "--time-limit", wrong])).rejects.toThrow(/Expected a number/);
    }
  });
});

/** Runs the program itself, as a user does. */
function runProgram(...args: readonly string[]): Promise<{ stdout: string; stderr: string; exitCode: number | null }> {
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const child = spawn(process.execPath, [...fromSource, main, "vectors", ...args], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ stdout, stderr, exitCode }));
  });
}

// Each starts two processes, which takes long on a machine that does much else.
describe("the program", { timeout: 120_000 }, () => {
  it("runs vectors on the reference device in a child process", async () => {
    await put("a.jsonl.gz", example("a/a"), example("a/-b"));
    const right = await runProgram(folder, "--device", "reference", "--variants", "--filter", "-b", "--json");
    expect({ ...right, stdout: JSON.parse(right.stdout || "{}") }).toEqual({
      stdout: {
        device: "reference",
        passed: 2,
        failed: 0,
        unsupported: 0,
        skipped: 0,
        total: 2,
        byOperation: { ADD: { passed: 2, failed: 0, unsupported: 0 } },
        failures: [],
      },
      stderr: "",
      exitCode: 0,
    });
    const wrong = { data: bytesOf(Float32Array.of(11, 22, 34)) };
    await put("a.jsonl.gz", toLine(withOperands(addExample(), { 3: wrong })));
    const { stdout, exitCode } = await runProgram(folder, "--device", "reference");
    expect(stdout).toMatch(/ADD output 0 element 2 \[0, 2\]: expected 34, got 33,/);
    expect(exitCode).toBe(1);
  });

  it("says in one line what the child cannot do", async () => {
    await put("a.jsonl.gz", example("a/a"));
    const { stdout, stderr, exitCode } = await runProgram(folder, "--device", "toaster");
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toMatch(/^nnhal vectors: there is no device "toaster"; .*\n$/);
  });
});
