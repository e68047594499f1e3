import type { DiffReport } from "@nnhal/diff";
import { describe, expect, it } from "vitest";
import { errorText, noiseText, worstText } from "./difference-text.ts";

type Difference = DiffReport["outputs"][number]["difference"];

const quantised = {
  isFloat: false,
  differing: 3,
  largest: 2.25,
  largestReal: 0.5,
  signalToNoise: 28.64,
  worst: { element: 7, expected: 1, actual: 1.5 },
} as Difference;

describe("a difference", () => {
  it("is in steps of the type, or a number of floats", () => {
    expect(errorText(quantised)).toBe("2.25 steps");
    expect(errorText({ ...quantised, largest: 0.9996 })).toBe("1 step");
    expect(errorText({ ...quantised, isFloat: true })).toBe("0.5");
    expect(errorText({ ...quantised, differing: 0 })).toBe("0");
  });

  it("has a signal-to-noise ratio unless all elements are equal", () => {
    expect(noiseText(quantised)).toBe("28.6 dB");
    expect(noiseText({ ...quantised, signalToNoise: null })).toBe("–");
    expect(noiseText({ ...quantised, signalToNoise: null, differing: 0 })).toBe("equal");
  });

  it("has the element that is furthest off", () => {
    expect(worstText(quantised)).toBe("element 7: 1.5, not 1");
    expect(worstText({ ...quantised, worst: { element: 0, expected: 2, actual: null } })).toBe("element 0: NaN, not 2");
    const near = { element: 3, expected: 2.2300012, actual: 2.230002 };
    expect(worstText({ ...quantised, worst: near })).toBe("element 3: 2.230002, not 2.230001");
    expect(worstText({ ...quantised, worst: null })).toBe("");
  });
});
