/**
 * Forged caches, made with the key; the default key is public. They are read with bounds, and checked like any model
 * from outside.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, ExecutionPreference, Priority } from "@nnhal/types";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { absModel, fakeDevice } from "../device/fake-backend.test-helper.ts";
import { createTestCache, type TestCache } from "./cache-files.test-helper.ts";
import { createCaching } from "./caching.ts";
import { constantModel } from "./constant-model.test-helper.ts";
import { imageOf, modelOf, readModelPart } from "./image.ts";
import { seal } from "./seal.ts";

const { NONE, GENERAL_FAILURE } = ErrorStatus;
const token = new Uint8Array(32).fill(7);
const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.LOW };
const owner = createCaching({}, { device: "nnhal-fake", backend: "fake", version: "fake-1" });
const blobs = { model: [Uint8Array.of(1)], data: [Uint8Array.of(2)] };

let cache: TestCache;
beforeEach(() => {
  cache = createTestCache();
});
afterEach(() => cache.remove());

function imageOfModel(model = constantModel()) {
  const pools = model.pools.map(({ handle }) =>
    handle?.kind === "buffer" ? new Uint8Array(handle.buffer) : new Uint8Array(0),
  );
  return imageOf({ model, pools }, options, blobs);
}

describe("a forged cache", () => {
  it("is accepted if it contains a valid model", async () => {
    const { model, data } = imageOfModel();
    cache.write("model", seal(model, token, owner));
    cache.write("data", data);
    expect((await (await fakeDevice()).prepareModelFromCache?.(cache.open()))?.status).toBe(NONE);
  });

  it("is refused if its model is not valid, or not supported", async () => {
    const { model, data } = imageOfModel({ ...absModel, main: { ...absModel.main, inputIndexes: [7] } });
    cache.write("model", seal(model, token, owner));
    cache.write("data", data);
    const result = await (await fakeDevice()).prepareModelFromCache?.(cache.open());
    expect(result).toMatchObject({ status: GENERAL_FAILURE, preparedModel: null });
    expect(result?.message).toContain("the cache: the model is not valid: main");
    const good = imageOfModel();
    cache.write("model", seal(good.model, token, owner));
    cache.write("data", good.data);
    const refusing = await fakeDevice({ supports: () => ({ supported: false, reason: "ADD: too hard" }) });
    const unsupported = await refusing.prepareModelFromCache?.(cache.open());
    expect(unsupported?.message).toContain("the cache: nnhal-fake does not support the model: ADD: too hard");
  });

  it("is read or refused, whatever is in it", async () => {
    const { model, data } = imageOfModel();
    cache.write("data", data);
    const device = await fakeDevice();
    const opened = cache.open();
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.integer({ min: 0, max: model.length }).map((length) => model.slice(0, length)),
      fc.tuple(fc.integer({ min: 0, max: model.length - 1 }), fc.integer({ min: 1, max: 255 })).map(([at, change]) => {
        const bytes = new Uint8Array(model);
        bytes[at] = elementAt(bytes, at) ^ change;
        return bytes;
      }),
    );
    await fc.assert(
      fc.asyncProperty(content, async (bytes) => {
        cache.write("model", seal(bytes, token, owner));
        const result = await device.prepareModelFromCache?.(opened);
        expect([NONE, GENERAL_FAILURE]).toContain(result?.status);
        expect(result?.preparedModel === null).toBe(result?.status !== NONE);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the content of a cache", () => {
  it("is what it was made of", () => {
    const { model, data } = imageOfModel();
    const read = modelOf(readModelPart(model), data);
    expect(read).toMatchObject({ options, blobs });
    expect(read.source.model.operandValues).toEqual(constantModel().operandValues);
    expect([
      ...new Float32Array(elementAt(read.source.pools, 0).buffer, elementAt(read.source.pools, 0).byteOffset, 2),
    ]).toEqual([10, 20]);
  });

  it("cannot be read if it is cut short at any byte", () => {
    const { model } = imageOfModel();
    for (let length = 0; length < model.length; length++) {
      expect(() => readModelPart(model.subarray(0, length)), `${length} bytes`).toThrow();
    }
  });
});
