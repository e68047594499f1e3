import { describe, expect, it } from "vitest";
import { rules } from "./index.ts";

const numbers = Object.values(rules).map(({ rule }) => rule);

describe("the rules", () => {
  it("are numbered without a gap, and each of the HAL validators' 55 is there", () => {
    const all = [...new Set<number>(numbers)].sort((a, b) => a - b);
    expect(all).toEqual(all.map((_, index) => index + 1));
    expect(all.length).toBeGreaterThanOrEqual(55);
  });

  it("are in the order of their numbers", () => {
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  });

  it("have names in kebab case, a reference and a sentence", () => {
    for (const [code, { hal, says }] of Object.entries(rules)) {
      expect(code).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(hal).toMatch(/^(1\.[0-3]|AIDL [1-4]) \S/);
      expect(says).toMatch(/^[A-Za-z].*[^.]\.$/s);
    }
  });

  it("say different things", () => {
    const sayings = Object.values(rules).map(({ rule, says }) => `${rule} ${says}`);
    expect(new Set(sayings).size).toBe(sayings.length);
  });
});
