import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { referenceBackend } from "@nnhal/backend-reference";
import { deviceSuiteNames, listDeviceCases, parseExample } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { addExample, toLine } from "@nnhal/test-kit/examples";
import { fakeDevice } from "@nnhal/test-kit/fake-device";
import { fromSource } from "@nnhal/test-kit/from-source";
import type { Device, PreparedModel, RequestMemoryPool } from "@nnhal/types";
import { Command, CommanderError } from "commander";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConformanceJson } from "../conformance-report.ts";
import type { CommandContext } from "../context.ts";
import { createDeviceFinder } from "../devices.ts";
import { CommandError } from "../failure.ts";
import { registerConformanceCommand } from "./conformance.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nnhal-conformance-"));
  const lines = [addExample({ name: "a/one" }), addExample({ name: "a/two" })].map(toLine);
  await writeFile(join(folder, "a.jsonl.gz"), gzipSync(lines.join("\n")));
});
afterEach(() => rm(folder, { recursive: true }));

async function reference(): Promise<Device> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

async function run(args: readonly string[], device: Device, startSelf?: CommandContext["startSelf"]) {
  const output = { stdout: "", stderr: "", exitCode: undefined as number | undefined };
  const context: CommandContext = {
    stdout: { write: (text) => (output.stdout += text) },
    stderr: { write: (text) => (output.stderr += text) },
    async openDevice(name) {
      if (name === "mine") return device;
      throw new Error(`there is no device "${name}"`);
    },
    showWhere() {},
    sharedArguments: ["--driver", "here"],
    deviceToCheck: async (names) => createDeviceFinder([]).toCheck(names),
    ...(startSelf && { startSelf }),
    setExitCode(code) {
      output.exitCode = code;
    },
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: context.stderr.write });
  registerConformanceCommand(program.command("conformance"), async () => context);
  try {
    await program.parseAsync(["conformance", ...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    context.stderr.write(`nnhal conformance: ${error.message}\n`);
    context.setExitCode(error.exitCode);
  }
  return output;
}

/** The bytes of a pool that the kit has made. */
function bytesOf(pool: RequestMemoryPool): Uint8Array {
  const handle = pool.kind === "memory" ? pool.memory.handle : null;
  if (handle?.kind !== "buffer") throw new Error("the kit's pools are buffers");
  return new Uint8Array(handle.buffer, handle.byteOffset);
}

const mine = ["--device", "mine"];

// Far more than a test takes, on a machine that is busy with other tests too.
describe("nnhal conformance", { timeout: 300_000 }, () => {
  it("runs the suites that need no vectors, and exits with 0 if everything passes", async () => {
    // Each of the device suites has such a case, and so has the suite arithmetic: AVERAGE_POOL_2D.
    const args = [...mine, "--filter", "ver"];
    const { stdout, stderr, exitCode } = await run(args, await reference());
    expect([...stdout.matchAll(/^Suite (.*)$/gm)].map(([, suite]) => suite)).toEqual([
      ...deviceSuiteNames,
      "arithmetic",
    ]);
    expect(stdout).toMatch(/^Suite device\ngroup +passed +failed +unsupported +skipped\n[\w-]+ +\d+ +0 +0 +0$/m);
    expect(stdout).toMatch(/\nmine: \d+ passed, 0 failed, \d+ unsupported, 0 skipped of \d+\n$/);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  });

  it("runs some suites through some HAL versions", async () => {
    const args = [...mine, "--suite", "fenced", "--suite", "device", "--hal", "1.0", "--hal", "1.3", "--json"];
    const report: ConformanceJson = JSON.parse((await run(args, await reference())).stdout);
    expect(report.suites.map(({ suite, hal }) => [suite, hal])).toEqual([
      ["device", "1.0"],
      ["fenced", "1.0"],
      ["device", "1.3"],
      ["fenced", "1.3"],
    ]);
    const [device, fenced] = [elementAt(report.suites, 0), elementAt(report.suites, 1)];
    expect(fenced).toMatchObject({ by: "group", passed: 0, failed: 0 });
    expect(fenced.reasons).toEqual({ "of HAL 1.3, and the device is driven through HAL 1.0": fenced.total });
    expect(device.cases).toHaveLength(device.total);
    expect(device.cases?.[0]).toEqual({ name: "facts: getStatus is AVAILABLE", subject: "facts", verdict: "passed" });
  });

  it("runs suites through a version of AIDL", async () => {
    const args = [...mine, "--suite", "fenced", "--hal", "aidl4", "--json"];
    const report: ConformanceJson = JSON.parse((await run(args, await reference())).stdout);
    expect(report.suites).toMatchObject([{ suite: "fenced", hal: "aidl4", failed: 0 }]);
    expect(elementAt(report.suites, 0).passed).toBeGreaterThan(10);
  });

  it("runs the cases whose names contain a text, and exits with 1 if one fails", async () => {
    const args = [...mine, "--suite", "device", "--filter", "HYPHEN"];
    expect(await run(args, await reference())).toMatchObject({ exitCode: 0 });
    const { stdout, exitCode } = await run(args, fakeDevice());
    expect(stdout).toContain(
      'FAILED facts: the name has one hyphen, inside\n       the name "fake" has not exactly one hyphen',
    );
    expect(stdout).toMatch(/\nmine: 0 passed, 1 failed, 0 unsupported, 0 skipped of 1\n$/);
    expect(exitCode).toBe(1);
  });

  it("ends if a driver answers no case, and names the suites that it left out", async () => {
    const names = listDeviceCases();
    const startSelf = (args: readonly string[]) => {
      const name = names[Number(args[args.indexOf("--serve") + 1])];
      const message = JSON.stringify({ kind: "start", start: { name, subject: name?.split(":")[0] } });
      const code = `process.send(${message}, () => process.exit(3))`;
      return spawn(process.execPath, ["-e", code], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    };
    const { stdout, exitCode } = await run([...mine, "--json"], await reference(), startSelf);
    const report: ConformanceJson = JSON.parse(stdout);
    expect(report.suites.map(({ suite, failed, total }) => [suite, failed, total])).toEqual([
      ["device", 3, listDeviceCases(["device"]).length],
      ["prepared-model", 3, listDeviceCases(["prepared-model"]).length],
      ["memory", 2, 2],
    ]);
    const last = report.suites.at(-1)?.failures.at(-1)?.reason;
    expect(last).toMatch(/exit code 3\n8 cases were not answered, .* the cases that follow were not run$/);
    expect(exitCode).toBe(1);
    const text = await run(mine, await reference(), startSelf);
    expect(text.stdout).toMatch(
      /^Not run, since 8 cases were not answered, or ended their process: caching, burst, fenced, aidl, qos, arithmetic, graphs\. With --suite/m,
    );
  });

  it("prints what a case measured, and holds it against an allowance", async () => {
    const args = [...mine, "--suite", "prepared-model", "--filter", "8 bytes is refused soon", "--json"];
    const measuredIn = (report: ConformanceJson) => elementAt(report.suites, 0).cases?.map(({ measured }) => measured);
    const generous: ConformanceJson = JSON.parse((await run(args, await reference())).stdout);
    for (const measured of measuredIn(generous) ?? [])
      expect(measured).toMatch(/ after \d+ ms, the process grew by -?\d+ MiB$/);
    const strict: ConformanceJson = JSON.parse(
      (await run([...args, "--allowance", "refusal=0"], await reference())).stdout,
    );
    expect(strict).toMatchObject({ passed: 0, failed: 2 });
    expect(elementAt(elementAt(strict.suites, 0).failures, 0).reason).toMatch(/, at most 0 ms allowed$/);
    const text = (await run(args.slice(0, -1), await reference())).stdout;
    expect(text).toMatch(/^MEASURED sizes: .*\n {9}\w+ after \d+ ms/m);
  });

  it.each(["lateness", "lateness=", "lateness=-1", "lateness=soon", "lateness=1=2", "patience=1", "toString=1"])(
    "refuses the allowance %s",
    async (allowance) => {
      const device = await reference();
      await expect(run([...mine, "--allowance", allowance], device)).rejects.toThrow(CommanderError);
    },
  );

  it("runs vectors and mutations through HAL versions", async () => {
    const suites = ["--suite", "vectors", "--suite", "mutations", "--filter", "one"];
    const args = [...mine, "--vectors", folder, ...suites, "--hal", "1.0", "--hal", "aidl4", "--json"];
    const report: ConformanceJson = JSON.parse((await run(args, await reference())).stdout);
    expect(report.suites.map(({ suite, hal, passed, failed }) => [suite, hal, failed, passed < 3])).toEqual([
      ["vectors", "1.0", 0, true],
      ["vectors", "aidl4", 0, true],
      ["mutations", "1.0", 0, false],
      ["mutations", "aidl4", 0, false],
    ]);
    expect(elementAt(report.suites, 0).reasons).toEqual({
      "that an execution finds shapes is of HAL 1.2, and the device is driven through HAL 1.0": 1,
    });
  });

  it("writes a page to look at", async () => {
    const file = join(folder, "report.html");
    const { stdout, exitCode } = await run([...mine, "--suite", "fenced", "--html", file], await reference());
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Suite fenced");
    const html = await readFile(file, "utf8");
    expect(html).toContain("Conformance of nnhal-reference");
    expect(html).toContain("a null fence is INVALID_ARGUMENT");
  });

  it("writes JUnit XML, and says what has changed since an earlier report", async () => {
    const [junit, old] = [join(folder, "junit.xml"), join(folder, "old.json")];
    const chosen = [...mine, "--suite", "fenced", "--filter", "null fence"];
    const { stdout: earlier } = await run([...chosen, "--json"], await reference());
    await writeFile(old, earlier.replace(/"passed":(\d+)/g, '"passed":0'));
    const { stdout, exitCode } = await run([...chosen, "--junit", junit, "--against", old], await reference());
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Against .*old\.json:\n\+ fenced: \d+ passed, before 0\n\nSuite fenced\n/);
    expect(await readFile(junit, "utf8")).toMatch(/<testsuite name="fenced" tests="\d+" failures="0"/);
    const json = await run([...chosen, "--json", "--against", old], await reference());
    expect(JSON.parse(json.stdout)).toMatchObject({ failed: 0 });
    expect(json.stderr).toMatch(/^Against /);
    await writeFile(old, "[]");
    expect(await run([...chosen, "--against", old], await reference())).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("is not a report of nnhal conformance --json"),
    });
  });

  it("writes a failed example to a file, and says how to run it again", async () => {
    const right = await reference();
    const wrong: Device = {
      ...right,
      async prepareModel(model, options) {
        const result = await right.prepareModel(model, options);
        const { preparedModel } = result;
        if (preparedModel === null) return result;
        // It computes, and leaves the results where they were.
        const execute: PreparedModel["execute"] = async (request, how) => {
          const before = request.pools.map((pool) => bytesOf(pool).slice());
          const answer = await preparedModel.execute(request, how);
          for (const [index, pool] of request.pools.entries()) bytesOf(pool).set(elementAt(before, index));
          return answer;
        };
        return { ...result, preparedModel: { ...preparedModel, execute } };
      },
    };
    const failures = join(folder, "failures");
    const only = "arithmetic/ABS/edge/0.plain.0";
    const { stdout, exitCode } = await run([...mine, "--only", only, "--failures", failures], wrong);
    expect(exitCode).toBe(1);
    const file = join(failures, "arithmetic-ABS-edge-0.plain.0.jsonl");
    expect(stdout).toContain(`nnhal --driver here vectors ${file} --device mine`);
    expect(stdout).toContain(`nnhal --driver here conformance --device mine --only ${only}`);
    const lifted = await run([...mine, "--only", only, "--failures", failures, "--hal", "1.3"], wrong);
    const through = "--device mine --hal 1.3";
    expect(lifted.stdout).toContain(
      `nnhal --driver here vectors ${file} ${through}; the original: nnhal --driver here conformance ${through} --only ${only}`,
    );
    const example = parseExample(await readFile(file, "utf8"));
    expect(example.main.operations).toHaveLength(1);
    expect(await run([...mine, "--only", "ABS/edge/9.plain.0"], right)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('there is no example "ABS/edge/9.plain.0"'),
    });
  });

  it("runs suites over vectors, too, if there are some", async () => {
    const suites = ["--suite", "vectors", "--suite", "mutations"];
    const { stdout, stderr, exitCode } = await run([...mine, "--vectors", folder, ...suites], await reference());
    expect(stdout).toMatch(/^Suite vectors\noperation +passed +failed +unsupported +skipped\nADD +4 +0 +0 +0$/m);
    expect(stdout).toMatch(/^Suite mutations\nmutation .*\noriginal +2 +0 +0 +0$/m);
    expect(stdout).toMatch(/^ +\d+ {2}not in the sample of one in 32$/m);
    expect(stdout).toMatch(/^About one mutant in 32 was run; --all runs every one\.$/m);
    expect(stdout).toMatch(/\nmine: \d+ passed, 0 failed, \d+ unsupported, \d+ skipped of \d+\n$/);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  });

  it("exits with 1 if a device accepts an invalid model, and names the case", async () => {
    const args = [...mine, "--vectors", folder, "--suite", "mutations", "--all", "--filter", "two"];
    const { stdout, exitCode } = await run(args, fakeDevice());
    const reason = "getSupportedOperations: expected INVALID_ARGUMENT, got NONE";
    expect(stdout).toContain(
      `\nFAILED a/two operandType: main operand 2 has type 16\nFAILED 167 more for the same reason\n       ${reason}\n`,
    );
    const json: ConformanceJson = JSON.parse((await run([...args, "--json"], fakeDevice())).stdout);
    expect(elementAt(json.suites, 0).failures).toContainEqual({
      name: "a/two operationType: main operation 0 (ADD) has type 106",
      reason,
    });
    expect(stdout).not.toMatch(/a\/one|Suite vectors|not in the sample|About one mutant/);
    expect(exitCode).toBe(1);
  });

  it("prints one JSON object with the counts of each class, and --all leaves nothing out", async () => {
    const json = async (...more: readonly string[]): Promise<ConformanceJson> => {
      const { stdout } = await run(
        [...mine, "--vectors", folder, "--suite", "mutations", "--json", ...more],
        await reference(),
      );
      return JSON.parse(stdout);
    };
    const whole = await json("--all");
    const suite = elementAt(whole.suites, 0);
    expect(whole).toMatchObject({ device: "mine", failed: 0, total: suite.total });
    expect(whole.suites).toHaveLength(1);
    expect(suite).toMatchObject({ suite: "mutations", by: "mutation", failed: 0, failures: [] });
    expect(suite.subjects.operationType).toEqual({ passed: 6, failed: 0, unsupported: 0, skipped: 0, total: 6 });
    expect(Object.keys(suite.subjects).slice(0, 2)).toEqual(["original", "operandType"]);
    expect(Object.values(suite.subjects).reduce((sum, { total }) => sum + total, 0)).toBe(suite.total);
    const part = await json();
    expect(part.total).toBe(whole.total);
    expect(part.passed).toBeLessThan(whole.passed / 8);
    const leftOut = elementAt(part.suites, 0).reasons["not in the sample of one in 32"];
    expect(leftOut).toBeGreaterThan(part.total / 2);
    expect(leftOut).toBeLessThanOrEqual(part.skipped);
  });

  it("exits with 2 and one line if it cannot run", async () => {
    const gone = join(folder, "gone");
    const problem = async (...args: readonly string[]) => {
      const { stdout, stderr, exitCode } = await run(args, fakeDevice());
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(/^nnhal conformance: .*\n$/);
      return stderr;
    };
    const overVectors = ["--suite", "vectors"];
    expect(await problem(...mine, "--vectors", gone, ...overVectors)).toContain("the file does not exist");
    expect(await problem(...mine, ...overVectors)).toContain("the suite vectors needs vectors: --vectors names");
    expect(await problem(...mine, "--suite", "burst", "--filter", "zzz")).toContain('matches the filter "zzz"');
    expect(
      await problem(...mine, "--suite", "device", "--filter", "hyphen", "--html", join(gone, "report.html")),
    ).toContain("no such folder");
    expect(await problem(...mine, "--suite", "accuracy")).toContain(
      "the suite accuracy needs a network, --network FILE",
    );
    expect(await problem(...mine, "--suite", "crash")).toContain("the suite crash needs processes of its own");
    expect(await problem("--device", "none")).toContain('there is no device "none"');
    expect(await problem(...mine, "--vectors", folder, ...overVectors, "--filter", "zzz")).toContain(
      'matches the filter "zzz"',
    );
  });

  it("refuses options that make no sense", async () => {
    expect((await run([], fakeDevice())).stderr).toContain("--device says what to check, and it is not given");
    await expect(run([...mine, "--suite", "all"], fakeDevice())).rejects.toThrow(/vectors, mutations/);
    await expect(run([...mine, "--hal", "2.0"], fakeDevice())).rejects.toThrow(
      /1\.0, 1\.1, 1\.2, 1\.3, aidl1, aidl2, aidl3, aidl4/,
    );
  });

  it("runs the suites in child processes, as a user starts it", async () => {
    const main = fileURLToPath(new URL("../main.ts", import.meta.url));
    const suites = ["memory", "mutations"].flatMap((name) => ["--suite", name]);
    const args = ["conformance", "--device", "reference", "--vectors", folder, ...suites, "--json"];
    const child = spawn(process.execPath, [...fromSource, main, ...args], {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      stdio: ["ignore", "pipe", "inherit"],
    });
    let stdout = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    const exitCode = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
    const report: ConformanceJson = JSON.parse(stdout);
    expect(report.suites.map(({ suite, failed }) => [suite, failed])).toEqual([
      ["memory", 0],
      ["mutations", 0],
    ]);
    const here = await run([...mine, "--vectors", folder, ...suites, "--json"], await reference());
    expect({ ...report, device: "mine" }).toEqual(JSON.parse(here.stdout));
    expect(exitCode).toBe(0);
  });

  describe("with --differences", () => {
    const page = () => join(folder, "differences.md");
    const differing = [...mine, "--suite", "arithmetic"];

    it("writes a section of the device into a page, and keeps what else it has", async () => {
      const deviation = { type: "TENSOR_FLOAT32", elements: 8, differing: 2, largest: 1, sum: 2, error: 0.5 };
      const results = [{ name: "a", subject: "MUL", verdict: "passed", deviations: [deviation] }];
      const messages = [{ kind: "results", results }, { kind: "end" }];
      let started: readonly string[] = [];
      const startSelf = (args: readonly string[]) => {
        started = args;
        const code = `for (const message of ${JSON.stringify(messages)}) process.send(message);`;
        return spawn(process.execPath, ["-e", code], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      };
      await writeFile(page(), "# Ours\n");
      const args = [...differing, "--examples", "2", "--differences", page()];
      const { exitCode } = await run(args, await reference(), startSelf);
      expect(started).toEqual(expect.arrayContaining(["--suite", "arithmetic", "--examples", "2"]));
      expect(exitCode).toBe(0);
      const text = await readFile(page(), "utf8");
      expect(text).toMatch(/^# Ours\n\n<!-- differences of mine -->\n\n## mine\n/);
      expect(text).toContain("--seed 1 --examples 2 --differences FILE");
      expect(text).toMatch(
        /\n\| MUL \| TENSOR_FLOAT32 \| 8 \| 25 \| 1 ULP \| 0\.25 \| .* \| 50 \|\n\n<!-- end of mine -->\n$/,
      );
    });

    it.each([
      [["--only", "ADD"], "--differences needs the whole suite arithmetic, without --only"],
      [["--filter", "ADD"], "--differences needs the whole suite arithmetic, without --filter"],
      [["--hal", "1.2"], "--differences needs the whole suite arithmetic, without --hal"],
      [["--suite", "memory"], "--differences needs the suite arithmetic: --suite arithmetic"],
    ])("refuses %s before anything runs", async (args, message) => {
      const { stdout, stderr, exitCode } = await run([...mine, ...args, "--differences", page()], await reference());
      expect({ stdout, stderr, exitCode }).toEqual({
        stdout: "",
        stderr: `nnhal conformance: ${message}\n`,
        exitCode: 2,
      });
    });

    it("refuses a page that cannot be written, or in which a mark is missing, before anything runs", async () => {
      const device = await reference();
      const into = (path: string) => run([...differing, "--differences", path], device);
      expect((await into(folder)).stderr).toMatch(/^nnhal conformance: cannot write .*/);
      await writeFile(page(), "<!-- differences of mine -->\n");
      const { stdout, stderr, exitCode } = await into(page());
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(/expected "<!-- differences of mine -->" and after it "<!-- end of mine -->"/);
    });
  });
});
