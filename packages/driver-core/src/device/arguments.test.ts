/** Invalid arguments of a device's methods: the answer is INVALID_ARGUMENT and names the fault. */
import { referenceBackend } from "@nnhal/backend-reference";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type Model, OperandType, type Request } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { bufferFor, floats, prepareOn, reluModel } from "../domains/relu-model.test-helper.ts";
import { openDevice } from "./device.ts";
import { absModel, absRequest, fakeDevice } from "./fake-backend.test-helper.ts";

const { NONE, INVALID_ARGUMENT } = ErrorStatus;

/** An object whose properties all throw. */
const hostile: object = new Proxy(
  {},
  {
    get() {
      throw new Error("keep out");
    },
  },
);
const makeThrowing = (name: string) =>
  Object.defineProperty({}, name, {
    enumerable: true,
    get() {
      throw new Error("keep out");
    },
  });
/** A list that claims to be as long as lists can be. */
const sparse: readonly never[] = Array<never>(2 ** 32 - 1);
/** Of messages about the inside of this package. */
const internal = /undefined \(|Cannot (read|destructure)|is not (a function|iterable)|properties of/;

const anything: readonly [string, unknown][] = [
  ["null", null],
  ["a number", 5],
  ["a string", "no"],
  ["an object that throws", hostile],
];

function expectInvalid(result: { readonly status: ErrorStatus; readonly message?: string }, message?: string): void {
  expect(result.status).toBe(INVALID_ARGUMENT);
  expect(result.message).not.toMatch(internal);
  if (message !== undefined) expect(result.message).toContain(message);
}

/** A list that claims to be as long, and has the same at every place. */
const endless = (value: unknown) =>
  new Proxy<unknown[]>([], {
    get: (target, key) => (key === "length" ? 2 ** 32 - 1 : key in target ? Reflect.get(target, key) : value),
  });

describe("options", () => {
  it.each(anything)("that are %s are refused by every method that takes some", async (_what, options) => {
    const device = await fakeDevice();
    const model = await prepareOn(device, absModel);
    const { request } = absRequest();
    const given = options as never;
    expectInvalid(await device.prepareModel(absModel, given), "the options");
    expectInvalid(await model.execute(request, given), "the options");
    expectInvalid((await model.executeFenced?.(request, [], given)) ?? { status: NONE }, "the options");
    const cache = { modelCache: [], dataCache: [], token: new Uint8Array(32) };
    expectInvalid(await device.prepareModelFromCache(cache, given), "the options");
  });

  it.each([
    ["a preference that does not exist", { preference: 3 }, "the execution preference: expected 0, 1 or 2, got 3"],
    ["a priority that is not a number", { priority: "1" }, 'the priority: expected 0, 1 or 2, got "1"'],
    ["a deadline that is a number", { deadline: 5 }, "the deadline: expected a bigint of nanoseconds, got 5"],
    ["a deadline that is null", { deadline: null }, "the deadline: expected a bigint of nanoseconds, got null"],
    ["a deadline that throws", makeThrowing("deadline"), "the options cannot be read: keep out"],
  ])("of a preparation: %s", async (_what, options, message) => {
    expectInvalid(await (await fakeDevice()).prepareModel(absModel, options as never), message);
  });

  it.each([
    ["a measure that does not exist", { measure: 2 }, "measure: expected 0 or 1, got 2"],
    ["a measure that is not a number", { measure: true }, "measure: expected 0 or 1, got true"],
    ["a deadline that is a number", { deadline: 5 }, "the deadline: expected a bigint of nanoseconds, got 5"],
    [
      "a loopTimeoutDuration that is a string",
      { loopTimeoutDuration: "1" },
      'the loopTimeoutDuration: expected a bigint of nanoseconds, got "1"',
    ],
    ["a signal that is a number", { signal: 5 }, "the signal: expected an AbortSignal, got 5"],
    ["a signal that is an object", { signal: {} }, "the signal: expected an AbortSignal"],
    ["a measure that throws", makeThrowing("measure"), "the options cannot be read: keep out"],
  ])("of an execution: %s", async (_what, options, message) => {
    const model = await prepareOn(await fakeDevice(), absModel);
    expectInvalid(await model.execute(absRequest().request, options as never), message);
    const fenced = await model.executeFenced?.(absRequest().request, [], options as never);
    expectInvalid(fenced ?? { status: NONE }, message);
  });

  it("of a fenced execution: a duration that is not one", async () => {
    const model = await prepareOn(await fakeDevice(), absModel);
    const launched = await model.executeFenced?.(absRequest().request, [], { duration: 5 as never });
    expectInvalid(launched ?? { status: NONE }, "the duration: expected a bigint of nanoseconds, got 5");
  });

  it("that are undefined, or of undefined fields, are the defaults", async () => {
    const device = await fakeDevice();
    const nothing = { preference: undefined, priority: undefined, deadline: undefined, cache: undefined } as never;
    expect((await device.prepareModel(absModel, nothing)).status).toBe(NONE);
    const model = await prepareOn(device, absModel);
    const options = { measure: undefined, deadline: undefined, loopTimeoutDuration: undefined } as never;
    expect((await model.execute(absRequest().request, options)).status).toBe(NONE);
    expect((await model.execute(absRequest().request, undefined)).status).toBe(NONE);
  });
});

describe("a model", () => {
  const changed = (change: object): Model => ({ ...absModel, ...change });
  it.each<[string, unknown]>([
    ...anything,
    ["undefined", undefined],
    ["an empty object", {}],
    ["without a main subgraph", changed({ main: null })],
    ["with operands that have no end", changed({ main: { ...absModel.main, operands: sparse } })],
    ["with indexes that have no end", changed({ main: { ...absModel.main, inputIndexes: sparse } })],
    ["with pools that have no end", changed({ pools: sparse })],
    ["with pools that are undefined", changed({ pools: [undefined] })],
    ["with indexes that are the same without end", changed({ main: { ...absModel.main, inputIndexes: endless(0) } })],
    ["with an operand that throws", changed({ main: { ...absModel.main, operands: [hostile] } })],
    [
      "with a location that is null",
      changed({ main: { ...absModel.main, operands: [{ ...absModel.main.operands[0], location: null }] } }),
    ],
    ["with a memory that throws", changed({ pools: [hostile] })],
  ])("that is %s is not valid", async (_what, model) => {
    const device = await fakeDevice();
    expectInvalid(await device.prepareModel(model as Model), "the model");
    const answer = device.getSupportedOperations(model as Model);
    expectInvalid(answer, "the model");
    expect([answer.supported, answer.reasons]).toEqual([[], []]);
  });

  it("is read once: what it says the second time does not matter", async () => {
    let reads = 0;
    const operand = Object.defineProperty({ ...elementAt(absModel.main.operands, 0) }, "dimensions", {
      enumerable: true,
      get: () => (reads++ === 0 ? [2] : [1000]),
    });
    const main = { ...absModel.main, operands: [operand, elementAt(absModel.main.operands, 1)] };
    const model = await prepareOn(await fakeDevice(), { ...absModel, main });
    expect(reads).toBe(1);
    expect((await model.execute(absRequest().request)).status).toBe(NONE);
  });

  it("that changes after it was prepared is prepared as it was", async () => {
    // A client without types can change fields that a Model declares as read-only.
    const model = structuredClone(absModel) as unknown as {
      main: { inputIndexes: number[]; operands: { dimensions: number[] }[] };
    };
    const prepared = await prepareOn(await fakeDevice(), model as unknown as Model);
    model.main.inputIndexes.length = 0;
    for (const { dimensions } of model.main.operands) dimensions[0] = 1000;
    expect((await prepared.execute(absRequest().request)).status).toBe(NONE);
  });
});

describe("a request", () => {
  const changed = (change: object): Request => ({ ...absRequest().request, ...change });
  const argument = elementAt(absRequest().request.inputs, 0);
  it.each<[string, unknown]>([
    ...anything,
    ["undefined", undefined],
    ["an empty object", {}],
    ["with inputs that have no end", changed({ inputs: sparse })],
    ["with pools that have no end", changed({ pools: sparse })],
    ["with pools that are the same without end", changed({ pools: endless({ kind: "token", token: 1 }) })],
    ["with dimensions that have no end", changed({ inputs: [{ ...argument, dimensions: sparse }] })],
    ["with an argument that throws", changed({ inputs: [hostile] })],
    ["with a location that is null", changed({ inputs: [{ ...argument, location: null }] })],
    ["with a pool that is null", changed({ pools: [null] })],
    ["with a memory that throws", changed({ pools: [{ kind: "memory", memory: hostile }] })],
  ])("that is %s is not valid", async (_what, request) => {
    const model = await prepareOn(await fakeDevice(), absModel);
    expectInvalid(await model.execute(request as Request), "the request");
    expectInvalid((await model.executeFenced?.(request as Request, [])) ?? { status: NONE }, "the request");
  });

  it("that changes while it waits is executed as it was", async () => {
    const device = await openDevice({ backend: referenceBackend, concurrency: 1 });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const model = await prepareOn(device, absModel);
    const { request, output } = absRequest([-3, 4]);
    const held = structuredClone({ inputs: request.inputs, outputs: request.outputs });
    const changing = { ...request, ...held, pools: [...request.pools] };
    const executing = [model.execute(absRequest().request), model.execute(changing)];
    for (const { location } of [...held.inputs, ...held.outputs] as { location: { poolIndex: number } }[]) {
      location.poolIndex = 9;
    }
    changing.pools.length = 0;
    expect((await Promise.all(executing)).map(({ status }) => status)).toEqual([NONE, NONE]);
    expect(output()).toEqual([3, 4]);
  });

  it("whose input is too short is not valid, and names the sizes", async () => {
    const model = await prepareOn(await fakeDevice(), absModel);
    const { request } = absRequest();
    const short = { ...argument, location: { ...argument.location, length: 7 } };
    const result = await model.execute({ ...request, inputs: [short] });
    expectInvalid(result, "inputs[0].location.length: the argument has 7 bytes where a TENSOR_FLOAT32 [2] takes 8");
  });
});

describe("fences to wait for", () => {
  it.each<[string, unknown, string]>([
    ["null", null, "waitFor: expected an array, got null"],
    ["undefined", undefined, "waitFor: expected an array, got undefined"],
    ["a number", 5, "waitFor: expected an array, got 5"],
    ["a list of null", [null], "waitFor[0]: expected a fence, got null"],
    ["a list of undefined", [undefined], "waitFor[0]: expected a fence, got undefined"],
    ["a list that has no end", sparse, "waitFor: expected at most 16777216 fences, got 4294967295"],
    ["a list of objects", [{}], "waitFor[0]: expected a fence in state ACTIVE or SIGNALED, got undefined"],
    ["a list of what throws", [hostile], "waitFor cannot be read"],
  ])("that are %s are refused", async (_what, waitFor, message) => {
    const model = await prepareOn(await fakeDevice(), absModel);
    const launched = await model.executeFenced?.(absRequest().request, waitFor as never);
    expectInvalid(launched ?? { status: NONE }, message);
    expect([launched?.syncFence, launched?.callback]).toEqual([null, null]);
  });

  it.each<[string, object]>([
    [
      "throws in wait",
      {
        state: "ACTIVE",
        wait: () => {
          throw new Error("no");
        },
      },
    ],
    ["rejects", { state: "ACTIVE", wait: () => Promise.reject(new Error("no")) }],
    ["has no wait", { state: "ACTIVE" }],
    ["comes to a state that is none", { state: "ACTIVE", wait: async () => "DONE" }],
  ])("one that %s fails the execution", async (_what, fence) => {
    const model = await prepareOn(await fakeDevice(), absModel);
    const launched = await model.executeFenced?.(absRequest().request, [fence as never]);
    expect(launched?.status).toBe(NONE);
    await expect(launched?.syncFence?.wait()).resolves.toBe("ERROR");
  });
});

describe("the arguments of allocate", () => {
  const desc = { dimensions: [] };
  const roles = [{ modelIndex: 0, ioIndex: 0, frequency: 1 }];
  it.each<[string, (model: unknown) => readonly unknown[]]>([
    ["a descriptor that is null", (model) => [null, [model], roles, []]],
    ["a descriptor that throws", (model) => [hostile, [model], roles, []]],
    ["dimensions that have no end", (model) => [{ dimensions: sparse }, [model], roles, []]],
    ["models that are null", () => [desc, null, roles, []]],
    ["models that are the same without end", () => [desc, endless(null), roles, []]],
    ["models that have no end", () => [desc, sparse, roles, []]],
    ["a model that is a number", () => [desc, [5], roles, []]],
    ["a model that throws", () => [desc, [hostile], roles, []]],
    ["roles that are null", (model) => [desc, [model], null, []]],
    ["roles that throw", (model) => [desc, [model], [hostile], []]],
    ["roles that have no end", (model) => [desc, [model], [], sparse]],
  ])("are refused: %s", async (_what, args) => {
    const device = await fakeDevice();
    const model = await prepareOn(device, reluModel());
    // A client without types passes whatever it likes.
    const allocate = device.allocate as unknown as (...args: readonly unknown[]) => ReturnType<typeof device.allocate>;
    const result = await allocate(...args(model));
    expectInvalid(result, "allocating a buffer: ");
    expect([result.buffer, result.token]).toEqual([null, 0]);
    expect((await allocate(desc, [model], roles, [])).status).toBe(NONE);
  });
});

describe("the arguments of a buffer", () => {
  it.each<[string, unknown]>([
    ...anything,
    ["undefined", undefined],
    ["a pool", { kind: "memory", memory: floats(1) }],
  ])("a memory that is %s is refused", async (_what, memory) => {
    const device = await fakeDevice();
    const { buffer } = await bufferFor(device, await prepareOn(device, reluModel()), [0], []);
    expectInvalid(await buffer.copyFrom(memory as never, []), "the memory");
    expectInvalid(await buffer.copyTo(memory as never), "the memory");
  });

  it.each<[string, unknown]>([
    ...anything,
    ["a list that has no end", sparse],
    ["a list of strings", ["2"]],
    ["a fraction", [2.5]],
  ])("dimensions that are %s are refused", async (_what, dimensions) => {
    const device = await fakeDevice();
    const { buffer } = await bufferFor(device, await prepareOn(device, reluModel()), [0], []);
    expectInvalid(await buffer.copyFrom(floats(1, 2, 3, 4, 5, 6), dimensions as never), "the dimensions");
  });
});

it("refuses an omitted scalar as any other mandatory input", async () => {
  const input = elementAt(absModel.main.operands, 0);
  const output = elementAt(absModel.main.operands, 1);
  const activation = { ...input, type: OperandType.INT32, dimensions: [] };
  const main = {
    operands: [input, input, activation, output],
    operations: [{ type: 0, inputs: [0, 1, 2], outputs: [3] }],
    inputIndexes: [0, 1, 2],
    outputIndexes: [3],
  };
  const model = await prepareOn(await fakeDevice(), { ...absModel, main });
  const { request } = absRequest();
  const argument = elementAt(request.inputs, 0);
  const omitted = { hasNoValue: true, location: { poolIndex: 0, offset: 0, length: 0 }, dimensions: [] };
  const result = await model.execute({ ...request, inputs: [argument, argument, omitted] });
  expectInvalid(result, "input 2 (operand 2) is omitted, and operation 1, ADD, needs it as activation");
});
