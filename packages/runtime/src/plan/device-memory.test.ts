/**
 * A value that only one device uses lies in its own memory, and is not read back in between.
 */
import { allocateMemory, memoryOf } from "@nnhal/driver-core/memory";
import { type Device, ErrorStatus, type PreparedModel, type Request, type RequestMemoryPool } from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { beforeEach, describe, expect, it } from "vitest";
import { Model } from "../model.ts";
import { addOperands, float32, numbersAt, openReference } from "../models.test-helper.ts";
import { allocateFor } from "./device-memory.ts";
import type { Divided, DivideOptions } from "./divide.ts";
import { bridge, divideGuarded, makeDoublingLoop, requestOf } from "./divided.test-helper.ts";
import { type Calls, makeTaking, openMemoryDevice } from "./memory-backend.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

let npu: Device & Required<Pick<Device, "allocate">>;
let calls: Calls;
let reference: Device;
beforeEach(async () => {
  const opened = await openMemoryDevice("npu", ["FLOOR", "NEG", "MAXIMUM", "LESS", "ADD"]);
  npu = opened.device;
  calls = opened.calls;
  reference = await openReference();
});

/** Only the CPU supports ABS. */
const cpuDevice = () => makeTaking(reference, ["ABS", "WHILE"]);

async function divide(model: Model, devices: readonly Device[], options: DivideOptions = {}): Promise<Divided> {
  const divided = await divideGuarded(model.hal, devices, options);
  if (!("plan" in divided)) throw new Error(divided.message);
  return divided;
}

/** The result of an execution. */
async function compute(prepared: PreparedModel, input: readonly number[] | number, length: number) {
  const request = requestOf(input, { room: length });
  const { status, message } = await prepared.execute(request);
  if (status !== NONE) throw new Error(message);
  return [...numbersAt(request, 1, length)];
}

/** A device whose prepared models fail, from the given one on; they remain its own models, so that it allocates buffers for them. */
function failingFrom(device: Device, first: number): Device {
  let prepared = 0;
  return {
    ...device,
    async prepareModel(model, options) {
      const result = await device.prepareModel(model, options);
      const { preparedModel } = result;
      if (preparedModel === null || ++prepared < first) return result;
      const failure = { status: GENERAL_FAILURE, message: "broken", outputShapes: [] };
      preparedModel.execute = async () => ({ ...failure, timing: { timeOnDevice: 0n, timeInDriver: 0n } });
      return result;
    },
  };
}

const count = (what: string) => calls.filter((call) => call === what).length;

describe("a temporary between two steps of one device", () => {
  it("lies in the device's memory, and is neither read back nor written from outside", async () => {
    const { plan, preparedModel } = await divide(bridge(), [npu, cpuDevice()]);
    expect(plan.steps).toHaveLength(3);
    // Nothing is allocated before the first execution.
    expect(calls).toEqual([]);
    expect(await compute(preparedModel, [-1.5, 2.5], 2)).toEqual([1.5, 2.5]);
    // A value that the CPU writes or reads lies in shared memory.
    expect(calls).toEqual(["allocate", "run", "run"]);
    expect(await compute(preparedModel, [3.5, -4], 2)).toEqual([3.5, 4]);
    expect(calls).toEqual(["allocate", "run", "run", "run", "run"]);
    preparedModel.close();
    expect(calls.at(-1)).toBe("close");
  });

  it("has a place for each run", async () => {
    const { preparedModel } = await divide(bridge(), [npu, cpuDevice()]);
    const inputs = Array.from({ length: 8 }, (_, index) => [index + 0.5, -index]);
    const results = await Promise.all(inputs.map((input) => compute(preparedModel, input, 2)));
    expect(results).toEqual(inputs.map(([a = 0, b = 0]) => [a, Math.abs(b)]));
    // Four are kept for later runs.
    expect(count("close")).toBe(4);
    preparedModel.close();
    expect([count("read"), count("write"), count("allocate"), count("close")]).toEqual([0, 0, 8, 8]);
  });

  it.each([
    ["at first", 0],
    ["later", 1],
  ])("lies in plain memory if the device has no room %s", async (_when, room) => {
    let allocations = 0;
    const full: Device = {
      ...npu,
      async allocate(...request) {
        if (allocations++ < room) return npu.allocate(...request);
        return { status: GENERAL_FAILURE, message: "no room", buffer: null, token: 0 };
      },
    };
    const { preparedModel } = await divide(bridge(), [full, cpuDevice()]);
    const results = await Promise.all([1, 2].map((value) => compute(preparedModel, [value, value], 2)));
    expect(results).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(count("allocate")).toBe(room);
  });

  it("lies in plain memory if the device breaks its promise not to reject", async () => {
    const broken: Device = { ...npu, allocate: () => Promise.reject(new Error("broken")) };
    const { preparedModel } = await divide(bridge(), [broken, cpuDevice()]);
    expect(await compute(preparedModel, [-1.5, 2.5], 2)).toEqual([1.5, 2.5]);
  });

  it("lies in plain memory if the device has none of its own", async () => {
    let buffers = 0;
    const { allocate } = reference;
    if (allocate === undefined) throw new Error("the reference device has no allocate");
    const counting: Device = {
      ...makeTaking(reference, ["FLOOR", "NEG", "MAXIMUM"]),
      name: "plain",
      async allocate(...request) {
        const result = await allocate(...request);
        if (result.buffer !== null) buffers++;
        const { buffer } = result;
        const close = () => {
          buffers--;
          buffer?.close?.();
        };
        return { ...result, buffer: buffer && { ...buffer, close } };
      },
    };
    const { preparedModel } = await divide(bridge(), [counting, cpuDevice()]);
    expect(await compute(preparedModel, [-1.5, 2.5], 2)).toEqual([1.5, 2.5]);
    expect(buffers).toBe(0);
  });

  it("is copied if its reader fails and runs again on the CPU", async () => {
    const failing = failingFrom(npu, 2);
    const told: string[] = [];
    const { preparedModel } = await divide(bridge(), [failing, reference], {
      cpu: reference,
      onFallback: (message) => told.push(message),
    });
    expect(await compute(preparedModel, [-1.5, 2.5], 2)).toEqual([1.5, 2.5]);
    expect(told).toEqual(["the step of operations 4 runs again on nnhal-reference"]);
    expect(calls.slice(0, 3)).toEqual(["allocate", "run", "read"]);
  });
});

describe("the state of an interpreted loop", () => {
  it("stays on the device of condition and body from iteration to iteration", async () => {
    const { plan, preparedModel } = await divide(makeDoublingLoop(1000), [npu, reference], { cpu: reference });
    expect(plan.steps).toMatchObject([{ kind: "while" }]);
    expect(await compute(preparedModel, [1], 1)).toEqual([1024]);
    // Eleven conditions and ten iterations; only the result is read.
    expect([count("allocate"), count("run"), count("read"), count("write")]).toEqual([2, 21, 1, 0]);
    expect(await compute(preparedModel, [3], 1)).toEqual([1536]);
    expect([count("allocate"), count("read")]).toEqual([2, 2]);
    // No iteration: the initial value is the result.
    expect(await compute(preparedModel, [2000], 1)).toEqual([2000]);
    expect(count("read")).toBe(2);
    preparedModel.close();
    expect(count("close")).toBe(2);
  });

  it("lies in plain memory if condition and body are on different devices", async () => {
    const lessOnly = { ...makeTaking(npu, ["LESS"]), name: "less" };
    const addOnly = { ...makeTaking(npu, ["ADD"]), name: "add" };
    const { preparedModel } = await divide(makeDoublingLoop(1000), [lessOnly, addOnly, reference], { cpu: reference });
    expect(await compute(preparedModel, [1], 1)).toEqual([1024]);
    expect([count("allocate"), count("run")]).toEqual([0, 21]);
  });
});

describe("a caller's device memory", () => {
  /** Supports whole models, with control flow. */
  const wholly: Pick<Device, "getSupportedOperations"> = {
    getSupportedOperations: ({ main: { operations } }) => ({
      status: NONE,
      supported: operations.map(() => true),
      reasons: operations.map(() => undefined),
    }),
  };

  async function bufferFor({ rolesOf }: Divided, side: "input" | "output") {
    const roles = rolesOf(side, 0);
    if (roles === null) throw new Error("the runtime itself uses it");
    const { buffer, token, message } = await allocateFor(
      { dimensions: [] },
      roles.map((role) => ({ role, frequency: 1 })),
      silentLogger,
    );
    if (buffer === null) throw new Error(message);
    return { buffer, token };
  }

  it("goes to the steps that use it, if one device has them all", async () => {
    const divided = await divide(bridge(), [npu, cpuDevice()]);
    expect(divided.rolesOf("input", 0)).toMatchObject([{ device: { own: npu }, side: "input", index: 0 }]);
    const input = await bufferFor(divided, "input");
    const output = await bufferFor(divided, "output");
    await input.buffer.copyFrom(memoryOf(new Uint8Array(Float32Array.of(-1.5, 2.5).buffer)), []);
    const { status } = await divided.preparedModel.execute(requestOf(input.token, output.token));
    expect(status).toBe(NONE);
    const result = new Float32Array(2);
    expect(await output.buffer.copyTo(memoryOf(new Uint8Array(result.buffer)))).toEqual({ status: NONE });
    expect([...result]).toEqual([1.5, 2.5]);
    expect([count("read"), count("write")]).toEqual([1, 1]);
  });

  it("is copied if the whole model runs again on the CPU", async () => {
    const told: string[] = [];
    const onFallback = (message: string) => told.push(message);
    const options = { cpu: reference, onFallback };
    const divided = await divide(makeDoublingLoop(1000), [failingFrom({ ...npu, ...wholly }, 1), reference], options);
    expect(divided.plan.steps).toMatchObject([{ kind: "execution", device: 0 }]);
    const input = await bufferFor(divided, "input");
    const output = await bufferFor(divided, "output");
    await input.buffer.copyFrom(memoryOf(new Uint8Array(Float32Array.of(3).buffer)), []);
    expect((await divided.preparedModel.execute(requestOf(input.token, output.token))).status).toBe(NONE);
    const result = new Float32Array(1);
    await output.buffer.copyTo(memoryOf(new Uint8Array(result.buffer)));
    expect([...result]).toEqual([1536]);
    expect(told).toEqual(["the step of operations 1 runs again on nnhal-reference"]);
    // The runtime has no buffer for a token that it did not return.
    const unknown = await divided.preparedModel.execute(requestOf(99, { room: 1 }));
    expect(unknown).toMatchObject({ status: GENERAL_FAILURE, message: "broken" });
  });

  it("has no value after an execution that failed in a later step", async () => {
    const model = new Model();
    const [input, output, between, last] = addOperands(model, float32(2), float32(2), float32(2), float32(2));
    model.addOperation("NEG", [input], [output]);
    model.addOperation("FLOOR", [input], [between]);
    model.addOperation("ABS", [between], [last]);
    model.identifyInputsAndOutputs([input], [output, last]);
    model.finish();
    const divided = await divide(model, [npu, cpuDevice()]);
    expect(divided.plan.steps).toHaveLength(2);
    const { buffer, token } = await bufferFor(divided, "output");
    const roomFor = (size: number): Request => {
      const first = requestOf([1, -2], token);
      const argument = { hasNoValue: false, location: { poolIndex: 2, offset: 0, length: size }, dimensions: [] };
      const pool: RequestMemoryPool = { kind: "memory", memory: allocateMemory(size) };
      return { ...first, outputs: [...first.outputs, argument], pools: [...first.pools, pool] };
    };
    const hasValue = async () => (await buffer.copyTo(allocateMemory(8))).status === NONE;
    expect((await divided.preparedModel.execute(roomFor(8))).status).toBe(NONE);
    expect(await hasValue()).toBe(true);
    expect((await divided.preparedModel.execute(roomFor(4))).status).toBe(ErrorStatus.OUTPUT_INSUFFICIENT_SIZE);
    expect(await hasValue()).toBe(false);
  });

  it("is refused if several devices or the runtime itself use the value", async () => {
    const addOnly = { ...makeTaking(npu, ["FLOOR"]), name: "floor" };
    const several = await divide(bridge(), [
      addOnly,
      { ...makeTaking(npu, ["NEG", "MAXIMUM"]), name: "rest" },
      cpuDevice(),
    ]);
    const roles = several.rolesOf("input", 0) ?? [];
    expect(new Set(roles.map(({ device }) => device.name))).toEqual(new Set(["floor", "rest"]));
    const weighted = roles.map((role) => ({ role, frequency: 1 }));
    expect(await allocateFor({ dimensions: [] }, weighted, silentLogger)).toMatchObject({
      status: GENERAL_FAILURE,
      buffer: null,
    });
    const refused = await several.preparedModel.execute(requestOf(1, { room: 2 }));
    expect(refused).toMatchObject({ status: GENERAL_FAILURE, outputShapes: [] });
    expect(refused.message).toContain("request pool 0 is the memory of one device");

    const loop = await divide(makeDoublingLoop(10), [npu, reference], { cpu: reference });
    expect([loop.rolesOf("input", 0), loop.rolesOf("output", 0)]).toEqual([null, null]);
    expect((await loop.preparedModel.execute(requestOf(1, { room: 1 }))).status).toBe(GENERAL_FAILURE);
  });

  it("is refused as two outputs, in different steps", async () => {
    const model = new Model();
    const [input, first, between, second] = addOperands(model, float32(2), float32(2), float32(2), float32(2));
    model.addOperation("NEG", [input], [first]);
    model.addOperation("ABS", [input], [between]);
    model.addOperation("FLOOR", [between], [second]);
    model.identifyInputsAndOutputs([input], [first, second]);
    model.finish();
    const divided = await divide(model, [npu, cpuDevice()]);
    const roles = [...(divided.rolesOf("output", 0) ?? []), ...(divided.rolesOf("output", 1) ?? [])];
    const weighted = roles.map((role) => ({ role, frequency: 1 }));
    const { token } = await allocateFor({ dimensions: [] }, weighted, silentLogger);
    const request = requestOf([1, 2], token);
    const twice = { ...request, outputs: [...request.outputs, ...request.outputs] };
    expect(await divided.preparedModel.execute(twice)).toMatchObject({
      status: INVALID_ARGUMENT,
      message: "output 1 and another argument are one device buffer: an output needs its own",
    });
  });

  it("is refused as an input and an output at once, in different steps", async () => {
    const divided = await divide(bridge(), [npu, cpuDevice()]);
    const roles = [...(divided.rolesOf("input", 0) ?? []), ...(divided.rolesOf("output", 0) ?? [])];
    const { buffer, token } = await allocateFor(
      { dimensions: [] },
      roles.map((role) => ({ role, frequency: 1 })),
      silentLogger,
    );
    await buffer?.copyFrom(memoryOf(new Uint8Array(8)), []);
    const { status, message } = await divided.preparedModel.execute(requestOf(token, token));
    expect(status).toBe(INVALID_ARGUMENT);
    expect(message).toContain("an output needs its own");
    expect(await compute(divided.preparedModel, token, 2)).toEqual([0, 0]);
  });
});
