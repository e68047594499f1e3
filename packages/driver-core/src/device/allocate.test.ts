import { elementAt } from "@nnhal/operations";
import { type BufferRole, type Device, ErrorStatus, type Model, OperandType, type PreparedModel } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { addModel, bufferFor, prepareOn, referenceDevice, reluModel } from "../domains/relu-model.test-helper.ts";
import { capabilities, fakeDevice } from "./fake-backend.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;
const role = (modelIndex = 0, ioIndex = 0, frequency = 1): BufferRole => ({ modelIndex, ioIndex, frequency });
const nothing = { buffer: null, token: 0 };

/** Arguments of one call of allocate. */
interface Call {
  readonly models: readonly (PreparedModel | null)[];
  readonly inputs?: readonly BufferRole[];
  readonly outputs?: readonly BufferRole[];
  readonly dimensions?: readonly number[];
}

function allocate(
  device: Required<Pick<Device, "allocate">>,
  { models, inputs = [], outputs = [], dimensions = [] }: Call,
) {
  return device.allocate({ dimensions }, models, inputs, outputs);
}

const types: [string, object][] = [
  ["TENSOR_FLOAT32", { type: OperandType.TENSOR_FLOAT32 }],
  ["TENSOR_FLOAT16", { type: OperandType.TENSOR_FLOAT16 }],
  ["TENSOR_QUANT8_ASYMM", { type: OperandType.TENSOR_QUANT8_ASYMM, scale: 0.5 }],
  ["TENSOR_QUANT8_ASYMM_SIGNED", { type: OperandType.TENSOR_QUANT8_ASYMM_SIGNED, scale: 0.5 }],
];

describe.each(types)("allocate for %s", (_type, facts) => {
  it("returns a buffer and a token for inputs, outputs and both", async () => {
    const device = await referenceDevice();
    const models = [await prepareOn(device, reluModel(facts))];
    for (const roles of [{ inputs: [role()] }, { outputs: [role()] }, { inputs: [role()], outputs: [role()] }]) {
      const { status, buffer, token } = await allocate(device, { models, ...roles });
      expect([status, buffer === null, token > 0]).toEqual([NONE, false, true]);
      buffer?.close?.();
    }
  });

  it("refuses what is wrong with the roles", async () => {
    const device = await referenceDevice();
    const model = await prepareOn(device, reluModel(facts));
    const foreign = await prepareOn(await referenceDevice(), reluModel(facts));
    const models = [model];
    const calls: [string, Call][] = [
      ["no model, no role", { models: [] }],
      ["no role", { models }],
      ["a model that is null", { models: [null], inputs: [role()] }],
      ["a model that is null", { models: [null], outputs: [role()] }],
      ["another device's model", { models: [foreign], inputs: [role()] }],
      ["a modelIndex beyond the models", { models, inputs: [role(1)] }],
      ["an ioIndex beyond the inputs", { models, inputs: [role(0, 1)] }],
      ["an ioIndex beyond the outputs", { models, outputs: [role(0, 1)] }],
      ["a frequency of 10", { models, inputs: [role(0, 0, 10)] }],
      ["a frequency of 0", { models, inputs: [role(0, 0, 0)] }],
      ["a frequency of -0.5", { models, inputs: [role(0, 0, -0.5)] }],
      ["an input role twice", { models, inputs: [role(), role()] }],
      ["an output role twice", { models, outputs: [role(), role()] }],
      ["a role twice through two indexes", { models: [model, model], inputs: [role(0), role(1)] }],
    ];
    for (const [what, call] of calls) {
      const { message, ...result } = await allocate(device, call);
      expect(result, what).toEqual({ status: INVALID_ARGUMENT, ...nothing });
      expect(message, what).toContain("allocating a buffer: ");
    }
    expect((await allocate(device, { models, inputs: [role(0, 0, 1)] })).status).toBe(NONE);
  });
});

describe("allocate for several roles", () => {
  const float = { type: OperandType.TENSOR_FLOAT32, dimensions: [2, 3] };
  const quant = { type: OperandType.TENSOR_QUANT8_ASYMM, dimensions: [2, 3], scale: 0.5, zeroPoint: 0 };
  const conflicts: [string, Model, Model][] = [
    ["type", reluModel(float), reluModel({ ...float, type: OperandType.TENSOR_FLOAT16 })],
    ["quantised type", reluModel(quant), reluModel({ ...quant, type: OperandType.TENSOR_QUANT8_ASYMM_SIGNED })],
    ["scale", reluModel(quant), reluModel({ ...quant, scale: 0.25 })],
    ["zero point", reluModel(quant), reluModel({ ...quant, zeroPoint: 1 })],
    ["rank", reluModel(float), reluModel({ ...float, dimensions: [2, 3, 1] })],
    ["dimensions", reluModel(float), reluModel({ ...float, dimensions: [2, 4] })],
  ];

  it.each(conflicts)("refuses a conflict of %s, whichever sides it is between", async (_what, first, second) => {
    const device = await referenceDevice();
    const models = [await prepareOn(device, first), await prepareOn(device, second)];
    const sides: Omit<Call, "models">[] = [
      { inputs: [role(0), role(1)] },
      { inputs: [role(0)], outputs: [role(1)] },
      { outputs: [role(0), role(1)] },
    ];
    for (const roles of sides) {
      expect(await allocate(device, { models, ...roles })).toMatchObject({ status: INVALID_ARGUMENT, ...nothing });
      const same = await allocate(device, {
        models: [elementAt(models, 0), await prepareOn(device, first)],
        ...roles,
      });
      expect(same.status).toBe(NONE);
    }
  });

  it.each([
    ["another rank", [2, 3, 1], INVALID_ARGUMENT],
    ["other dimensions", [2, 4], INVALID_ARGUMENT],
    ["the same dimensions", [2, 3], NONE],
    ["unknown dimensions", [0, 0], NONE],
    ["unknown rank", [], NONE],
  ])("answers a descriptor with %s", async (_what, dimensions, status) => {
    const device = await referenceDevice();
    const models = [await prepareOn(device, reluModel(float))];
    for (const roles of [{ inputs: [role()] }, { outputs: [role()] }]) {
      expect((await allocate(device, { models, ...roles, dimensions })).status).toBe(status);
    }
  });

  it("refuses dimensions for a scalar", async () => {
    const device = await referenceDevice();
    const models = [await prepareOn(device, addModel())];
    const inputs = [role(0, 2)];
    expect((await allocate(device, { models, inputs, dimensions: [1] })).status).toBe(INVALID_ARGUMENT);
    expect((await allocate(device, { models, inputs })).status).toBe(NONE);
  });
});

describe("tokens", () => {
  it("belong to one living buffer each; the one freed last comes next", async () => {
    const device = await referenceDevice();
    const model = await prepareOn(device, reluModel());
    const allocated = () => bufferFor(device, model, [0], []);
    const [a, b, c] = await Promise.all([allocated(), allocated(), allocated()]);
    expect(new Set([a.token, b.token, c.token]).size).toBe(3);
    a.buffer.close?.();
    c.buffer.close?.();
    c.buffer.close?.();
    const next = await bufferFor(device, model, [0], []);
    const afterNext = await bufferFor(device, model, [0], []);
    const fresh = await bufferFor(device, model, [0], []);
    expect([next.token, afterNext.token]).toEqual([c.token, a.token]);
    expect([a.token, b.token, c.token]).not.toContain(fresh.token);
  });
});

describe("a backend with memory of its own", () => {
  it("is asked for a place with type and shape, and its refusal is passed on", async () => {
    const asked: unknown[] = [];
    const device = await fakeDevice({
      capabilities,
      allocate(value) {
        asked.push(value);
        throw new Error("no more textures");
      },
    });
    const model = await prepareOn(device, reluModel({ dimensions: [0, 3] }));
    const result = await device.allocate?.({ dimensions: [] }, [model], [role()], []);
    expect(result).toMatchObject({ status: GENERAL_FAILURE, ...nothing });
    expect(result?.message).toContain("no more textures");
    expect(asked).toEqual([{ type: "TENSOR_FLOAT32", dimensions: [0, 3], scale: 0, zeroPoint: 0 }]);
  });

  it("has its place closed with the buffer, or else with the last execution", async () => {
    const events: string[] = [];
    let finish = () => {};
    const device = await fakeDevice({
      allocate: () => ({ read() {}, write() {}, close: () => events.push("closed") }),
      compile: async () => ({
        run: (_inputs, outputs) =>
          new Promise((resolve) => {
            const { dimensions } = elementAt(outputs, 0);
            finish = () => resolve({ status: NONE, outputShapes: [{ dimensions, isSufficient: true }] });
          }),
        close() {},
      }),
    });
    const model = await prepareOn(device, reluModel());
    const { allocate } = device;
    if (allocate === undefined) throw new Error("the device has no allocate");
    const input = await bufferFor({ allocate }, model, [0], []);
    const output = await bufferFor({ allocate }, model, [], [0]);
    const location = (poolIndex: number) => ({ poolIndex, offset: 0, length: 0 });
    await input.buffer.copyFrom(
      { name: "ashmem", size: 24, handle: { kind: "buffer", buffer: new ArrayBuffer(24), byteOffset: 0 } },
      [],
    );
    const running = model.execute({
      inputs: [{ hasNoValue: false, location: location(0), dimensions: [] }],
      outputs: [{ hasNoValue: false, location: location(1), dimensions: [] }],
      pools: [
        { kind: "token", token: input.token },
        { kind: "token", token: output.token },
      ],
    });
    output.buffer.close?.();
    expect(events).toEqual([]);
    finish();
    expect((await running).status).toBe(NONE);
    expect(events).toEqual(["closed"]);
    input.buffer.close?.();
    expect(events).toEqual(["closed", "closed"]);
  });
});
