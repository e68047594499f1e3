import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { elementAt } from "@nnhal/operations";
import {
  type CompilationCache,
  type Device,
  ErrorStatus,
  ExecutionPreference,
  type Operand,
  OperationType,
  Priority,
} from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CacheKey, cacheFileNames, cacheFilesOf, cacheToken, partsOf } from "./caching.ts";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { code, half } from "./fakes.test-helper.ts";
import { guardDevice } from "./guard/device.ts";
import { Model } from "./model.ts";
import { addModel, float32, openReference } from "./models.test-helper.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nnhal-cache-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const token = Uint8Array.from({ length: 32 }, (_, index) => index);
const device = { name: "d", version: "1" };

describe("cacheToken", () => {
  const { hal } = addModel();
  const key: CacheKey = { token, part: [], device, options: {}, model: hal };
  const usual = cacheToken(key);
  const [first, ...others] = hal.main.operands;
  const withMain = (main: Partial<typeof hal.main>) => ({ ...hal, main: { ...hal.main, ...main } });

  const pairs = [
    { token: 0x10000, value: Uint8Array.of(1) },
    { token: 0x20000, value: Uint8Array.of(2) },
  ];
  const hintsOf = (...names: readonly string[]) => ({
    pairs: pairs.slice(0, names.length),
    extensionNameToPrefix: names.map((name, index) => ({ name, prefix: index + 1 })),
  });

  it("does not depend on the order of the attributes of extensions, but on their names and values", () => {
    const [first, second] = pairs;
    if (first === undefined || second === undefined) throw new Error("there are two");
    const tokenOf = (hints: NonNullable<CacheKey["options"]["hints"]>) => cacheToken({ ...key, options: { hints } });
    const both = tokenOf(hintsOf("a.b", "a.c"));
    expect(tokenOf({ ...hintsOf("a.b", "a.c"), pairs: [second, first] })).toEqual(both);
    const swapped = [
      { token: 0x20000, value: first.value },
      { token: 0x10000, value: second.value },
    ];
    expect(tokenOf({ ...hintsOf("a.c", "a.b"), pairs: swapped })).toEqual(both);
    expect(tokenOf(hintsOf("a.c", "a.b"))).not.toEqual(both);
    expect(tokenOf({ ...hintsOf("a.b", "a.c"), pairs: [first, { ...second, value: Uint8Array.of(3) }] })).not.toEqual(
      both,
    );
  });

  it("is the same for equal arguments, and 32 bytes long", () => {
    expect(cacheToken({ ...key, token: token.slice(), device: { ...device }, model: addModel().hal })).toEqual(usual);
    expect(usual).toHaveLength(32);
    const { FAST_SINGLE_ANSWER: preference } = ExecutionPreference;
    expect(cacheToken({ ...key, options: { preference, priority: Priority.MEDIUM } })).toEqual(usual);
  });

  it.each<[string, Partial<CacheKey>]>([
    ["token", { token: token.toReversed() }],
    ["part", { part: [0, 1] }],
    ["device", { device: { ...device, name: "e" } }],
    ["version", { device: { ...device, version: "2" } }],
    ["device of the same letters", { device: { name: "d1", version: "" } }],
    ["preference", { options: { preference: ExecutionPreference.LOW_POWER } }],
    ["priority", { options: { priority: Priority.HIGH } }],
    ["attributes of extensions", { options: { hints: hintsOf("a.b") } }],
    [
      "operation",
      { model: withMain({ operations: hal.main.operations.map((one) => ({ ...one, type: OperationType.MUL })) }) },
    ],
    ["shape", { model: withMain({ operands: [{ ...(first as Operand), dimensions: [1, 2] }, ...others] }) }],
    ["small constant", { model: { ...hal, operandValues: hal.operandValues.map((byte) => byte ^ 1) } }],
    ["precision", { model: { ...hal, relaxComputationFloat32toFloat16: true } }],
    ["extension", { model: { ...hal, extensionNameToPrefix: [{ name: "com.example.e", prefix: 1 }] } }],
  ])("differs for another %s", (_, change) => {
    expect(cacheToken({ ...key, ...change })).not.toEqual(usual);
  });
});

describe("cacheFileNames", () => {
  it("writes each byte as two letters, the lower half first, then the kind and the number", () => {
    const { modelCache, dataCache } = cacheFileNames(Uint8Array.of(0x10, 0xaf, 0), {
      numModelCache: 2,
      numDataCache: 1,
    });
    expect(modelCache).toEqual(["ABPKAA10", "ABPKAA11"]);
    expect(dataCache).toEqual(["ABPKAA20"]);
  });
});

describe("cacheFilesOf", () => {
  it.each([
    [0, 0, false],
    [1, 0, true],
    [0, 1, true],
    [32, 32, true],
    [33, 0, false],
    [0, 33, false],
    [-1, 2, false],
  ])("of a device that needs %i and %i files: %s", (numModelCache, numDataCache, isSome) => {
    const counts = { status: ErrorStatus.NONE, numModelCache, numDataCache };
    const files = cacheFilesOf(guardDevice({ ...reference, getNumberOfCacheFilesNeeded: () => counts }));
    expect(files).toEqual(isSome ? { numModelCache, numDataCache } : undefined);
  });

  it("of a device that fails are undefined", () => {
    const failed = { status: ErrorStatus.GENERAL_FAILURE, numModelCache: 1, numDataCache: 1 };
    expect(cacheFilesOf(guardDevice({ ...reference, getNumberOfCacheFilesNeeded: () => failed }))).toBeUndefined();
  });
});

/** The calls of a caching device. */
interface Calls {
  readonly load: CompilationCache[];
  readonly prepare: (CompilationCache | undefined)[];
}

/** A device that keeps models in files, and writes its name there. `load`: its answer to prepareModelFromCache. */
function makeCaching(calls: Calls, counts: readonly [number, number], load: ErrorStatus, name = "caching"): Device {
  const { NONE } = ErrorStatus;
  return {
    ...reference,
    name,
    getNumberOfCacheFilesNeeded: () => ({ status: NONE, numModelCache: counts[0], numDataCache: counts[1] }),
    prepareModel(model, { cache, ...options } = {}) {
      calls.prepare.push(cache);
      for (const { fds } of [...(cache?.modelCache ?? []), ...(cache?.dataCache ?? [])])
        writeFileSync(elementAt(fds, 0), name);
      return reference.prepareModel(model, options);
    },
    async prepareModelFromCache(cache) {
      calls.load.push(cache);
      if (load !== NONE) return { status: load, message: "not mine", preparedModel: null };
      return reference.prepareModel(addModel().hal);
    },
  };
}

async function compile(devices: readonly Device[], model: Model = addModel(), at = directory) {
  const compilation = new Compilation(model, devices);
  compilation.setCaching(at, token);
  await compilation.finish();
  return compilation;
}

async function sum(compilation: Compilation): Promise<number[]> {
  const execution = new Execution(compilation);
  const output = new Float32Array(2);
  execution.setInput(0, Float32Array.of(1, 2));
  execution.setInput(1, Float32Array.of(10, 20));
  execution.setOutput(0, output);
  await execution.compute();
  return [...output];
}

const noCalls = (): Calls => ({ load: [], prepare: [] });

describe("Compilation.setCaching", () => {
  it.each([0, 31, 33])("refuses a token of %i bytes", (length) => {
    const compilation = new Compilation(addModel(), [reference]);
    expect(() => compilation.setCaching(directory, new Uint8Array(length))).toThrow(code("BAD_DATA"));
    expect(() => compilation.setCaching(directory, token)).not.toThrow();
  });

  it("is refused after finish", async () => {
    const compilation = await compile([reference]);
    expect(() => compilation.setCaching(directory, token)).toThrow(code("BAD_STATE"));
  });

  it("does not load from absent files, and prepares with new ones", async () => {
    const calls = noCalls();
    await compile([makeCaching(calls, [2, 1], ErrorStatus.NONE)]);
    expect(calls.load).toEqual([]);
    expect(calls.prepare.map((cache) => [cache?.modelCache.length, cache?.dataCache.length])).toEqual([[2, 1]]);
    const names = readdirSync(directory);
    expect(names).toHaveLength(3);
    for (const name of names) {
      expect(name).toMatch(/^[A-P]{64}(10|11|20)$/);
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    }
  });

  it("loads from existing files, with the same token", async () => {
    const calls = noCalls();
    const caches = makeCaching(calls, [1, 1], ErrorStatus.NONE);
    await compile([caches]);
    const compilation = await compile([caches]);
    expect(calls.prepare).toHaveLength(1);
    expect(calls.load.map(({ token: own }) => own)).toEqual([calls.prepare[0]?.token]);
    expect(await sum(compilation)).toEqual([11, 22]);
  });

  it.each(["GENERAL_FAILURE", "DEVICE_UNAVAILABLE", "INVALID_ARGUMENT"] as const)(
    "prepares anew, with the files, where loading gives %s",
    async (status) => {
      const calls = noCalls();
      const caches = makeCaching(calls, [1, 0], ErrorStatus[status]);
      await compile([caches]);
      expect(await sum(await compile([caches]))).toEqual([11, 22]);
      expect(calls.load).toHaveLength(1);
      expect(calls.prepare.map((cache) => cache?.modelCache.length)).toEqual([1, 1]);
    },
  );

  it("lets the reference device prepare a model once", async () => {
    let prepared = 0;
    const counting: Device = {
      ...reference,
      prepareModel(...request) {
        prepared++;
        return reference.prepareModel(...request);
      },
    };
    const { numModelCache, numDataCache } = reference.getNumberOfCacheFilesNeeded();
    expect(await sum(await compile([counting]))).toEqual([11, 22]);
    expect(readdirSync(directory)).toHaveLength(numModelCache + numDataCache);
    expect(await sum(await compile([counting]))).toEqual([11, 22]);
    expect(prepared).toBe(1);
  });

  it("keeps nothing for a device without caching, and nothing without a token", async () => {
    const calls = noCalls();
    await compile([makeCaching(calls, [0, 0], ErrorStatus.NONE)]);
    await new Compilation(addModel(), [makeCaching(calls, [1, 1], ErrorStatus.NONE)]).finish();
    expect(calls).toEqual({ load: [], prepare: [undefined, undefined] });
    expect(readdirSync(directory)).toEqual([]);
  });

  it("keeps nothing for a device that does not report its version", async () => {
    const calls = noCalls();
    const unknown = { status: ErrorStatus.GENERAL_FAILURE, version: "" };
    await compile([{ ...makeCaching(calls, [1, 1], ErrorStatus.NONE), getVersionString: () => unknown }]);
    expect(calls).toEqual({ load: [], prepare: [undefined] });
    expect(readdirSync(directory)).toEqual([]);
  });

  it("keeps nothing if the directory does not exist", async () => {
    const calls = noCalls();
    const compilation = await compile(
      [makeCaching(calls, [1, 1], ErrorStatus.NONE)],
      addModel(),
      join(directory, "none"),
    );
    expect(await sum(compilation)).toEqual([11, 22]);
    expect(calls).toEqual({ load: [], prepare: [undefined] });
  });

  it("writes to no file through a symbolic link", async () => {
    const calls = noCalls();
    const caches = makeCaching(calls, [1, 0], ErrorStatus.NONE);
    await compile([caches]);
    const [name] = readdirSync(directory);
    const path = join(directory, String(name));
    const other = join(directory, "other");
    writeFileSync(other, "another's");
    rmSync(path);
    symlinkSync(other, path);
    expect(await sum(await compile([caches]))).toEqual([11, 22]);
    expect(readFileSync(other, "utf8")).toBe("another's");
    expect(calls.load).toEqual([]);
    expect(calls.prepare.map((cache) => cache?.modelCache.length)).toEqual([1, undefined]);
  });

  it("takes no model of another structure under the same token of the application", async () => {
    const run = async (shape: readonly number[]) => {
      const compilation = await compile([reference], addModel(float32(...shape)));
      const execution = new Execution(compilation);
      const output = new Float32Array(2);
      execution.setInput(0, Float32Array.of(1, 2));
      execution.setInput(1, Float32Array.of(10, 20));
      execution.setOutput(0, output);
      await execution.compute();
      return [execution.getOutputOperandDimensions(0), ...output];
    };
    expect(await run([2])).toEqual([[2], 11, 22]);
    expect(await run([1, 2])).toEqual([[1, 2], 11, 22]);
    expect(await run([2])).toEqual([[2], 11, 22]);
  });

  it("accepts a device without prepareModelFromCache", async () => {
    const calls = noCalls();
    const { prepareModelFromCache: _, ...writing } = makeCaching(calls, [1, 0], ErrorStatus.NONE);
    await compile([writing]);
    await compile([writing]);
    expect(calls.prepare.map((cache) => cache?.modelCache.length)).toEqual([1, 1]);
  });

  it("keeps each device's part of a divided model separately", async () => {
    const takes = (name: string, share: 0 | 1) =>
      half(name, makeCaching(noCalls(), [1, 0], ErrorStatus.GENERAL_FAILURE, name), share);
    const chain = (count: number) => {
      const model = new Model({ log: silentLogger });
      const first = model.addOperand(float32(2));
      let last = first;
      for (let index = 0; index < count; index++) {
        const next = model.addOperand(float32(2));
        model.addOperation("NEG", [last], [next]);
        last = next;
      }
      model.identifyInputsAndOutputs([first], [last]);
      model.finish();
      return model;
    };
    const compilation = await compile([takes("even", 0), takes("odd", 1)], chain(4));
    expect(compilation.plan.steps).toHaveLength(4);
    expect([...partsOf(compilation.plan).values()]).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
      [0, 3],
    ]);
    const first = readdirSync(directory);
    expect(first).toHaveLength(4);
    await compile([takes("even", 0), takes("odd", 1)], chain(4));
    expect(readdirSync(directory)).toEqual(first);
  });
});
