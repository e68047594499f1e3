/** Memory of engines that throw, return wrong answers or never answer: how a device handles it. */
import type { BackendBuffer, BackendSession, Executable, RunResult } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type Model } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { compiling, never, open, settle, throws } from "../device/guarded-device.test-helper.ts";
import { bufferFor, floats, prepareOn, reluModel, requestFor } from "../domains/relu-model.test-helper.ts";
import { allocateMemory } from "../memory/memory.ts";

const { NONE, GENERAL_FAILURE, DEVICE_UNAVAILABLE } = ErrorStatus;
const { MISSED_DEADLINE_TRANSIENT, RESOURCE_EXHAUSTED_TRANSIENT, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

describe("a place in the memory of an engine", () => {
  const place = (change: Partial<BackendBuffer>): BackendBuffer => ({ read() {}, write() {}, close() {}, ...change });
  const withPlaces = (change: Partial<BackendBuffer>) => open({ allocate: () => place(change) });
  const relu = (): Model => reluModel();

  it.each<[string, unknown]>([
    ["throws", throws],
    ["gives null", () => null],
    ["returns an invalid place", () => ({ read() {} })],
  ])("cannot be had if allocating %s", async (_what, allocate) => {
    const { device } = await open({ allocate: allocate as NonNullable<BackendSession["allocate"]> });
    const model = await prepareOn(device, relu());
    const roles = [{ modelIndex: 0, ioIndex: 0, frequency: 1 }];
    const result = await device.allocate({ dimensions: [] }, [model], roles, []);
    expect(result).toMatchObject({ status: GENERAL_FAILURE, buffer: null, token: 0 });
    expect(result.message).toContain("24 bytes cannot be allocated: ");
  });

  it("that throws or rejects in read and write leads to a status, and the buffer has no value", async () => {
    for (const fault of [throws, () => Promise.reject(new Error("on fire"))]) {
      const { device, errors } = await withPlaces({ write: fault });
      const model = await prepareOn(device, relu());
      const { buffer } = await bufferFor(device, model, [0], []);
      await expect(buffer.copyFrom(floats(1, 2, 3, 4, 5, 6), [])).resolves.toEqual({
        status: GENERAL_FAILURE,
        message: "copying to a device buffer: on fire",
      });
      expect((await buffer.copyTo(allocateMemory(24))).message).toContain("has no value");
      expect(errors).toHaveLength(1);
      const reading = await withPlaces({ read: fault });
      const other = await bufferFor(reading.device, await prepareOn(reading.device, relu()), [0], []);
      await other.buffer.copyFrom(floats(1, 2, 3, 4, 5, 6), []);
      await expect(other.buffer.copyTo(allocateMemory(24))).resolves.toEqual({
        status: GENERAL_FAILURE,
        message: "copying from a device buffer: on fire",
      });
    }
  });

  it("that throws in close does so to the log alone", async () => {
    const { device, errors } = await withPlaces({ close: throws });
    const { buffer } = await bufferFor(device, await prepareOn(device, relu()), [0], []);
    buffer.close?.();
    expect(errors).toEqual(["nnhal-fake: closing a device buffer: the backend threw: on fire"]);
  });

  it("whose read does not end is given up on when the client closes", async () => {
    const { device, clock } = await withPlaces({ read: () => never });
    const { buffer } = await bufferFor(device, await prepareOn(device, relu()), [0], []);
    await buffer.copyFrom(floats(1, 2, 3, 4, 5, 6), []);
    const copying = buffer.copyTo(allocateMemory(24));
    const closing = device.close();
    await settle();
    clock.advance(10n ** 10n);
    await settle();
    clock.advance(10n ** 10n);
    await closing;
    await expect(copying).resolves.toMatchObject({ status: DEVICE_UNAVAILABLE });
  });

  it("that a run still writes after its deadline is not used until the run ends", async () => {
    let end: () => void = () => {};
    const outputShapes = [{ dimensions: [2, 3], isSufficient: true }];
    const run = () => new Promise<RunResult>((resolve) => (end = () => resolve({ status: NONE, outputShapes })));
    const { device, clock } = await open({ ...compiling({ run }), allocate: () => place({}) });
    const model = await prepareOn(device, relu());
    const { buffer, token } = await bufferFor(device, model, [], [0]);
    const request = requestFor([floats(1, 2, 3, 4, 5, 6)], [token]);
    const executing = model.execute(request, { deadline: 1100n });
    await settle();
    clock.advance(100n);
    expect((await executing).status).toBe(MISSED_DEADLINE_TRANSIENT);
    const refused = { status: GENERAL_FAILURE, message: expect.stringContaining("that was given up on") };
    await expect(buffer.copyFrom(floats(1, 2, 3, 4, 5, 6), [])).resolves.toEqual(refused);
    await expect(model.execute(request)).resolves.toMatchObject(refused);
    end();
    await settle();
    await expect(buffer.copyFrom(floats(1, 2, 3, 4, 5, 6), [])).resolves.toEqual({ status: NONE });
  });
});

describe("the memory of buffers", () => {
  it("is bounded for each client", async () => {
    const { device } = await open({}, { limits: { bufferBytes: 60 } });
    const model = await prepareOn(device, reluModel());
    const roles = [{ modelIndex: 0, ioIndex: 0, frequency: 1 }];
    const ask = () => device.allocate({ dimensions: [] }, [model], roles, []);
    const [first, second, third] = [await ask(), await ask(), await ask()];
    expect([first.status, second.status]).toEqual([NONE, NONE]);
    expect(third).toMatchObject({ status: GENERAL_FAILURE, buffer: null, token: 0 });
    expect(third.message).toContain("24 bytes more than the 48 of the client's other buffers exceed its share of 60");
    const other = device.connect();
    const others = await prepareOn(other, reluModel());
    expect((await other.allocate({ dimensions: [] }, [others], roles, [])).status).toBe(NONE);
    second.buffer?.close?.();
    expect((await ask()).status).toBe(NONE);
  });

  it("that an execution needs beyond it is RESOURCE_EXHAUSTED_TRANSIENT", async () => {
    const run: Executable["run"] = (_inputs, outputs) => {
      const isSufficient = elementAt(outputs, 0).bytes.length >= 36;
      const status = isSufficient ? NONE : OUTPUT_INSUFFICIENT_SIZE;
      return { status, outputShapes: [{ dimensions: [3, 3], isSufficient }] };
    };
    for (const [bufferBytes, status] of [
      [36, NONE],
      [35, RESOURCE_EXHAUSTED_TRANSIENT],
    ] as const) {
      const { device } = await open(compiling({ run }), { limits: { bufferBytes } });
      const model = await prepareOn(device, reluModel({ dimensions: [0, 3] }));
      const { token } = await bufferFor(device, model, [], [0]);
      const input = { at: floats(1, 2, 3, 4, 5, 6, 7, 8, 9), dimensions: [3, 3] };
      expect((await model.execute(requestFor([input], [token]))).status).toBe(status);
    }
  });
});
