/**
 * Caching as a client of a device sees it: prepared models are kept and come back, a faulty cache never makes a preparation
 * fail, and bytes that the device did not write are never used (HAL 1.2, VTS CompilationCachingTests).
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { referenceBackend } from "@nnhal/backend-reference";
import { elementAt } from "@nnhal/operations";
import { type CompilationCache, type Device, ErrorStatus, type Handle, type PreparedModel } from "@nnhal/types";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DeviceOptions, openDevice } from "../device/device.ts";
import { absModel, absRequest, fakeBackend } from "../device/fake-backend.test-helper.ts";
import { asV1_2, asV1_3, liftDevice } from "../versions/index.ts";
import { type CacheFile, createTestCache, type TestCache } from "./cache-files.test-helper.ts";
import { constantModel } from "./constant-model.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;
const files: readonly CacheFile[] = ["model", "data"];
const secret = { caching: { key: new Uint8Array(16).fill(3) } };

let cache: TestCache;
beforeEach(() => {
  cache = createTestCache();
});
afterEach(() => cache.remove());

async function open(options: Partial<DeviceOptions> = {}) {
  const device = await openDevice({ backend: referenceBackend, ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** Returns the result of a prepared model for [-1, 2]. */
async function resultOf(model: PreparedModel | null): Promise<number[]> {
  const { request, output } = absRequest();
  const result = await model?.execute(request);
  expect(result?.status).toBe(NONE);
  return output();
}

/** Saves the model that makes [10, 24] of [-1, 2]. */
async function save(device: Device, to: CompilationCache = cache.open(), model = constantModel()): Promise<void> {
  const { status, preparedModel } = await device.prepareModel(model, { cache: to });
  expect(status).toBe(NONE);
  expect(await resultOf(preparedModel)).not.toEqual([0, 0]);
}

describe("a cache", () => {
  it.each([
    ["with a key that anybody knows", {}],
    ["with a secret key", secret],
  ])("gives back what was saved, %s, across restarts", async (_what, options) => {
    expect((await open(options)).getNumberOfCacheFilesNeeded()).toEqual({
      status: NONE,
      numModelCache: 1,
      numDataCache: 1,
    });
    await save(await open(options));
    const { status, preparedModel } = await (await open(options)).prepareModelFromCache(cache.open());
    expect(status).toBe(NONE);
    expect(await resultOf(preparedModel)).toEqual([10, 24]);
    const refused = await preparedModel?.execute({ ...absRequest().request, inputs: [] });
    expect(refused?.status).toBe(INVALID_ARGUMENT);
  });

  it("is written anew and read from the start, wherever its descriptors stand", async () => {
    for (const file of files) cache.write(file, new Uint8Array(10_000).fill(1));
    const saved = cache.open();
    const fds = [...saved.modelCache, ...saved.dataCache].map(({ fds }) => elementAt(fds, 0));
    for (const fd of fds) writeSync(fd, Uint8Array.of(0, 0));
    await save(await open(), saved);
    expect(cache.read("data")).toHaveLength(128);
    for (const fd of fds) readSync(fd, new Uint8Array(1));
    const { preparedModel } = await (await open()).prepareModelFromCache(saved);
    expect(await resultOf(preparedModel)).toEqual([10, 24]);
  });

  it("keeps of its pools what operands refer to, once", async () => {
    const model = constantModel();
    const unused = { ...elementAt(model.main.operands, 1), numberOfConsumers: 0 };
    const twice = { ...model.main, operands: [...model.main.operands, unused] };
    await save(await open(), cache.open(), { ...model, main: twice });
    // 12 bytes in the model and 8 of 16 in the pool, each rounded up to 64.
    expect(cache.read("data")).toHaveLength(128);
  });

  it.each([
    ["1.2", asV1_2],
    ["1.3", asV1_3],
  ])("gives back what was saved through the face of HAL %s", async (_version, face) => {
    const device = liftDevice("lifted", face(await open()));
    await save(device);
    const { status, preparedModel } = (await device.prepareModelFromCache?.(cache.open())) ?? {};
    expect(status).toBe(NONE);
    expect(await resultOf(preparedModel ?? null)).toEqual([10, 24]);
    const refused = await device.prepareModelFromCache?.(cache.open({}, 8));
    expect(refused).toMatchObject({ status: GENERAL_FAILURE, preparedModel: null });
  });

  it("is ignored if there are no files", async () => {
    const device = await open();
    const token = new Uint8Array(0);
    const none = { modelCache: [], dataCache: [], token };
    const { preparedModel } = await device.prepareModel(constantModel(), { cache: none });
    expect(await resultOf(preparedModel)).toEqual([10, 24]);
    // Arguments from a wire can be any values.
    const nothing = { modelCache: JSON.parse("null"), dataCache: JSON.parse("{}"), token };
    expect((await device.prepareModel(constantModel(), { cache: nothing })).status).toBe(NONE);
    await expect(device.prepareModelFromCache(nothing)).resolves.toMatchObject({ status: INVALID_ARGUMENT });
    await expect(device.prepareModelFromCache(none)).resolves.toMatchObject({ status: INVALID_ARGUMENT });
  });

  it("is not used if caching is off", async () => {
    const device = await open({ caching: false });
    expect(device.getNumberOfCacheFilesNeeded()).toEqual({ status: NONE, numModelCache: 0, numDataCache: 0 });
    await save(device);
    expect(cache.read("model")).toHaveLength(0);
    const message = "nnhal-reference has no compilation caching";
    const refused = { status: GENERAL_FAILURE, message, preparedModel: null };
    await expect(device.prepareModelFromCache(cache.open())).resolves.toEqual(refused);
  });

  it("needs a key that cannot be guessed", async () => {
    await expect(open({ caching: { key: new Uint8Array(15) } })).rejects.toThrow(RangeError);
    await expect(open({ caching: { key: new Uint8Array(16) } })).resolves.toBeDefined();
  });
});

describe("arguments that are wrong", () => {
  const change = (of: CompilationCache, file: CacheFile, handles: (good: Handle) => Handle[]): CompilationCache => {
    const key = file === "model" ? "modelCache" : "dataCache";
    return { ...of, [key]: handles(elementAt(of[key], 0)) };
  };
  const faults: [string, (of: CompilationCache) => CompilationCache, string][] = files.flatMap((file) => [
    [
      `no ${file} file`,
      (of) => change(of, file, () => []),
      `number of handles in the ${file} cache: expected 1, got 0`,
    ],
    [`two ${file} files`, (of) => change(of, file, (good) => [good, good]), "expected 1, got 2"],
    [
      `a ${file} handle of no descriptor`,
      (of) => change(of, file, () => [{ fds: [] }]),
      `number of file descriptors in ${file} cache[0]: expected 1, got 0`,
    ],
    [
      `a ${file} handle of two descriptors`,
      (of) => change(of, file, ({ fds }) => [{ fds: [...fds, ...fds] }]),
      `number of file descriptors in ${file} cache[0]: expected 1, got 2`,
    ],
    [
      `a ${file} descriptor that is none`,
      (of) => change(of, file, () => [{ fds: [-1] }]),
      "which is not a file descriptor",
    ],
  ]);

  it.each([
    ...faults,
    [
      "a short token",
      (of: CompilationCache) => ({ ...of, token: new Uint8Array(31) }),
      "the cache token: expected 32 bytes, got 31 bytes",
    ],
  ] as typeof faults)("%s: the model is prepared, kept nowhere, and not found", async (_what, spoil, message) => {
    const device = await open();
    const spoilt = spoil(cache.open());
    await save(device, spoilt);
    expect([cache.read("model").length, cache.read("data").length]).toEqual([0, 0]);
    await save(device);
    const result = await device.prepareModelFromCache(spoilt);
    expect(result).toMatchObject({ status: INVALID_ARGUMENT, preparedModel: null });
    expect(result.message).toContain(message);
  });

  it.each(files)("a %s file that may only be read: the model is prepared, and not kept", async (file) => {
    const device = await open();
    await save(device, cache.open({ [file]: "r" }));
    const result = await device.prepareModelFromCache(cache.open());
    expect(result).toMatchObject({ status: GENERAL_FAILURE, preparedModel: null });
  });

  it.each(files)("a %s file that may only be read is not enough to load: GENERAL_FAILURE", async (file) => {
    const device = await open();
    await save(device);
    const refused = await device.prepareModelFromCache(cache.open({ [file]: "r" }));
    expect(refused).toMatchObject({ status: GENERAL_FAILURE, preparedModel: null });
    expect(refused.message).toMatch(
      new RegExp(`^the ${file} cache: the file descriptor [0-9]+ is not open for reading and writing$`),
    );
    const { preparedModel } = await device.prepareModelFromCache(cache.open({ [file]: "r+" }));
    expect(await resultOf(preparedModel)).toEqual([10, 24]);
  });

  it.each([
    ["null", null, "the cache: expected an object, got null"],
    ["a number", 5, "the cache: expected an object, got 5"],
    ["an empty object", {}, "number of handles in the model cache: expected 1, got undefined"],
    [
      "a handle that is null",
      { modelCache: [null] },
      "number of file descriptors in model cache[0]: expected 1, got undefined",
    ],
    [
      "a getter that throws",
      Object.defineProperty({}, "modelCache", {
        get() {
          throw new Error("gone");
        },
      }),
      "the arguments of the cache cannot be read: gone",
    ],
  ])("%s: INVALID_ARGUMENT", async (_what, given, message) => {
    const device = await open();
    const refused = { status: INVALID_ARGUMENT, message, preparedModel: null };
    await expect(device.prepareModelFromCache(given as never)).resolves.toEqual(refused);
    const { status } = await device.prepareModel(absModel, { cache: given as never });
    expect(status).toBe(NONE);
  });

  it.each(files)("a %s file that may only be written: GENERAL_FAILURE", async (file) => {
    const device = await open();
    await save(device);
    // "a" does not truncate.
    const result = await device.prepareModelFromCache(cache.open({ [file]: "a" }));
    expect(result).toMatchObject({ status: GENERAL_FAILURE, preparedModel: null });
    expect(result.message).toContain(`${file} cache: EBADF`);
  });

  it("descriptors that name no file, or no ordinary one", async () => {
    const device = await open();
    const closed = openSync(import.meta.filename, "r");
    closeSync(closed);
    const device0 = process.platform === "win32" ? [] : [openSync("/dev/zero", "r+")];
    try {
      for (const fd of [closed, ...device0, 1_000_000]) {
        const spoilt = { ...cache.open(), modelCache: [{ fds: [fd] }] };
        await save(device, spoilt);
        await expect(device.prepareModelFromCache(spoilt)).resolves.toMatchObject({ status: GENERAL_FAILURE });
      }
    } finally {
      for (const fd of device0) closeSync(fd);
    }
  });
});

describe("a cache that is not what the device wrote", () => {
  /** A device whose backend says what reaches it. */
  const tell = () => {
    const openBackend = async () => {
      const session = await referenceBackend.open();
      if ("unavailable" in session) return session;
      return { ...session, compile: () => Promise.reject(new Error("it reached the backend")) };
    };
    return open({ ...secret, backend: { ...referenceBackend, open: openBackend } });
  };
  const refused = { status: GENERAL_FAILURE, preparedModel: null };

  it.each<[string, Partial<DeviceOptions>, number]>([
    ["of another token", {}, 8],
    ["of another device", { name: "other" }, 7],
    ["of another key", { caching: { key: new Uint8Array(16) } }, 7],
    ["of a key that anybody knows", { caching: {} }, 7],
    ["of another backend", { backend: { ...referenceBackend, name: "other" }, name: "nnhal-reference" }, 7],
  ])("is refused: one %s", async (_what, other, token) => {
    await save(await open(secret), cache.open({}, token));
    const result = await (await open({ ...secret, ...other })).prepareModelFromCache(cache.open());
    expect(result).toMatchObject(refused);
    expect(result.message).toContain("the model cache is not as");
  });

  it("is refused: one of another version of the driver", async () => {
    const setVersion = async (version: string) => open({ backend: fakeBackend({ version }) });
    await (await setVersion("1")).prepareModel(absModel, { cache: cache.open() });
    const from = async (version: string) => (await setVersion(version)).prepareModelFromCache(cache.open());
    expect((await from("1")).status).toBe(NONE);
    expect(await from("2")).toMatchObject(refused);
  });

  it("is refused: the model file of one model, the data file of another, or either of another token", async () => {
    const device = await open(secret);
    await save(device);
    const first = files.map((file) => cache.read(file));
    await save(device, cache.open({}, 8), constantModel([5, 5]));
    const second = files.map((file) => cache.read(file));
    const load = async (model: Uint8Array, data: Uint8Array) => {
      cache.write("model", model);
      cache.write("data", data);
      return (await device.prepareModelFromCache(cache.open())).status;
    };
    expect(await load(elementAt(first, 0), elementAt(first, 1))).toBe(NONE);
    expect(await load(elementAt(second, 0), elementAt(second, 1))).toBe(GENERAL_FAILURE);
    expect(await load(elementAt(first, 0), elementAt(second, 1))).toBe(GENERAL_FAILURE);
    expect(await load(elementAt(second, 0), elementAt(first, 1))).toBe(GENERAL_FAILURE);
  });

  it.each(files)("is refused wherever the %s file is changed, cut or longer", async (file) => {
    await save(await open(secret));
    const device = await tell();
    const good = cache.read(file);
    const last = good.length - 1;
    const damage = fc.oneof(
      fc.tuple(fc.integer({ min: 0, max: last }), fc.integer({ min: 0, max: 7 })).map(([at, bit]) => {
        const bytes = new Uint8Array(good);
        bytes[at] = elementAt(bytes, at) ^ (1 << bit);
        return bytes;
      }),
      fc.integer({ min: 0, max: last }).map((length) => good.slice(0, length)),
      fc.uint8Array({ minLength: 1, maxLength: 256 }).map((more) => Uint8Array.of(...good, ...more)),
    );
    const opened = cache.open();
    const untouched = await device.prepareModelFromCache(opened);
    expect(untouched.message).toBe("preparing the model: it reached the backend");
    await fc.assert(
      fc.asyncProperty(damage, async (bytes) => {
        cache.write(file, bytes);
        const result = await device.prepareModelFromCache(opened);
        expect(result).toMatchObject(refused);
        expect(result.message).toMatch(/the (model|data) cache/);
      }),
      { numRuns: 200 },
    );
  });
});
