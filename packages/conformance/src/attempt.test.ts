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

  it("gives up on work that never ends", async () => {
    expect(await attempt(20, () => new Promise(() => {}))).toEqual({ problem: "no answer within 20 ms" });
  });
});
