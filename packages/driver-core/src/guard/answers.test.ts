import { ErrorStatus, type Outcome } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it, vi } from "vitest";
import { settleAll } from "../versions/versions.test-helper.ts";
import { readAllocation, readFencedResult, readTiming } from "./answers.ts";
import { untimedGuard } from "./guard.ts";

const { NONE, GENERAL_FAILURE, DEVICE_UNAVAILABLE } = ErrorStatus;
const ok = { status: NONE } as const;
const busy = { status: DEVICE_UNAVAILABLE, message: "busy" };
const guard = untimedGuard("it");
const breakIt = (): never => {
  throw new Error("planted");
};

describe("readAllocation", () => {
  const buffer = { copyTo: async (): Promise<Outcome> => ok, copyFrom: async (): Promise<Outcome> => busy };
  const memory = { name: "ashmem", size: 0, handle: null } as const;

  it("guards the buffer", async () => {
    const read = readAllocation({ ...ok, buffer, token: 1, inHostMemory: true }, guard);
    expect(read).toMatchObject({ ...ok, token: 1, inHostMemory: true });
    expect([await read.buffer?.copyTo(memory), await read.buffer?.copyFrom(memory, [])]).toEqual([ok, busy]);
    const faulty = readAllocation({ ...ok, buffer: { ...buffer, copyTo: breakIt }, token: 1 }, guard);
    expect(await faulty.buffer?.copyTo(memory)).toEqual({
      status: GENERAL_FAILURE,
      message: "it: copyTo threw: planted",
    });
  });

  it("of a refusal has none", () => {
    expect(readAllocation({ ...busy, buffer, token: 1 }, guard)).toEqual({ ...busy, buffer: null, token: 0 });
  });

  it.each([undefined, 0, -1, 0.5, "1", 2 ** 53])("refuses the token %s, and closes the buffer", async (token) => {
    const close = vi.fn();
    expect(() => readAllocation({ ...ok, buffer: { ...buffer, close }, token }, guard)).toThrow(
      "answered NONE: expected a token above 0, got",
    );
    await settleAll();
    expect(close).toHaveBeenCalledOnce();
  });

  it.each([undefined, null, {}, { copyTo: () => {} }])("refuses the buffer %j", (wrong) => {
    expect(() => readAllocation({ ...ok, buffer: wrong, token: 1 }, guard)).toThrow("without a buffer");
  });
});

describe("readFencedResult", () => {
  const callback = { getExecutionInfo: () => ({ ...ok, timingLaunched: notMeasured, timingFenced: notMeasured }) };
  const syncFence = { state: "ACTIVE", wait: async () => "SIGNALED" };

  it("guards the fence and the callback", async () => {
    const read = readFencedResult({ ...ok, syncFence, callback }, guard);
    expect(await read.syncFence?.wait()).toBe("SIGNALED");
    expect(await read.callback?.getExecutionInfo()).toEqual(callback.getExecutionInfo());
    const faulty = { ...ok, syncFence: { state: "ACTIVE", wait: breakIt }, callback: { getExecutionInfo: breakIt } };
    const guarded = readFencedResult(faulty, guard);
    expect(await guarded.syncFence?.wait()).toBe("UNKNOWN");
    expect(await guarded.callback?.getExecutionInfo()).toMatchObject({
      status: GENERAL_FAILURE,
      message: "it: getExecutionInfo threw: planted",
      timingLaunched: notMeasured,
    });
  });

  it("may lack the fence, but not the callback", () => {
    expect(readFencedResult({ ...ok, callback }, guard).syncFence).toBeNull();
    expect(() => readFencedResult({ ...ok, syncFence }, guard)).toThrow("answered NONE without a callback");
    expect(() => readFencedResult({ ...ok, syncFence: 1, callback }, guard)).toThrow("answered 1 as a sync fence");
  });
});

describe("readTiming", () => {
  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["no fields", {}],
    ["one duration", { timeOnDevice: 1n }],
    ["a number", { timeOnDevice: 1, timeInDriver: 2n }],
    ["a negative duration", { timeOnDevice: 1n, timeInDriver: -1n }],
  ])("of %s is unknown", (_, value) => {
    expect(readTiming(value)).toBe(notMeasured);
  });

  it("of two durations is both", () => {
    expect(readTiming({ timeOnDevice: 1n, timeInDriver: 2n })).toEqual({ timeOnDevice: 1n, timeInDriver: 2n });
  });
});
