import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type FenceState, type SyncFence } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { createFence, mergeFences, syncWait, usableFences } from "./fence.ts";

/** A fence in a state that it does not leave. */
function inState(state: FenceState): SyncFence {
  return { state, wait: () => (state === "ACTIVE" ? new Promise(() => {}) : Promise.resolve(state)) };
}

/** A timer that a test runs down. */
function manualTimer() {
  const pending = new Set<() => void>();
  return {
    pending,
    timer(_nanoseconds: bigint, callback: () => void) {
      pending.add(callback);
      return () => {
        pending.delete(callback);
      };
    },
    expire() {
      for (const callback of [...pending]) callback();
    },
  };
}

describe("createFence", () => {
  it.each<["signal" | "fail", FenceState]>([
    ["signal", "SIGNALED"],
    ["fail", "ERROR"],
  ])("leaves ACTIVE once, on %s", async (method, state) => {
    const source = createFence();
    expect(source.fence.state).toBe("ACTIVE");
    const waiting = source.fence.wait();
    source[method]();
    source.signal();
    source.fail();
    expect(source.fence.state).toBe(state);
    expect([await waiting, await source.fence.wait()]).toEqual([state, state]);
  });
});

describe("mergeFences", () => {
  it("is signalled once all are", async () => {
    const sources = [createFence(), createFence(), createFence()];
    const merged = mergeFences(sources.map(({ fence }) => fence));
    elementAt(sources, 2).signal();
    elementAt(sources, 0).signal();
    await Promise.resolve();
    expect(merged.state).toBe("ACTIVE");
    elementAt(sources, 1).signal();
    expect(await merged.wait()).toBe("SIGNALED");
  });

  it("fails with the first that does", async () => {
    const sources = [createFence(), createFence()];
    const merged = mergeFences(sources.map(({ fence }) => fence));
    elementAt(sources, 1).fail();
    expect(await merged.wait()).toBe("ERROR");
    elementAt(sources, 0).signal();
    expect(merged.state).toBe("ERROR");
  });

  it.each<[FenceState[], FenceState]>([
    [[], "SIGNALED"],
    [["SIGNALED", "SIGNALED"], "SIGNALED"],
    [["SIGNALED", "ACTIVE"], "ACTIVE"],
    [["ACTIVE", "ERROR"], "ERROR"],
    [["SIGNALED", "UNKNOWN"], "ERROR"],
  ])("of %j is at once %s", (states, state) => {
    expect(mergeFences(states.map(inState)).state).toBe(state);
  });

  it("fails if a foreign fence rejects", async () => {
    const broken: SyncFence = { state: "ACTIVE", wait: () => Promise.reject(new Error("gone")) };
    expect(await mergeFences([broken]).wait()).toBe("ERROR");
  });
});

describe("syncWait", () => {
  it("waits until the fence is settled, and leaves no timer behind", async () => {
    for (const [method, state] of [["signal", "SIGNALED"] as const, ["fail", "ERROR"] as const]) {
      const { timer, pending } = manualTimer();
      const source = createFence();
      const waiting = syncWait(source.fence, 1_000n, timer);
      expect(pending.size).toBe(1);
      source[method]();
      expect(await waiting).toBe(state);
      expect(pending.size).toBe(0);
    }
  });

  it("answers ACTIVE when time is up", async () => {
    const { timer, expire } = manualTimer();
    const waiting = syncWait(createFence().fence, 1_000n, timer);
    expire();
    expect(await waiting).toBe("ACTIVE");
    expect(await syncWait(createFence().fence, 0n)).toBe("ACTIVE");
    expect(await syncWait(createFence().fence, 1n)).toBe("ACTIVE");
  });

  it("does not wait for what is settled already", async () => {
    for (const state of ["SIGNALED", "ERROR", "UNKNOWN"] as const) {
      expect(await syncWait(inState(state), 1_000n, manualTimer().timer)).toBe(state);
    }
  });
});

describe("usableFences", () => {
  it("are those that are signalled or may still be", () => {
    const fences = [inState("ACTIVE"), inState("SIGNALED")];
    expect(usableFences(fences)).toEqual(fences);
    for (const [fence, what] of [
      [null, "expected a fence, got null"],
      [inState("ERROR"), "expected a fence in state ACTIVE or SIGNALED, got ERROR"],
      [inState("UNKNOWN"), "expected a fence in state ACTIVE or SIGNALED, got UNKNOWN"],
    ] as const) {
      const message = `waitFor[2]: ${what}`;
      expect(usableFences([...fences, fence])).toEqual({ status: ErrorStatus.INVALID_ARGUMENT, message });
    }
  });
});
