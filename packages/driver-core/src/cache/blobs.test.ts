/**
 * Blobs that a backend saves: it gets them back unchanged, and its errors in saving or loading them never make a preparation
 * fail.
 */
import type { BackendSession, CacheBlobs, CompileOptions, Executable, GraphView } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, ExecutionPreference, type Model, Priority } from "@nnhal/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DeviceOptions, openDevice } from "../device/device.ts";
import { absModel, fakeBackend, succeeding } from "../device/fake-backend.test-helper.ts";
import { createTestCache, type TestCache } from "./cache-files.test-helper.ts";
import { constantModel } from "./constant-model.test-helper.ts";

const { NONE, GENERAL_FAILURE, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;
const blobs: CacheBlobs = { model: [Uint8Array.of(1, 2, 3)], data: [new Uint8Array(100).fill(4), Uint8Array.of(5)] };

let cache: TestCache;
beforeEach(() => {
  cache = createTestCache();
});
afterEach(() => cache.remove());

/** A device over a backend that saves `blobs`, with changes; and the list of its calls. */
async function savingDevice(
  { restores = true, ...change }: Partial<BackendSession> & { readonly restores?: boolean } = {},
  serialize: NonNullable<Executable["serialize"]> = () => blobs,
  options: Partial<DeviceOptions> = {},
) {
  const calls: string[] = [];
  const restored: { blobs: CacheBlobs; graph: GraphView; options: CompileOptions }[] = [];
  const restore: NonNullable<BackendSession["restore"]> = async (given, graph, given2) => {
    calls.push("restore");
    restored.push({ blobs: given, graph, options: given2 });
    return succeeding;
  };
  const backend = fakeBackend({
    async compile() {
      calls.push("compile");
      return { ...succeeding, serialize };
    },
    ...(restores && { restore }),
    ...change,
  });
  const device = await openDevice({ backend, ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return { device, calls, restored };
}

describe("a backend with something to save", () => {
  it.each([
    ["at once", () => blobs],
    ["later", async () => blobs],
  ])("gets back the blobs that it returns %s, with the graph and the options", async (_what, serialize) => {
    const { device, calls, restored } = await savingDevice({}, serialize);
    const options = { preference: ExecutionPreference.LOW_POWER, priority: Priority.HIGH };
    const saved = await device.prepareModel(constantModel(), { ...options, cache: cache.open() });
    expect(saved.status).toBe(NONE);
    expect((await device.prepareModelFromCache(cache.open())).status).toBe(NONE);
    expect(calls).toEqual(["compile", "restore"]);
    expect(restored).toMatchObject([{ blobs, options }]);
    const { graph } = elementAt(restored, 0);
    expect(graph.operands.map((operand) => operand && [...(operand.data ?? [])])).toEqual([
      [],
      [10, 20],
      [0],
      [],
      [1, 2],
      [],
    ]);
    const { model, data } = elementAt(restored, 0).blobs;
    expect([...model, ...data].map(({ byteOffset }) => byteOffset % 64)).toEqual([0, 0, 0]);
  });

  describe("and a caller that has the model", () => {
    const withoutData = () => ({ model: blobs.model, data: [] });
    const operandsIn = ({ graph }: { readonly graph: GraphView }) =>
      graph.operands.map((operand) => operand && [...(operand.data ?? [])]);

    it("gets the caller's model, and the data file is not read", async () => {
      const { device, restored } = await savingDevice({}, withoutData);
      await device.prepareModel(constantModel(), { cache: cache.open() });
      cache.write("data", new Uint8Array(1));
      const { status } = await device.prepareModelFromCache(cache.open(), {}, constantModel());
      expect(status).toBe(NONE);
      expect(restored).toMatchObject([{ blobs: withoutData() }]);
      expect(operandsIn(elementAt(restored, 0))).toEqual([[], [10, 20], [0], [], [1, 2], []]);
      expect(await device.prepareModelFromCache(cache.open())).toMatchObject({ status: GENERAL_FAILURE });
    });

    it.each([[[]], [[1000]], [[200, 3, 70]], [[0, 5]]])(
      "gets blobs of %j bytes, aligned and whole",
      async (lengths) => {
        const model = lengths.map((length, place) => Uint8Array.from({ length }, (_, at) => at + place));
        const { device, restored } = await savingDevice({}, () => ({ model, data: [] }));
        await device.prepareModel(constantModel(), { cache: cache.open() });
        expect((await device.prepareModelFromCache(cache.open(), {}, constantModel())).status).toBe(NONE);
        const { blobs: got } = elementAt(restored, 0);
        expect(got).toEqual({ model, data: [] });
        expect(got.model.map(({ byteOffset }) => byteOffset % 64)).toEqual(lengths.map(() => 0));
      },
    );

    it("gets the model in the cache if the backend has data", async () => {
      const { device } = await savingDevice();
      await device.prepareModel(constantModel(), { cache: cache.open() });
      const load = async () => (await device.prepareModelFromCache(cache.open(), {}, constantModel())).status;
      expect(await load()).toBe(NONE);
      cache.write("data", new Uint8Array(1));
      expect(await load()).toBe(GENERAL_FAILURE);
    });

    const withOperandOf = (dimensions: number[]): Model => {
      const model = constantModel();
      return {
        ...model,
        main: {
          ...model.main,
          operands: model.main.operands.map((one, at) => (at === 0 ? { ...one, dimensions } : one)),
        },
      };
    };
    it.each<[string, Model]>([
      ["of other operations", absModel],
      ["of another input shape", withOperandOf([1, 2])],
      ["that is not valid", { ...constantModel(), pools: [] }],
    ])("is not given the cache of another model: one %s", async (_what, given) => {
      for (const serialize of [withoutData, () => blobs]) {
        const { device, calls } = await savingDevice({}, serialize);
        await device.prepareModel(constantModel(), { cache: cache.open() });
        const refused = await device.prepareModelFromCache(cache.open(), {}, given);
        expect(refused.status).not.toBe(NONE);
        expect(refused.preparedModel).toBeNull();
        expect((await device.prepareModelFromCache(cache.open(), {}, constantModel())).status).toBe(NONE);
        expect(calls).toEqual(["compile", "restore"]);
      }
    });

    it("does not get a model file that the device has not sealed", async () => {
      const { device, calls } = await savingDevice({}, withoutData);
      await device.prepareModel(constantModel(), { cache: cache.open() });
      const bytes = cache.read("model");
      for (const place of [0, 31, 32, bytes.length - 1]) {
        const changed = bytes.slice();
        changed[place] = elementAt(changed, place) ^ 1;
        cache.write("model", changed);
        const { status } = await device.prepareModelFromCache(cache.open(), {}, constantModel());
        expect(status).toBe(GENERAL_FAILURE);
      }
      expect(calls).toEqual(["compile"]);
    });
  });

  it("is not asked if it cannot restore, and compiles the saved model again", async () => {
    const { device, calls } = await savingDevice({ restores: false }, () => {
      throw new Error("it must not be called");
    });
    await device.prepareModel(absModel, { cache: cache.open() });
    expect((await device.prepareModelFromCache(cache.open())).status).toBe(NONE);
    expect(calls).toEqual(["compile", "compile"]);
  });

  it("can have no blobs: the saved model is compiled again", async () => {
    const { device, calls } = await savingDevice({ compile: async () => succeeding });
    await device.prepareModel(absModel, { cache: cache.open() });
    expect((await device.prepareModelFromCache(cache.open())).status).toBe(NONE);
    expect(calls).toEqual([]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no"))],
  ])("prepares all the same if saving %s, and keeps nothing", async (_what, serialize) => {
    const { device } = await savingDevice({}, serialize);
    expect((await device.prepareModel(absModel, { cache: cache.open() })).status).toBe(NONE);
    expect(cache.read("model")).toHaveLength(0);
  });

  it("has the last word about what it saved", async () => {
    const { device } = await savingDevice({ restore: () => Promise.reject(new Error("another processor")) });
    await device.prepareModel(absModel, { cache: cache.open() });
    await expect(device.prepareModelFromCache(cache.open())).resolves.toEqual({
      status: GENERAL_FAILURE,
      message: "preparing the model: another processor",
      preparedModel: null,
    });
  });

  it("is held to the deadline: reached before the cache is read, while it is restored, not reached", async () => {
    let time = 100n;
    const restore = async () => {
      time += 50n;
      return succeeding;
    };
    const { device } = await savingDevice({ restore }, undefined, { now: () => time });
    await device.prepareModel(absModel, { cache: cache.open() });
    const load = async (deadline: bigint) => {
      time = 100n;
      return (await device.prepareModelFromCache(cache.open(), { deadline })).status;
    };
    expect(await load(100n)).toBe(MISSED_DEADLINE_PERSISTENT);
    expect(await load(150n)).toBe(MISSED_DEADLINE_TRANSIENT);
    expect(await load(151n)).toBe(NONE);
  });
});
