import { manualClock } from "@nnhal/test-kit/clock";
import { describe, expect, it, vi } from "vitest";
import { watchIdle } from "./idle.ts";

function watchCalls() {
  const clock = manualClock();
  const use = { isUnderWay: false };
  const onIdle = vi.fn();
  const watch = watchIdle({ after: 100n, timer: clock.timer, isInUse: () => use.isUnderWay, onIdle });
  return { clock, use, onIdle, watch };
}

describe("watchIdle", () => {
  it("reports each idle period once", () => {
    const { clock, onIdle, watch } = watchCalls();
    clock.advance(1000n);
    expect(onIdle).not.toHaveBeenCalled();
    watch.touch();
    clock.advance(99n);
    expect(onIdle).not.toHaveBeenCalled();
    clock.advance(1n);
    expect(onIdle).toHaveBeenCalledTimes(1);
    clock.advance(1000n);
    expect(onIdle).toHaveBeenCalledTimes(1);
    watch.touch();
    clock.advance(100n);
    expect(onIdle).toHaveBeenCalledTimes(2);
  });

  it("reports neither before the limit nor later than twice the limit", () => {
    const { clock, onIdle, watch } = watchCalls();
    watch.touch();
    clock.advance(50n);
    watch.touch();
    clock.advance(50n);
    expect(onIdle).not.toHaveBeenCalled();
    clock.advance(100n);
    expect(onIdle).toHaveBeenCalledTimes(1);
  });

  it("waits for a use that is under way", () => {
    const { clock, use, onIdle, watch } = watchCalls();
    use.isUnderWay = true;
    watch.touch();
    clock.advance(1000n);
    clock.advance(1000n);
    expect(onIdle).not.toHaveBeenCalled();
    use.isUnderWay = false;
    watch.touch();
    clock.advance(100n);
    expect(onIdle).not.toHaveBeenCalled();
    clock.advance(100n);
    expect(onIdle).toHaveBeenCalledTimes(1);
  });

  it("says nothing once it is stopped, and waits for nothing", () => {
    const { clock, onIdle, watch } = watchCalls();
    watch.touch();
    watch.stop();
    watch.touch();
    expect(clock.waiting).toBe(0);
    clock.advance(1000n);
    expect(onIdle).not.toHaveBeenCalled();
  });

  it("waits in the background", () => {
    const timer = vi.fn(() => () => {});
    watchIdle({ after: 5n, timer, isInUse: () => false, onIdle: () => {} }).touch();
    expect(timer).toHaveBeenCalledWith(5n, expect.any(Function), true);
  });
});
