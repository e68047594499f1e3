import { describe, expect, it } from "vitest";
import { attempt } from "./attempt.ts";

const generous = 30_000;

describe("attempt", () => {
  it("gives the value of work that answers, at once or later", async () => {
    expect(await attempt(generous, () => 5)).toEqual({ value: 5 });
    expect(await attempt(generous, async () => "late")).toEqual({ value: "late" });
  });

  it("turns what work throws or rejects with into a problem that says where", async () => {
    const thrown = await attempt(generous, () => {
      throw new RangeError("too far");
    });
    expect(thrown).toEqual({ problem: expect.stringMatching(/^threw RangeError: too far \(at .*attempt\.test\.ts/) });
    expect(await attempt(generous, () => Promise.reject("no error at all"))).toEqual({
      problem: "threw no error at all",
    });
  });

  it("describes thrown values that cannot be read", async () => {
    const hostile = Object.defineProperty(new Error("x"), "message", {
      get() {
        throw new Error("no message");
      },
    });
    for (const thrown of [Object.create(null), hostile]) {
      const result = await attempt(generous, () => Promise.reject(thrown));
      expect(result).toEqual({ problem: "threw a value of type object that cannot be read" });
    }
    expect(await attempt(generous, () => Promise.reject(null))).toEqual({ problem: "threw null" });
  });

  it("measures its limit with the timer that it is given", async () => {
    let limit = 0;
    const now = (milliseconds: number, callback: () => void) => {
      limit = milliseconds;
      queueMicrotask(callback);
      return () => {};
    };
    expect(await attempt(7, () => new Promise(() => {}), now)).toEqual({
      problem: "no answer within 7 ms",
      isLate: true,
    });
    expect(limit).toBe(7);
  });

  it("gives up on work that never ends", async () => {
    expect(await attempt(20, () => new Promise(() => {}))).toEqual({ problem: "no answer within 20 ms", isLate: true });
  });
});
