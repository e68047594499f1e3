import { ErrorStatus } from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { untimedGuard } from "../guard/guard.ts";
import { settleAll } from "../versions/versions.test-helper.ts";
import { readBurstResult } from "./read-burst-result.ts";

const ok = { status: ErrorStatus.NONE } as const;
const guard = untimedGuard("it");
const breakIt = (): never => {
  throw new Error("planted");
};

describe("readBurstResult", () => {
  it("ends a burst that cannot forget a memory", async () => {
    const close = vi.fn();
    const faults: string[] = [];
    const { context } = readBurstResult({ ...ok, context: { freeMemory: breakIt, close } }, guard, ({ message }) =>
      faults.push(message),
    );
    context?.freeMemory(3);
    await settleAll();
    expect(faults).toEqual(["it: freeMemory threw: planted"]);
    expect(close).toHaveBeenCalledOnce();
  });

  it("is closed when the service has closed it", async () => {
    let isClosed = false;
    const close = async () => {
      await settleAll();
      isClosed = true;
    };
    const { context } = readBurstResult({ ...ok, context: { freeMemory: () => {}, close } }, guard, () => {});
    const closed: unknown = context?.close?.();
    expect(isClosed).toBe(false);
    await closed;
    expect(isClosed).toBe(true);
  });

  it("passes on why a memory is refused, also if that is thrown", () => {
    const context = { freeMemory: () => {} };
    const memory = { name: "ashmem", size: 0, handle: null } as const;
    const why = (refuseMemory: unknown) =>
      readBurstResult({ ...ok, context, refuseMemory }, guard, () => {}).refuseMemory?.(memory);
    expect([why(() => undefined), why(() => "too small"), why(breakIt), why(1)]).toEqual([
      undefined,
      "too small",
      "planted",
      undefined,
    ]);
  });

  it("refuses a context without methods", () => {
    expect(() => readBurstResult({ ...ok, context: {} }, guard, () => {})).toThrow("without a burst context");
  });
});
