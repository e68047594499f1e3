import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { fromSource } from "@nnhal/test-kit/from-source";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** Runs the program as a process of its own, in the folder of the demo's files. */
function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}, stdout: "pipe" | number = "pipe") {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  return spawn(process.execPath, [...fromSource, main, ...args], {
    cwd: fileURLToPath(new URL("../demo/", import.meta.url)),
    env: { ...process.env, npm_lifecycle_event: undefined, ...environment },
    stdio: ["ignore", stdout, "pipe"],
  });
}

function outcomeOf(child: ReturnType<typeof start>) {
  const outcome = { stdout: "", stderr: "", exitCode: null as number | null };
  child.stdout?.on("data", (chunk) => (outcome.stdout += chunk));
  child.stderr?.on("data", (chunk) => (outcome.stderr += chunk));
  return new Promise<typeof outcome>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ ...outcome, exitCode }));
  });
}

/** True if a process has ended and only waits for its parent to notice. */
function isZombie(pid: number): boolean {
  const status = `/proc/${pid}/stat`;
  return existsSync(status) && / Z /.test(readFileSync(status, "utf8"));
}

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-main-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A file of a module. */
function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

// Each starts a process or two, which takes long on a machine that does much else.
describe("the program", { timeout: 120_000 }, () => {
  it("runs a model in the folder it was started in", async () => {
    const args = ["run", "digits-float.tflite", "--input", "7-mixture.png", "--labels", "labels.txt", "--json"];
    const { stdout, stderr, exitCode } = await outcomeOf(start(args));
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(JSON.parse(stdout).top[0]).toMatchObject({ index: 7, label: "7" });
  });

  it("computes a batch in worker threads, and goes on with it after it was killed", async () => {
    const results = join(folder, "results");
    const args = [
      "batch",
      "run",
      "digits-uint8.tflite",
      ".",
      "--threads",
      "1",
      "--device",
      "reference",
      "--results",
      results,
    ];
    const killed = start(args);
    const journal = () => {
      const file = existsSync(results) ? readdirSync(results).find((name) => name.endsWith(".jsonl")) : undefined;
      return file === undefined ? "" : readFileSync(join(results, file), "utf8");
    };
    while (!journal().includes(".png") && killed.exitCode === null) await sleep(5);
    killed.kill("SIGKILL");
    const { stdout, stderr, exitCode } = await outcomeOf(start(args));
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const [, computed, known] = /^inputs {3}6 inputs: (\d) computed, (\d) already known, 0 failed$/m.exec(stdout) ?? [];
    expect(Number(computed) + Number(known)).toBe(6);
    expect(Number(known)).toBeGreaterThan(0);
  });

  it("exits with the code and the line of what went wrong", async () => {
    expect(await outcomeOf(start(["run", "labels.txt", "--random", "1"]))).toEqual({
      stdout: "",
      stderr: expect.stringMatching(/^nnhal run: the model labels\.txt cannot be used: [^\n]+\n$/),
      exitCode: 2,
    });
    expect(await outcomeOf(start(["run", "gone.tflite"]))).toEqual({
      stdout: "",
      stderr: "nnhal run: cannot read the model gone.tflite: the file does not exist\n",
      exitCode: 2,
    });
  });

  it("names the root script in a checkout", async () => {
    const { stdout } = await outcomeOf(start(["demo"], { npm_lifecycle_event: "start" }));
    expect(stdout).toMatch(/^ {2}npm run -s nnhal -- run digits-uint8\.tflite --input 8-marker\.png/m);
  });

  it("starts the daemon of the demo from sources, also if options of Node.js did not load its own", async () => {
    const main = new URL("main.ts", import.meta.url);
    const sources = new URL("../../../tools/launcher/src/sources.mjs", import.meta.url);
    const code = `process.argv.splice(1, 0, ${JSON.stringify(fileURLToPath(main))});
      await import(${JSON.stringify(sources.href)}); await import(${JSON.stringify(main.href)});`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code, "demo"], {
      cwd: fileURLToPath(new URL("../demo/", import.meta.url)),
      env: { ...process.env, npm_lifecycle_event: "start" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(await outcomeOf(child)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("in a daemon's process"),
    });
  });

  it.runIf(existsSync("/dev/full"))("ends with one line if the standard output is full", async () => {
    const full = openSync("/dev/full", "w");
    try {
      expect(await outcomeOf(start(["devices", "--help"], {}, full))).toEqual({
        stdout: "",
        stderr: "nnhal: cannot write to the standard output: the disk is full\n",
        exitCode: 1,
      });
    } finally {
      closeSync(full);
    }
  });

  it("ends with one line, or with --debug the stack too, if a backend throws where no command can catch it", async () => {
    const module = fileOf(
      "late.mjs",
      'setTimeout(() => { throw new Error("too\\nlate"); }); await new Promise(() => {});',
    );
    const outcome = (...args: string[]) => outcomeOf(start(["devices", "--backend", module, ...args]));
    expect(await outcome()).toEqual({
      stdout: "",
      stderr: "nnhal: unexpected problem: too late; --debug shows where\n",
      exitCode: 1,
    });
    const { stderr } = await outcome("--debug");
    expect(stderr).toMatch(/^Error: too\nlate\n {4}at /);
    expect(stderr).toMatch(/\nnnhal: unexpected problem: too late\n$/);
  });

  it("ends with one line if a backend never loads", async () => {
    const { stderr, exitCode } = await outcomeOf(
      start(["devices", "--backend", fileOf("never.mjs", "await new Promise(() => {});")]),
    );
    expect(stderr).toMatch(/^nnhal: unexpected problem: the command waits for [^\n]+\n$/);
    expect(exitCode).toBe(1);
  });

  // Windows has no signals: a program that is ended there cannot do anything any more.
  it.runIf(process.platform !== "win32")("ends its child processes with itself, even one that computes", async () => {
    const told = join(folder, "pid");
    // The child loads this backend: it says who it is, and then never lets its thread go.
    const text = `
      import { writeFileSync } from "node:fs";
      export const backend = { name: "busy", deviceType: 2, async open() {
        writeFileSync(${JSON.stringify(told)}, String(process.pid));
        for (;;);
      } };`;
    const busy = fileOf("busy.mjs", text);
    const child = start(["conformance", "--suite", "fenced", "--device", "busy", "--backend", busy]);
    const outcome = outcomeOf(child);
    while (!existsSync(told) || readFileSync(told, "utf8") === "") await sleep(50);
    const pid = Number(readFileSync(told, "utf8"));
    expect(pid).not.toBe(child.pid);
    child.kill("SIGTERM");
    expect((await outcome).exitCode).toBe(143);
    // Signal 0 only asks whether the process is there. The system needs a moment to take it away.
    const isThere = () => {
      try {
        return process.kill(pid, 0) && !isZombie(pid);
      } catch {
        return false;
      }
    };
    while (isThere()) await sleep(20);
  });

  it("ends quietly when its output is closed", async () => {
    const child = start(["demo"]);
    const outcome = outcomeOf(child);
    child.stdout?.destroy();
    expect(await outcome).toMatchObject({ stderr: "", exitCode: 0 });
  });
});
