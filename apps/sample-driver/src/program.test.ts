/** The command line, in this process: refusals and output. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseOptions } from "./options.ts";
import { runDaemon } from "./program.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-program-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(args: readonly string[], signals: readonly NodeJS.Signals[] = [], env: NodeJS.ProcessEnv = {}) {
  const written = { stdout: "", stderr: "", exits: [] as number[] };
  const code = await runDaemon({
    ...{ args, env, cwd: folder, version: "1.2.3" },
    stdout(text) {
      written.stdout += text;
    },
    stderr(text) {
      written.stderr += text;
    },
    onSignal: (listener) => signals.forEach(listener),
    exit: (status) => written.exits.push(status),
  });
  return { code, ...written };
}

describe("the command line", () => {
  it("prints its help, its version and the devices", async () => {
    const help = await run(["--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("Exit codes: 0 the daemon was ended by a signal; 1 it cannot work; 2");
    expect(help.stdout.match(/\(default: (none|\[\]|"")\)/g)).toEqual(Array(3).fill("(default: none)"));
    expect(await run(["--version"])).toMatchObject({ code: 0, stdout: "1.2.3\n" });
    const list = await run(["--list"]);
    expect(list.code).toBe(0);
    expect(list.stdout.split("\n").slice(0, 2)).toEqual(["nnapi-sample_all", "nnapi-sample_float_fast"]);
  });

  it.each([
    [["--devices", "nothing"], 'there is no device "nothing"'],
    [["--backend", "./npu.js"], "is not of the form NAME=MODULE"],
    [["--unknown"], "unknown option '--unknown'"],
    [["something"], "too many arguments"],
    [["--metrics", "65536"], "Expected an integer from 0 to 65535; see nnhal-sample-driver --help"],
    [["--models", "0"], "Expected an integer from 1 to"],
    [["--drain", "0"], "Expected a number of seconds above 0"],
    [["--log-format", "xml"], "Allowed choices are text, json"],
  ])("refuses %j", async (args, message) => {
    const { code, stderr, stdout } = await run(args);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([2, ""]);
  });

  it("takes the limits", () => {
    const parsed = parseOptions(["--models", "1", "--queue", "7", "--drain", "0.5", "--metrics", "65535"], "1", {});
    expect(parsed).toMatchObject({
      settings: { limits: { models: 1, queue: 7, buffers: 1024 }, drainLimit: 500, metrics: 65_535, list: false },
    });
  });

  it("cannot work in a directory that is not its own", async () => {
    writeFileSync(join(folder, "file"), "");
    symlinkSync(folder, join(folder, "link"));
    const inDirectory = (dir: string) => run(["--devices", "nnapi-sample_all", "--dir", join(folder, dir)]);
    expect(await inDirectory("file")).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be made") });
    expect(await inDirectory("link")).toMatchObject({ code: 1, stderr: expect.stringContaining("is a symbolic link") });
  });
});

describe("a signal", () => {
  const serve = (...more: string[]) => ["--devices", "nnapi-sample_all", "--dir", join(folder, "run"), ...more];

  it("ends the daemon in order; a second one ends it at once", async () => {
    expect(await run(serve(), ["SIGTERM"])).toMatchObject({ code: 0, exits: [] });
    expect(await run(serve(), ["SIGTERM", "SIGTERM"])).toMatchObject({ exits: [143] });
    expect(await run(serve(), ["SIGTERM", "SIGINT"])).toMatchObject({ exits: [130] });
  });

  it("comes after the line that says that clients can connect, and before the trace", async () => {
    const trace = join(folder, "trace.json");
    const { stdout, stderr } = await run(serve("--trace", trace, "--metrics", "0"), ["SIGINT"]);
    expect(stdout).toBe(`ready ${join(folder, "run")} nnapi-sample_all\n`);
    expect(stderr).toMatch(
      /metrics are served at http:\/\/127\.0\.0\.1:\d+\/metrics[\s\S]*the daemon ends[\s\S]*all is closed/,
    );
    const { readFileSync } = await import("node:fs");
    expect(JSON.parse(readFileSync(trace, "utf8"))).toMatchObject({ displayTimeUnit: "ms", traceEvents: [] });
  });
});
