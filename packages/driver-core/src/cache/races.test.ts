/**
 * Another process writes the files of a cache as fast as it can while they are saved and loaded: every model that is prepared
 * from them computes the right values (VTS CompilationCachingTests, TOCTOU).
 */
import { Worker } from "node:worker_threads";
import { referenceBackend } from "@nnhal/backend-reference";
import { ErrorStatus } from "@nnhal/types";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDevice } from "../device/device.ts";
import { absRequest } from "../device/fake-backend.test-helper.ts";
import { createTestCache, type TestCache } from "./cache-files.test-helper.ts";
import { constantModel } from "./constant-model.test-helper.ts";

const { NONE, GENERAL_FAILURE } = ErrorStatus;

/** Writes one content after the other over both files until it is stopped. */
const writer = `
  const { workerData: { contents, fds, stop } } = require("node:worker_threads");
  const { writeSync } = require("node:fs");
  for (let turn = 0; Atomics.load(stop, 0) === 0; turn++) {
    const content = contents[turn % contents.length];
    for (const [index, fd] of fds.entries()) writeSync(fd, content[index], 0, content[index].length, 0);
    Atomics.store(stop, 1, turn + 1);
    Atomics.notify(stop, 1);
  }
`;

let cache: TestCache;
beforeEach(() => {
  cache = createTestCache();
});
afterEach(() => cache.remove());

it.each(["load", "save and load"])("%s: the model or none", async (way) => {
  const device = await openDevice({ backend: referenceBackend, caching: { key: new Uint8Array(32).fill(9) } });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const wanted = cache.open();
  const contentOf = () => (["model", "data"] as const).map((file) => cache.read(file));
  await device.prepareModel(constantModel(), { cache: wanted });
  const right = contentOf();
  // The same token, but of another device, and another token.
  const other = await openDevice({ backend: referenceBackend, name: "other" });
  if ("unavailable" in other) throw new Error(other.unavailable);
  await other.prepareModel(constantModel([5, 5]), { cache: wanted });
  const others = contentOf();
  await device.prepareModel(constantModel([7, 7]), { cache: cache.open({}, 8) });
  const contents = [right, others, contentOf()];

  const stop = new Int32Array(new SharedArrayBuffer(8));
  const fds = [...wanted.modelCache, ...wanted.dataCache].map(({ fds: [fd] }) => fd);
  const worker = new Worker(writer, { eval: true, workerData: { contents, fds, stop } });
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  await new Promise((resolve) => worker.once("online", resolve));
  Atomics.wait(stop, 1, 0, 10_000);
  try {
    for (let turn = 0; turn < 100; turn++) {
      // The other one is at work: there may be fewer processors than there are to do.
      Atomics.wait(stop, 1, Atomics.load(stop, 1), 100);
      if (way !== "load") expect((await device.prepareModel(constantModel(), { cache: wanted })).status).toBe(NONE);
      const { status, preparedModel } = await device.prepareModelFromCache(wanted);
      expect([NONE, GENERAL_FAILURE]).toContain(status);
      if (preparedModel === null) continue;
      const { request, output } = absRequest();
      expect((await preparedModel.execute(request)).status).toBe(NONE);
      expect(output()).toEqual([10, 24]);
    }
  } finally {
    Atomics.store(stop, 0, 1);
    await ended;
  }
});
