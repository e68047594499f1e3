/** The command line, and a worker as a process with threads. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { digestOf } from "@nnhal/batch";
import { openQueue } from "@nnhal/batch/queue";
import { fromSource } from "@nnhal/test-kit/from-source";
import { hasRedis, redisRemedy, startRedis } from "@nnhal/test-kit/redis";
import { describe, expect, it } from "vitest";
import { parseOptions } from "./options.ts";
import { runWorker } from "./program.ts";

async function run(args: readonly string[], { isEnded = true } = {}) {
  const written = { stdout: "", stderr: "" };
  const code = await runWorker({
    ...{ args, env: {}, version: "1.2.3" },
    stdout(text) {
      written.stdout += text;
    },
    stderr(text) {
      written.stderr += text;
    },
    startThread: () => {
      throw new Error("expected no thread");
    },
    onSignal: (listener) => void (isEnded && listener("SIGTERM")),
    exit() {},
  });
  return { code, ...written };
}

describe("the command line of a worker", () => {
  it("prints its help and its version", async () => {
    const help = await run(["--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("Exit codes: 0 the worker was ended by a signal");
    expect(await run(["--version"])).toMatchObject({ code: 0, stdout: "1.2.3\n" });
  });

  it.each([
    [[], "required option '--queue <url>' not specified"],
    [["--queue", "x", "--threads", "0"], "Expected an integer from 1 to 1024; see nnhal-worker --help"],
    [["--queue", "x", "--lock", "0"], "Expected an integer from 1 to 3600; see nnhal-worker --help"],
    [["--queue", "x", "--driver-owner", "nnhal"], "Expected an integer from 0 to"],
    [["--queue", "x", "more"], "too many arguments"],
    [["--queue", "x", "--unknown"], "unknown option '--unknown'"],
  ])("refuses %j", async (args, message) => {
    const { code, stderr, stdout } = await run(args);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([2, ""]);
  });

  it("takes the queue of the environment, and both sides of the bounds", () => {
    const env = { NNHAL_QUEUE: "redis://host" };
    const parsed = parseOptions(["--threads", "1024", "--grace", "0", "--lock", "3600"], "1", env);
    expect(parsed).toMatchObject({ settings: { queue: ["redis://host"], threads: 1024, grace: 0, lock: 3600 } });
    const several = { NNHAL_QUEUE: " redis://a  redis://b" };
    expect(parseOptions([], "1", several)).toMatchObject({ settings: { queue: ["redis://a", "redis://b"] } });
    const given = ["--queue", "redis://c", "--queue", "redis://d"];
    expect(parseOptions(given, "1", several)).toMatchObject({ settings: { queue: ["redis://c", "redis://d"] } });
  });

  it("says that a name of a queue is not valid, and ends with 1", async () => {
    const { code, stderr } = await run(["--queue", "redis://127.0.0.1:1", "--queue-name", "a:b"], { isEnded: false });
    expect([code, stderr]).toEqual([1, expect.stringContaining('it is not "a:b"')]);
  });

  it("waits for a queue that is not there, says so, and ends at a signal", async () => {
    expect(await run(["--queue", "redis://127.0.0.1:1"])).toMatchObject({ code: 0, stdout: "" });
  });
});

it.skipIf(!hasRedis)(`computes in threads what is queued, and ends at SIGTERM with 0${redisRemedy}`, async () => {
  const redis = await startRedis();
  const demo = fileURLToPath(new URL("../../cli/demo/", import.meta.url));
  const queue = await openQueue({ url: redis.url, name: "nnhal" });
  const model = new Uint8Array(readFileSync(join(demo, "digits-uint8.tflite")));
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const child = spawn(process.execPath, [...fromSource, main, "--queue", redis.url, "--threads", "1"]);
  let printed = "";
  child.stdout.on("data", (text) => (printed += text));
  try {
    await queue.store.put(digestOf(model), model);
    const task = { model: digestOf(model), options: { device: "reference", hybrid: "quantised", top: 1 } };
    await queue.submit({
      record: { id: "digits", task, model: "m", root: demo, inputs: demo, inline: false, created: 1 },
      async *names() {
        yield* ["7-mixture.png", "labels.txt", "3-chalk.png"];
      },
      chunk: 64,
    });
    while (!printed.includes("batch digits") && child.exitCode === null) await once(child.stdout, "data");
    expect(printed).toBe(`ready ${redis.url} nnhal, 1 thread\nbatch digits: 2 computed, 0 known, 1 failed\n`);
    const found: unknown[] = [];
    for await (const { name, result, problem } of queue.inputs("digits")) found.push([name, result ?? problem]);
    expect(found).toEqual([
      ["3-chalk.png", expect.objectContaining({ top: [{ index: 3, label: null, score: 0.99609375 }] })],
      ["7-mixture.png", expect.objectContaining({ top: [{ index: 7, label: null, score: 0.99609375 }] })],
      ["labels.txt", expect.stringContaining("labels.txt has 10 numbers")],
    ]);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
    await queue.close();
    await redis.stop();
  }
});
