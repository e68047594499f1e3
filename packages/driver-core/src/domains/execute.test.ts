import type { BackendBuffer } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type IBuffer, type PreparedModel } from "@nnhal/types";
import { beforeEach, describe, expect, it } from "vitest";
import { fakeDevice } from "../device/fake-backend.test-helper.ts";
import { allocateMemory } from "../memory/memory.ts";
import {
  bufferFor,
  executions,
  floats,
  floatsIn,
  type Place,
  pairModel,
  prepareOn,
  referenceDevice,
  reluModel,
  requestFor,
} from "./relu-model.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;
const emptyMemory = () => allocateMemory(24);
const values = [1, -2, 3, -4, 5, -6];
const rectified = [1, 0, 3, 0, 5, 0];

async function valueIn(buffer: IBuffer, length = 6): Promise<number[]> {
  const memory = allocateMemory(4 * length);
  const { status, message } = await buffer.copyTo(memory);
  if (status !== NONE) throw new Error(`copyTo: ${message}`);
  return [...floatsIn(memory)];
}

describe.each(Object.entries(executions))("%s on device memory", (_how, execute) => {
  let device: Awaited<ReturnType<typeof referenceDevice>>;
  let model: PreparedModel;
  beforeEach(async () => {
    device = await referenceDevice();
    model = await prepareOn(device, reluModel());
  });

  const run = (inputs: readonly Place[], outputs: readonly Place[], on: PreparedModel = model) =>
    execute(on, requestFor(inputs, outputs));
  const refused = { status: INVALID_ARGUMENT, isClean: true };
  const failed = { status: GENERAL_FAILURE, isClean: true };
  const done = { status: NONE, isClean: true };

  it("reads inputs from it and writes outputs to it", async () => {
    const input = await bufferFor(device, model, [0], []);
    const output = await bufferFor(device, model, [], [0]);
    await input.buffer.copyFrom(floats(...values), []);
    expect(await run([input.token], [output.token])).toEqual(done);
    expect(await valueIn(output.buffer)).toEqual(rectified);
  });

  it("refuses tokens that no buffer has: 0, unknown and freed ones", async () => {
    const { buffer, token } = await bufferFor(device, model, [0], [0]);
    await buffer.copyFrom(floats(...values), []);
    expect(await run([token], [emptyMemory()])).toEqual(done);
    buffer.close?.();
    for (const wrong of [0, 100, token]) {
      expect(await run([wrong], [emptyMemory()])).toEqual(refused);
      expect(await run([floats(...values)], [wrong])).toEqual(refused);
    }
  });

  it("refuses a buffer of another prepared model", async () => {
    const other = await prepareOn(device, reluModel());
    const { buffer, token } = await bufferFor(device, other, [0], [0]);
    await buffer.copyFrom(floats(...values), []);
    expect(await run([token], [emptyMemory()])).toEqual(refused);
    expect(await run([floats(...values)], [token])).toEqual(refused);
    expect(await run([token], [emptyMemory()], other)).toEqual(done);
  });

  it("refuses a buffer for another input or output", async () => {
    const pair = await prepareOn(device, pairModel());
    const input = await bufferFor(device, pair, [0], []);
    const output = await bufferFor(device, pair, [], [0]);
    await input.buffer.copyFrom(floats(...values), []);
    const x = floats(...values);
    expect(await run([x, input.token], [emptyMemory(), emptyMemory()], pair)).toEqual(refused);
    expect(await run([x, x], [emptyMemory(), output.token], pair)).toEqual(refused);
    expect(await run([input.token, x], [output.token, emptyMemory()], pair)).toEqual(done);
  });

  it("refuses a buffer for inputs as an output, and the other way round", async () => {
    const input = await bufferFor(device, model, [0], []);
    const output = await bufferFor(device, model, [], [0]);
    await output.buffer.copyFrom(floats(...values), []);
    expect(await run([floats(...values)], [input.token])).toEqual(refused);
    expect(await run([output.token], [emptyMemory()])).toEqual(refused);
  });

  it("fails on an input without a value, and succeeds after an execution wrote it", async () => {
    const { token } = await bufferFor(device, model, [0], [0]);
    expect(await run([token], [emptyMemory()])).toEqual(failed);
    expect(await run([floats(...values)], [token])).toEqual(done);
    const memory = emptyMemory();
    expect(await run([token], [memory])).toEqual(done);
    expect([...floatsIn(memory)]).toEqual(rectified);
  });

  it("lets one buffer be several inputs, but nothing beside an output", async () => {
    const pair = await prepareOn(device, pairModel());
    const { buffer, token } = await bufferFor(device, pair, [0, 1], [0, 1]);
    await buffer.copyFrom(floats(...values), []);
    const x = floats(...values);
    expect(await run([token, x], [token, emptyMemory()], pair)).toEqual(refused);
    expect(await run([x, x], [token, token], pair)).toEqual(refused);
    expect(await valueIn(buffer)).toEqual(values);
    const memories = [emptyMemory(), emptyMemory()];
    expect(await run([token, token], memories, pair)).toEqual(done);
    expect(memories.map((memory) => [...floatsIn(memory)])).toEqual([rectified, rectified]);
  });

  it("refuses a place within a buffer", async () => {
    const { buffer, token } = await bufferFor(device, model, [0], []);
    await buffer.copyFrom(floats(...values), []);
    const request = requestFor([token], [emptyMemory()]);
    const input = elementAt(request.inputs, 0);
    for (const location of [
      { poolIndex: 0, offset: 4, length: 0 },
      { poolIndex: 0, offset: 0, length: 24 },
    ]) {
      expect(await execute(model, { ...request, inputs: [{ ...input, location }] })).toEqual(refused);
    }
    expect(await execute(model, request)).toEqual(done);
  });
});

describe("device memory of open dimensions", () => {
  it("has the shape of each output, and input dimensions must agree with the last one", async () => {
    const device = await referenceDevice();
    const model = await prepareOn(device, reluModel({ dimensions: [0, 3] }));
    const { buffer, token } = await bufferFor(device, model, [0], [0]);
    const execute = (input: Place, output: Place) => model.execute(requestFor([input], [output]));

    for (const rows of [1, 4, 2]) {
      const at = floats(...Array.from({ length: 3 * rows }, (_, index) => index));
      const result = await execute({ at, dimensions: [rows, 3] }, token);
      expect(result).toMatchObject({ status: NONE, outputShapes: [{ dimensions: [rows, 3], isSufficient: true }] });
      expect(await valueIn(buffer, 3 * rows)).toEqual([...floatsIn(at)]);
    }
    const memory = emptyMemory();
    expect((await execute({ at: token, dimensions: [4, 3] }, memory)).status).toBe(INVALID_ARGUMENT);
    expect((await execute({ at: token, dimensions: [2, 3] }, memory)).status).toBe(NONE);
    expect([...floatsIn(memory)]).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("refuses dimensions that contradict those it was allocated with", async () => {
    const device = await referenceDevice();
    const model = await prepareOn(device, reluModel({ dimensions: [0, 3] }));
    const { buffer, token } = await bufferFor(device, model, [0], [0], [2, 3]);
    await buffer.copyFrom(floats(...values), []);
    const at = allocateMemory(36);
    const execute = (input: Place, output: Place) => model.execute(requestFor([input], [output]));
    expect((await execute({ at: token, dimensions: [3, 3] }, at)).status).toBe(INVALID_ARGUMENT);
    const asOutput = await execute({ at, dimensions: [3, 3] }, { at: token, dimensions: [3, 3] });
    expect(asOutput.status).toBe(INVALID_ARGUMENT);
    expect(await valueIn(buffer)).toEqual(values);
    // Only the execution finds out that the output has three rows; it fails, and so there is no value any more.
    const discovered = await execute({ at, dimensions: [3, 3] }, token);
    expect(discovered).toMatchObject({ status: GENERAL_FAILURE, outputShapes: [] });
    expect((await buffer.copyTo(emptyMemory())).status).toBe(GENERAL_FAILURE);
  });
});

describe("the value of a buffer", () => {
  it("is gone after a failed execution, and after one that came too late", async () => {
    let status: ErrorStatus = NONE;
    let isSufficient = true;
    let time = 0n;
    const device = await fakeDevice(
      {
        compile: async () => ({
          run: (_inputs, outputs) => {
            const { bytes, dimensions } = elementAt(outputs, 0);
            bytes.fill(7);
            return { status, outputShapes: [{ dimensions, isSufficient }] };
          },
          close() {},
        }),
      },
      { now: () => time },
    );
    const { allocate } = device;
    if (allocate === undefined) throw new Error("the device has no allocate");
    const model = await prepareOn(device, reluModel());
    const { buffer, token } = await bufferFor({ allocate }, model, [0], [0]);
    const execute = (deadline?: bigint) =>
      model.execute(requestFor([emptyMemory()], [token]), deadline === undefined ? {} : { deadline });
    const hasValue = async () => (await buffer.copyTo(emptyMemory())).status === NONE;

    expect([(await execute()).status, await hasValue()]).toEqual([NONE, true]);
    status = GENERAL_FAILURE;
    expect([(await execute()).status, await hasValue()]).toEqual([GENERAL_FAILURE, false]);
    status = NONE;
    expect([(await execute()).status, await hasValue()]).toEqual([NONE, true]);
    time = 10n;
    expect([(await execute(10n)).status, await hasValue()]).toEqual([ErrorStatus.MISSED_DEADLINE_PERSISTENT, false]);
    status = NONE;
    expect([(await execute()).status, await hasValue()]).toEqual([NONE, true]);
    status = ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
    isSufficient = false;
    expect([(await execute()).status, await hasValue()]).toEqual([GENERAL_FAILURE, false]);
  });

  it("is read by several executions at once", async () => {
    const device = await referenceDevice();
    const model = await prepareOn(device, reluModel());
    const { buffer, token } = await bufferFor(device, model, [0], []);
    await buffer.copyFrom(floats(...values), []);
    const memories = Array.from({ length: 20 }, emptyMemory);
    const results = await Promise.all(memories.map((memory) => model.execute(requestFor([token], [memory]))));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([NONE]));
    for (const memory of memories) expect([...floatsIn(memory)]).toEqual(rectified);
  });

  it("stays with a backend that has memory of its own: a state tensor is not read back between executions", async () => {
    const calls: string[] = [];
    /** The backend's private state: one number for each place. */
    const kept = new Map<BackendBuffer, number>();
    const device = await fakeDevice({
      allocate() {
        const place: BackendBuffer = {
          read(bytes) {
            calls.push("read");
            new Float32Array(bytes.buffer, bytes.byteOffset, 1)[0] = kept.get(place) ?? Number.NaN;
          },
          write(bytes) {
            calls.push("write");
            kept.set(place, elementAt(new Float32Array(bytes.buffer, bytes.byteOffset, 1), 0));
          },
          close: () => calls.push("close"),
        };
        return place;
      },
      // Adds one to its state.
      compile: async () => ({
        run([input], [output]) {
          calls.push("run");
          if (input?.buffer === undefined || output?.buffer === undefined) throw new Error("the state came in bytes");
          expect([input.bytes.length, output.bytes.length]).toEqual([0, 0]);
          kept.set(output.buffer, (kept.get(input.buffer) ?? 0) + 1);
          return { status: NONE, outputShapes: [{ dimensions: [1], isSufficient: true }] };
        },
        close() {},
      }),
    });
    const { allocate } = device;
    if (allocate === undefined) throw new Error("the device has no allocate");
    const model = await prepareOn(device, reluModel({ dimensions: [1] }));
    const states = [await bufferFor({ allocate }, model, [0], [0]), await bufferFor({ allocate }, model, [0], [0])];
    await elementAt(states, 0).buffer.copyFrom(floats(40), []);
    for (const turn of [0, 1, 0]) {
      const { status } = await model.execute(
        requestFor([elementAt(states, turn).token], [elementAt(states, 1 - turn).token]),
      );
      expect(status).toBe(NONE);
    }
    expect(calls).toEqual(["write", "run", "run", "run"]);
    expect(await valueIn(elementAt(states, 1).buffer, 1)).toEqual([43]);
    expect(calls.at(-1)).toBe("read");
  });
});
