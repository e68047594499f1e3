/**
 * A device with an extension: buffers, requests, caches, and older HAL versions of models with its types.
 */
import { createReferenceBackend } from "@nnhal/backend-reference";
import type { ExtensionDefinition } from "@nnhal/operations";
import { input, modelOf, operand, output, subgraphOf } from "@nnhal/test-kit/models";
import {
  ADD_LONG,
  GREATEST,
  LONG,
  longParams,
  TENSOR_LONG,
  wideCode,
  wideExtension,
  wideName,
} from "@nnhal/test-kit/wide-extension";
import {
  type BufferRole,
  ErrorStatus,
  type HalVersion,
  type Memory,
  type Model,
  type PreparedModel,
  type Request,
} from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestCache, type TestCache } from "../cache/cache-files.test-helper.ts";
import { allocateMemory, mapMemory } from "../memory/memory.ts";
import { asV1_0, asV1_1, asV1_2, asV1_3, liftDevice } from "../versions/index.ts";
import { type DeviceOptions, type OpenedDevice, openDevice } from "./device.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;
const opened: OpenedDevice[] = [];
afterAll(async () => {
  for (const device of opened) await device.close();
});

async function deviceWith(extensions: readonly ExtensionDefinition[], more: Partial<DeviceOptions> = {}) {
  const device = await openDevice({ backend: createReferenceBackend({ extensions }), log: silentLogger, ...more });
  if ("unavailable" in device) throw new Error(device.unavailable);
  opened.push(device);
  return device;
}

const device = await deviceWith([wideExtension]);
const plain = await deviceWith([]);

/** sum = left + right, and the greatest of left. */
function longModel({
  prefix = 1,
  factor = 1,
  dimensions = [2],
}: {
  prefix?: number;
  factor?: number;
  dimensions?: readonly number[];
} = {}): Model {
  const long = { type: wideCode(TENSOR_LONG, prefix), dimensions, extraParams: longParams(factor) };
  const scalar = { type: wideCode(LONG, prefix), dimensions: [] };
  const main = subgraphOf(
    [
      operand({ ...long, ...input }),
      operand({ ...scalar, ...input }),
      operand({ ...long, ...output }),
      operand({ ...scalar, ...output }),
    ],
    [
      { type: wideCode(ADD_LONG, prefix), inputs: [0, 1], outputs: [2] },
      { type: wideCode(GREATEST, prefix), inputs: [0], outputs: [3] },
    ],
  );
  return modelOf(main, { extensionNameToPrefix: [{ name: wideName, prefix }] });
}

async function preparedOn(on: Pick<OpenedDevice, "prepareModel">, model: Model): Promise<PreparedModel> {
  const { preparedModel, message } = await on.prepareModel(model);
  if (preparedModel === null) throw new Error(message);
  return preparedModel;
}

function longs(...values: bigint[]): Memory {
  const memory = allocateMemory(8 * values.length);
  longsIn(memory).set(values);
  return memory;
}

function longsIn(memory: Memory): BigInt64Array {
  const bytes = mapMemory(memory);
  if ("unmappable" in bytes) throw new Error(bytes.unmappable);
  return new BigInt64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
}

/** A request whose arguments each are a whole memory, or a token. */
function requestOf(inputs: readonly (Memory | number)[], outputs: readonly (Memory | number)[]): Request {
  const all = [...inputs, ...outputs];
  const argument = (at: Memory | number, poolIndex: number) => ({
    hasNoValue: false,
    location: { poolIndex, offset: 0, length: typeof at === "number" ? 0 : at.size },
    dimensions: [],
  });
  return {
    inputs: inputs.map(argument),
    outputs: outputs.map((at, index) => argument(at, inputs.length + index)),
    pools: all.map((at) => (typeof at === "number" ? { kind: "token", token: at } : { kind: "memory", memory: at })),
  };
}

const big = 2n ** 60n;

/** Returns the results of a prepared model for [2^60, 5] and 7. */
async function resultsOf(model: PreparedModel): Promise<bigint[][]> {
  const [sum, greatest] = [longs(0n, 0n), longs(0n)];
  const { status, message, outputShapes } = await model.execute(
    requestOf([longs(big, 5n), longs(7n)], [sum, greatest]),
  );
  expect([status, message]).toEqual([NONE, undefined]);
  expect(outputShapes.map(({ dimensions }) => dimensions)).toEqual([[2], []]);
  return [[...longsIn(sum)], [...longsIn(greatest)]];
}

const expected = [[big + 7n, 12n], [big]];

describe("a request for operands of an extension", () => {
  it("is refused if an input has too few bytes, or dimensions that its type does not have", async () => {
    const model = await preparedOn(device, longModel({ dimensions: [] }));
    const request = requestOf([longs(1n, 2n), longs(3n)], [longs(0n, 0n), longs(0n)]);
    const change = (index: number, dimensions: readonly number[], length: number): Request => ({
      ...request,
      inputs: request.inputs.map((one, at) =>
        at === index ? { ...one, dimensions, location: { ...one.location, length } } : one,
      ),
    });
    const known = { ...change(0, [2], 16), outputs: request.outputs };
    expect((await model.execute(known)).status).toBe(NONE);
    const wrong: readonly [Request, string][] = [
      [change(0, [2], 15), `the argument has 15 bytes where a ${wideName} TENSOR_LONG [2] takes 16`],
      [change(0, [], 16), "neither the request nor the model"],
    ];
    for (const [bad, message] of wrong) {
      expect(await model.execute(bad)).toMatchObject({
        status: INVALID_ARGUMENT,
        message: expect.stringContaining(message),
      });
    }
    const scalar = { ...known, inputs: known.inputs.map((one, at) => (at === 1 ? { ...one, dimensions: [1] } : one)) };
    expect(await model.execute(scalar)).toMatchObject({
      status: INVALID_ARGUMENT,
      message: expect.stringContaining(`a ${wideName} LONG is given dimensions [1]`),
    });
  });
});

describe("device memory for an extension's type", () => {
  const role = (modelIndex: number, ioIndex: number): BufferRole => ({ modelIndex, ioIndex, frequency: 1 });

  it("holds a value between executions, of models with other prefixes too", async () => {
    const [first, second] = [await preparedOn(device, longModel()), await preparedOn(device, longModel({ prefix: 9 }))];
    const { buffer, token, message } = await device.allocate(
      { dimensions: [] },
      [first, second],
      [role(1, 0)],
      [role(0, 0)],
    );
    expect(message).toBeUndefined();
    expect((await first.execute(requestOf([longs(big, 5n), longs(7n)], [token, longs(0n)]))).status).toBe(NONE);
    const copied = longs(0n, 0n);
    expect((await buffer?.copyTo(copied))?.status).toBe(NONE);
    expect([...longsIn(copied)]).toEqual([big + 7n, 12n]);
    const sum = longs(0n, 0n);
    expect((await second.execute(requestOf([token, longs(1n)], [sum, longs(0n)]))).status).toBe(NONE);
    expect([...longsIn(sum)]).toEqual([big + 8n, 13n]);
    expect(await buffer?.copyFrom(longs(1n), [])).toMatchObject({
      status: INVALID_ARGUMENT,
      message: expect.stringContaining("the memory: expected 16 bytes for a value of dimensions [2], got 8"),
    });
    buffer?.close?.();
  });

  it("holds a scalar, which has no dimensions", async () => {
    const model = await preparedOn(device, longModel());
    const { buffer } = await device.allocate({ dimensions: [] }, [model], [role(0, 1)], []);
    expect((await buffer?.copyFrom(longs(7n), []))?.status).toBe(NONE);
    expect(await buffer?.copyFrom(longs(7n), [1])).toMatchObject({
      status: INVALID_ARGUMENT,
      message: expect.stringContaining(`the dimensions of a ${wideName} LONG: expected none, got [1]`),
    });
    buffer?.close?.();
  });

  it("is refused for roles with different extension data, and for different types", async () => {
    const models = [await preparedOn(device, longModel()), await preparedOn(device, longModel({ factor: 2 }))];
    expect(await device.allocate({ dimensions: [] }, models, [role(0, 0), role(1, 0)], [])).toMatchObject({
      status: GENERAL_FAILURE,
      message: expect.stringContaining(`of type ${wideName} TENSOR_LONG, have different extension data`),
    });
    expect(await device.allocate({ dimensions: [] }, models, [role(0, 0), role(1, 1)], [])).toMatchObject({
      status: INVALID_ARGUMENT,
      message: expect.stringContaining(`the type is ${wideName} type 3 where inputRoles[0] has ${wideName} type 5`),
    });
  });
});

describe("a cache of a model with an extension", () => {
  let cache: TestCache;
  beforeEach(() => {
    cache = createTestCache();
  });
  afterEach(() => cache.remove());
  const key = new Uint8Array(16).fill(3);

  it.each([
    ["a public key", {}],
    ["a secret key", { caching: { key } }],
  ])("with %s is restored with the extension's definitions", async (_, options) => {
    const own = await deviceWith([wideExtension], options);
    const saved = await own.prepareModel(longModel({ prefix: 4 }), { cache: cache.open() });
    expect(saved.status).toBe(NONE);
    const again = await deviceWith([wideExtension], options);
    const { preparedModel, message } = await again.prepareModelFromCache(cache.open());
    expect(message).toBeUndefined();
    expect(preparedModel && (await resultsOf(preparedModel))).toEqual(expected);
  });

  it.each([
    ["a public key", {}],
    ["a secret key", { caching: { key } }],
  ])("with %s is refused by a device without the extension", async (_, options) => {
    const own = await deviceWith([wideExtension], options);
    await own.prepareModel(longModel(), { cache: cache.open() });
    const without = await deviceWith([], options);
    expect(await without.prepareModelFromCache(cache.open())).toMatchObject({
      status: GENERAL_FAILURE,
      preparedModel: null,
    });
  });
});

describe("an older HAL version", () => {
  const definitions = { extensions: [wideExtension] };

  it.each([
    ["1.2", asV1_2],
    ["1.3", asV1_3],
  ] as const)("%s carries operands and operations of extensions", async (_version, face) => {
    const lifted = liftDevice("lifted", face(device, definitions), definitions);
    expect(lifted.getSupportedExtensions()).toEqual(device.getSupportedExtensions());
    expect((await lifted.getSupportedOperations(longModel())).supported).toEqual([true, true]);
    expect(await resultsOf(await preparedOn(lifted, longModel()))).toEqual(expected);
  });

  it.each<[HalVersion, Parameters<typeof liftDevice>[1]]>([
    ["1.0", asV1_0(device)],
    ["1.1", asV1_1(device)],
  ])("%s has no extensions, and says so", async (version, driver) => {
    const lifted = liftDevice("lifted", driver, definitions);
    expect(lifted.getSupportedExtensions()).toEqual({ status: NONE, extensions: [] });
    const { supported, reasons } = await lifted.getSupportedOperations(longModel());
    expect(supported).toEqual([false, false]);
    expect(reasons[0]).toBe(
      `${wideName} operation 7: ${lifted.name} is of HAL ${version}, which does not have it with these operands`,
    );
    expect(await lifted.prepareModel(longModel())).toMatchObject({
      status: GENERAL_FAILURE,
      message: expect.stringContaining(`${wideName} type 5 needs HAL 1.2`),
    });
  });
});

it("is not supported by a device without the extension, with a reason", async () => {
  const reason = `${wideName} operation 7: the engine does not have this operation`;
  expect(plain.getSupportedOperations(longModel()).reasons[0]).toBe(reason);
  expect(await plain.prepareModel(longModel())).toMatchObject({
    status: INVALID_ARGUMENT,
    message: expect.stringContaining(reason),
  });
});

it("computes the same result whatever the prefix is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 0xffff }), async (prefix) => {
      expect(await resultsOf(await preparedOn(device, longModel({ prefix })))).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});
