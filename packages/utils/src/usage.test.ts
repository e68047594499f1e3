import { describe, expect, it, vi } from "vitest";
import { createUsage } from "./usage.ts";

describe("createUsage", () => {
  it("frees an unused resource when it is closed, once", async () => {
    const free = vi.fn();
    const usage = createUsage(free);
    expect([usage.isClosed, usage.isInUse]).toEqual([false, false]);
    expect(free).not.toHaveBeenCalled();
    usage.close();
    usage.close();
    expect(usage.isClosed).toBe(true);
    expect(free).toHaveBeenCalledTimes(1);
    await usage.freed;
  });

  it("frees what is in use when the last has ended", async () => {
    const free = vi.fn();
    const usage = createUsage(free);
    usage.begin();
    usage.begin();
    usage.close();
    usage.end();
    expect([usage.isInUse, free.mock.calls.length]).toEqual([true, 0]);
    usage.end();
    expect([usage.isInUse, free.mock.calls.length]).toEqual([false, 1]);
    await usage.freed;
  });

  it("keeps an unused resource until it is closed", () => {
    const free = vi.fn();
    const usage = createUsage(free);
    usage.begin();
    usage.end();
    expect(free).not.toHaveBeenCalled();
  });
});
