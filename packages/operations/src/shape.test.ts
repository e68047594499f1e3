import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OperationError } from "./fail.ts";
import {
  broadcastShape,
  combineDimensions,
  ensureShape,
  extentProduct,
  formatShape,
  refineDimensions,
  resolveAxis,
  sameShape,
  stridesOf,
} from "./shape.ts";

const shape = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 5 });

describe("formatShape", () => {
  it("shortens shapes with more than 16 axes", () => {
    expect(formatShape(new Array(16).fill(1))).toBe("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1");
    expect(formatShape(new Array(1000).fill(1))).toBe("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x… (1000 axes)");
  });

  it("joins extents, and names rank 0", () => {
    expect(formatShape([8, 3, 0])).toBe("8x3x0");
    expect(formatShape([7])).toBe("7");
    expect(formatShape([])).toBe("scalar");
  });
});

describe("ensureShape", () => {
  it("takes the expected shape, and no tensor at all", () => {
    expect(() => ensureShape("the weights", { dimensions: [2, 3] }, [2, 3])).not.toThrow();
    expect(() => ensureShape("the weights", undefined, [2, 3])).not.toThrow();
  });

  it.each([[[3, 2]], [[2, 4]], [[2]], [[2, 3, 1]]])(
    "refuses %j, saying what has it and what is expected",
    (dimensions) => {
      expect(() => ensureShape("the weights", { dimensions }, [2, 3])).toThrow(
        new OperationError(`the shape of the weights: expected 2x3, got ${dimensions.join("x")}`),
      );
    },
  );
});

describe("sameShape", () => {
  it.each([
    [[2, 3], [2, 3], true],
    [[], [], true],
    [[2, 3], [3, 2], false],
    [[2, 3], [2], false],
    [[2], [2, 1], false],
  ])("%j and %j: %s", (a, b, same) => {
    expect(sameShape(a, b)).toBe(same);
  });
});

describe("stridesOf", () => {
  it("returns for each axis the product of the extents after it", () => {
    expect(stridesOf([2, 3, 4])).toEqual([12, 4, 1]);
    expect(stridesOf([])).toEqual([]);
    fc.assert(
      fc.property(shape, (dimensions) => {
        expect(stridesOf(dimensions)).toEqual(dimensions.map((_, axis) => extentProduct(dimensions, axis + 1)));
      }),
    );
  });
});

describe("resolveAxis", () => {
  it.each([
    [-3, 0],
    [-1, 2],
    [0, 0],
    [2, 2],
  ])("%d of rank 3 is %d", (axis, resolved) => {
    expect(resolveAxis(axis, 3)).toBe(resolved);
  });

  it.each([-4, 3, 0.5, Number.NaN])("refuses %d of rank 3", (axis) => {
    expect(() => resolveAxis(axis, 3)).toThrow(new OperationError(`axis ${axis} is outside [-3, 3)`));
  });

  it("refuses any axis of rank 0", () => {
    expect(() => resolveAxis(0, 0)).toThrow("axis 0 is outside [-0, 0)");
  });
});

describe("extentProduct", () => {
  it("multiplies the extents in [begin, end)", () => {
    expect(extentProduct([2, 3, 4], 0)).toBe(24);
    expect(extentProduct([2, 3, 4], 1)).toBe(12);
    expect(extentProduct([2, 3, 4], 0, 2)).toBe(6);
    expect(extentProduct([2, 3, 4], 1, 1)).toBe(1);
    expect(extentProduct([2, 0, 4], 0)).toBe(0);
  });
});

describe("broadcastShape", () => {
  it.each([
    [
      [4, 1, 2],
      [5, 4, 3, 1],
      [5, 4, 3, 2],
    ],
    [
      [2, 3],
      [2, 3],
      [2, 3],
    ],
    [[2, 3], [3], [2, 3]],
    [[1], [2, 3], [2, 3]],
    [[], [2], [2]],
    [[0], [1], [0]],
    [
      [2, 0],
      [2, 1],
      [2, 0],
    ],
    [[0], [0], [0]],
  ])("of %j and %j is %j", (a, b, result) => {
    expect(broadcastShape(a, b)).toEqual(result);
    expect(broadcastShape(b, a)).toEqual(result);
  });

  it.each([
    [[2], [3], "shapes 2 and 3 do not broadcast"],
    [[0], [2], "shapes 0 and 2 do not broadcast"],
    [[2, 3], [2], "shapes 2x3 and 2 do not broadcast"],
  ])("of %j and %j is refused", (a, b, message) => {
    expect(() => broadcastShape(a, b)).toThrow(new OperationError(message));
  });
});

describe("combineDimensions", () => {
  it.each([
    [[], [2, 3], [2, 3]],
    [[2, 3], [], [2, 3]],
    [[], [], []],
    [
      [0, 3],
      [2, 0],
      [2, 3],
    ],
    [
      [0, 0],
      [0, 4],
      [0, 4],
    ],
    [
      [2, 3],
      [2, 3],
      [2, 3],
    ],
  ])("of %j and %j is %j", (a, b, combined) => {
    expect(combineDimensions(a, b)).toEqual(combined);
    expect(combineDimensions(b, a)).toEqual(combined);
  });

  it.each([
    [[2], [2, 1]],
    [
      [2, 3],
      [2, 4],
    ],
    [
      [0, 3],
      [2, 4],
    ],
  ])("of %j and %j is a contradiction", (a, b) => {
    expect(combineDimensions(a, b)).toBeUndefined();
    expect(combineDimensions(b, a)).toBeUndefined();
  });

  it("never contradicts either source", () => {
    fc.assert(
      fc.property(shape, shape, (a, b) => {
        const combined = combineDimensions(a, b);
        if (combined === undefined) return;
        for (const source of [a, b]) {
          expect(source.every((extent, axis) => extent === 0 || combined[axis] === extent)).toBe(true);
        }
      }),
    );
  });
});

describe("refineDimensions", () => {
  it.each([
    { known: [], actual: [4, 5] },
    { known: [0, 5], actual: [4, 5] },
    { known: [4, 5], actual: [4, 5] },
    { known: [0, 5], actual: [0, 5] },
  ])("accepts $actual if $known is known", ({ known, actual }) => {
    expect(refineDimensions(0, known, actual)).toBe(actual);
  });

  it.each([
    { known: [4], actual: [4, 5] },
    { known: [0, 6], actual: [4, 5] },
    { known: [4, 5], actual: [0, 5] },
    { known: [], actual: [-1] },
    { known: [], actual: [1.5] },
    { known: [], actual: [2 ** 16, 2 ** 16] },
  ])("refuses $actual if $known is known", ({ known, actual }) => {
    expect(() => refineDimensions(0, known, actual)).toThrow(OperationError);
  });

  it("takes as many elements as 32 bits can count", () => {
    expect(refineDimensions(0, [], [2 ** 32 - 1])).toEqual([2 ** 32 - 1]);
  });
});
