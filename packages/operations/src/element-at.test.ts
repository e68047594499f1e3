import { describe, expect, it } from "vitest";
import { elementAt } from "./element-at.ts";

describe("elementAt", () => {
  it("returns the first and the last element", () => {
    expect([elementAt([3, 4, 5], 0), elementAt([3, 4, 5], 2)]).toEqual([3, 5]);
    expect(elementAt(new Uint8Array([7]), 0)).toBe(7);
  });

  it("returns an element that is undefined", () => {
    expect(elementAt([undefined], 0)).toBeUndefined();
  });

  it.each([-1, 3, 0.5, Number.NaN])("refuses index %s of three elements", (index) => {
    const list = [3, 4, 5];
    expect(() => elementAt(list, index)).toThrow(
      new RangeError(`Index ${index} is out of range: the list has 3 elements`),
    );
  });
});
