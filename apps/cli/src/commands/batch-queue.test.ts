/** The commands around a queue, with a worker of this process. */
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { connect } from "node:net";
import { createPool } from "@nnhal/batch";
import { openQueue, openQueues } from "@nnhal/batch/queue";
import { hasRedis, redisRemedy, startRedis, type TestRedis } from "@nnhal/test-kit/redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { passingModel, startThread, useFolder } from "../program.test-helper.ts";

const { run, put, path } = useFolder();

const floats = (...values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);

describe.skipIf(!hasRedis)(`nnhal batch with a queue${redisRemedy}`, () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
    await put("scores.tflite", passingModel({ shape: [1, 3] }));
    await mkdir(path("in"));
    await put("in/b.bin", floats(0, 1, 0));
    await put("in/a.bin", floats(0, 0, 1));
    await put("in/same.bin", floats(0, 0, 1));
    await put("in/short.bin", floats(1));
  });
  afterAll(() => redis.stop());

  const batch = (...args: string[]) => run(["batch", ...args, "--queue", redis.url]);

  /** Gives Redis a command of one line. */
  async function tell(command: string): Promise<void> {
    const socket = connect(redis.url, () => socket.write(`${command}\r\n`));
    const [answer] = await once(socket, "data");
    expect(String(answer)).not.toMatch(/^-/);
    socket.destroy();
  }

  /** Runs commands while a worker works. */
  async function writeWork<Result>(work: () => Promise<Result>): Promise<Result> {
    const queue = await openQueue({ url: redis.url, name: "nnhal" });
    const pool = createPool({ threads: 1, start: () => startThread({ cwd: path(".") }), deadline: 60_000 });
    const worker = queue.work({ pool, lock: 30_000 });
    try {
      return await work();
    } finally {
      await worker.close(10_000);
      await pool.close();
      await queue.close();
    }
  }

  it("submits, waits, prints what nnhal run prints, and names what failed", async () => {
    const args = ["submit", "scores.tflite", "in", "--top", "1", "--chunk", "2"];
    const submitted = await batch(...args);
    expect(submitted).toMatchObject({ exitCode: 0, stderr: "" });
    expect(submitted.stdout).toMatch(/^batch {3}[0-9a-f]{16}\ninputs {2}3 queued, 1 already known, 0 unreadable\n$/);
    const id = submitted.stdout.slice(8, 24);
    expect((await batch("results", id)).stdout).toBe("a.bin  waits\nb.bin  waits\nsame.bin  waits\nshort.bin  waits\n");
    const waited = await writeWork(() => batch(...args, "--wait"));
    expect(waited.exitCode).toBe(2);
    expect(waited.stdout).toMatch(
      /0 queued, 4 already known, 0 unreadable\n1 input could not be used\n {2}short\.bin: the input short\.bin has 4 bytes/,
    );
    const { stdout } = await batch("results", id, "--csv");
    expect(stdout).toBe("input,rank,index,label,score\na.bin,1,2,,1\nb.bin,1,1,,1\nsame.bin,1,2,,1\n");
    expect((await batch("results", id, "--failed")).stdout).toMatch(
      /^short\.bin {2}the input short\.bin has 4 bytes[^\n]*\n$/,
    );
    const status = await batch("status");
    expect(status.stdout).toMatch(
      /^queue {2}0 workers; chunks: 0 wait, 0 are computed, 0 will be tried again\n\nbatch/,
    );
    expect(status.stdout).toContain("4 names, 3 different\ndone     2 of 3, 1 failed, 0 unreadable\n");
    const json = JSON.parse((await batch("status", id, "--json")).stdout);
    expect(json.batches).toMatchObject([{ id, inputs: 3, names: 4, done: 2, failed: 1, isComplete: true }]);
    // The same bytes again are the same failure.
    expect((await batch("retry", id)).stdout).toBe("1 input queued again\n");
    expect((await batch("cancel", id)).stdout).toBe(`batch ${id} cancelled; 2 results stay\n`);
    expect((await batch("status", id)).stdout).toContain("; cancelled");
    expect((await batch("cancel", id, "--remove")).stdout).toBe(`batch ${id} removed\n`);
    const gone = await batch("status", id);
    expect(gone).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringMatching(/^nnhal batch: the queue nnhal .* has no batch/),
    });
  });

  it("says that inputs wait without a job, also to who waits for them, and hides no batch behind a damaged one", async () => {
    const args = ["submit", "scores.tflite", "in", "--top", "3", "--chunk", "4"];
    const id = (await batch(...args)).stdout.slice(8, 24);
    expect((await batch("status", id)).stdout).not.toContain("no job");
    await tell("DEL bull:nnhal:wait");
    const lost = `3 inputs of the batch ${id} wait, and the queue has no job for them, as after a Redis that has lost jobs`;
    expect((await batch("status", id)).stdout).toContain(`${lost}: nnhal batch retry ${id}\n`);
    expect(JSON.parse((await batch("status", id, "--json")).stdout).batches).toMatchObject([{ id, withoutJob: 3 }]);
    const waited = await batch(...args, "--wait");
    expect(waited).toMatchObject({
      exitCode: 1,
      stderr: `nnhal batch: ${lost}; nnhal batch retry ${id} queues them again\n`,
    });
    const keys = `redis.call('KEYS', 'bull:nnhal:${id}-*')`;
    await tell(`EVAL "for _, key in ipairs(${keys}) do redis.call('DEL', key) end return 1" 0`);
    expect((await batch("retry", id)).stdout).toBe("3 inputs queued again\n");
    await tell("HSET nnhal:nnhal:batch:damaged record {");
    await tell("ZADD nnhal:nnhal:batches 0 damaged");
    const { stdout } = await batch("status");
    expect(stdout).toMatch(
      /^queue [^\n]*\n\nbatch {2}damaged: the batch damaged in the queue nnhal at [^\n]*is damaged/,
    );
    expect(stdout).toContain(`batch    ${id}`);
    expect((await batch("cancel", "damaged", "--remove")).exitCode).toBe(0);
    // The batch that was there is gone while it is waited for.
    await batch("cancel", id, "--remove");
    const queue = await openQueue({ url: redis.url, name: "nnhal" });
    const gone = batch(...args, "--wait");
    await expect.poll(async () => (await queue.ids()).includes(id) && (await queue.status(id)).isComplete).toBe(true);
    await tell("FLUSHALL");
    await queue.close();
    expect(await gone).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("the same nnhal batch submit begins it anew"),
    });
  });

  it("keeps results and files beside them in a folder, with the model in another", async () => {
    const args = ["submit", "scores.tflite", "in", "--results", "kept", "--store", "models", "--raw", "--wait"];
    expect((await writeWork(() => batch(...args))).exitCode).toBe(2);
    const id = JSON.parse((await batch("status", "--json")).stdout).batches[0].id;
    expect((await batch("results", id)).stdout).toMatch(/^a\.bin {2}2 {2}1\.0000\nb\.bin {2}1 {2}1\.0000\nsame/);
    // A run on one machine knows the results of a queue.
    const { stdout } = await run([
      "batch",
      "run",
      "scores.tflite",
      "in",
      "--results",
      "kept",
      "--raw",
      "--threads",
      "1",
    ]);
    expect(stdout).toContain("4 inputs: 0 computed, 3 already known, 1 failed");
  });

  it("divides a batch among several queues, and is one batch", async () => {
    const other = await startRedis();
    try {
      await mkdir(path("many"));
      const names = Array.from({ length: 12 }, (_, index) => `${String(index).padStart(2, "0")}.bin`);
      for (const [index, name] of names.entries()) await put(`many/${name}`, floats(index, 0, 0));
      await put("many/short.bin", floats(1));
      const both = (...args: string[]) => batch(...args, "--queue", other.url);
      const args = ["submit", "scores.tflite", "many", "--chunk", "2"];
      const id = (await both(...args)).stdout.slice(8, 24);
      const parts = [batch("status", id, "--json"), run(["batch", "status", id, "--json", "--queue", other.url])];
      const counts = (await Promise.all(parts)).map(({ stdout }) => JSON.parse(stdout).batches[0].inputs);
      expect(Math.min(...counts)).toBeGreaterThan(0);
      expect(counts[0] + counts[1]).toBe(13);
      const queues = await openQueues([redis, other].map(({ url }) => ({ url, name: "nnhal" })));
      const pool = createPool({ threads: 1, start: () => startThread({ cwd: path(".") }), deadline: 60_000 });
      const worker = queues.work({ pool, lock: 30_000 });
      const waited = await both(...args, "--wait");
      await worker.close(10_000);
      await pool.close();
      await queues.close();
      expect(waited.stdout).toMatch(
        /0 queued, 13 already known, 0 unreadable\n1 input could not be used\n {2}short\.bin/,
      );
      const { stdout } = await both("results", id);
      expect(stdout.split("\n").map((line) => line.slice(0, 6))).toEqual([...names, "short.", ""]);
      const status = JSON.parse((await both("status", id, "--json")).stdout).batches;
      expect(status).toMatchObject([{ id, inputs: 13, names: 13, done: 12, failed: 1, isComplete: true }]);
      expect((await both("retry", id)).stdout).toBe("1 input queued again\n");
      expect((await both("cancel", id)).stdout).toBe(`batch ${id} cancelled; 12 results stay\n`);
      expect((await both("cancel", id, "--remove")).stdout).toBe(`batch ${id} removed\n`);
      expect(JSON.parse((await run(["batch", "status", "--json", "--queue", other.url])).stdout).batches).toEqual([]);
      const twice = await batch("status", "--queue", redis.url);
      expect([twice.exitCode, twice.stderr]).toEqual([1, expect.stringMatching(/ is given twice\n$/)]);
    } finally {
      await other.stop();
    }
  });

  it("refuses what workers could not do", async () => {
    const { stderr, exitCode } = await batch("submit", "scores.tflite", "in", "--raw");
    expect([stderr, exitCode]).toEqual([
      "nnhal batch: --raw keeps files: name a folder that the workers see with --results\n",
      2,
    ]);
  });
});

it("says that it cannot connect, and which option is missing", async () => {
  const { stderr, exitCode } = await run(["batch", "status", "--queue", "redis://:secret@127.0.0.1:1"]);
  expect(stderr).toMatch(
    /nnhal batch: cannot connect to the queue at redis:\/\/127\.0\.0\.1:1: connect ECONNREFUSED[^\n]*\n$/,
  );
  expect(stderr).not.toContain("secret");
  expect(exitCode).toBe(1);
  expect((await run(["batch", "status"])).stderr).toContain("required option '--queue <url>' not specified");
});
