import { elementCount, stridesOf } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { codeOf, enclose, indexAt, literal, plus, quotientOf, ravel, times, unravel } from "./_index.ts";

/** The value of code in which the identifiers are variables. */
function valueOfCode(code: string, variables: Readonly<Record<string, number>> = {}): number {
  return new Function(...Object.keys(variables), `return ${code};`)(...Object.values(variables));
}

const shapes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 });

describe("coordinates", () => {
  it("of an index are those of a row-major shape, and convert back to it", () => {
    fc.assert(
      fc.property(shapes, fc.nat(), (dimensions, seed) => {
        const index = seed % elementCount(dimensions);
        const at = unravel("index", dimensions, quotientOf);
        const strides = stridesOf(dimensions);
        expect(at.map((code) => valueOfCode(code, { index }))).toEqual(
          dimensions.map((extent, axis) => Math.floor(index / strides[axis]) % extent),
        );
        expect(valueOfCode(ravel(at, strides), { index })).toBe(index);
      }),
    );
  });

  it("are exact in float32 up to 2^23", () => {
    for (const index of [2 ** 23 - 1, 2 ** 23 - 1000]) {
      for (const by of [1, 2, 3, 1000]) {
        const halved = Math.fround(index + 0.5);
        expect(Math.floor(Math.fround(halved / by))).toBe(valueOfCode(quotientOf("index", by), { index }));
      }
    }
  });
});

describe("indexes", () => {
  it("may run backwards", () => {
    expect(ravel(["x", "y"], [-2, -1], 9)).toBe("(9 - 2 * x - y)");
    expect(ravel(["x"], [-2])).toBe("(0 - 2 * x)");
    expect(ravel(["x"], [], 3)).toBe("3");
    expect(ravel(["x"], [])).toBe("0");
  });

  it("have their known parts added", () => {
    const index = indexAt(["x", { code: "y", offset: 2 }, { code: "0", offset: 3 }], [1, 10, 100]);
    expect(index).toEqual({ code: "(x + 10 * y)", offset: 320 });
    expect(indexAt([], [])).toEqual({ code: "0", offset: 0 });
    expect(indexAt([{ code: "x", offset: 0 }], [1])).toEqual({ code: "x", offset: 0 });
    expect([index, "x", { code: "0", offset: 5 }].map(codeOf)).toEqual(["((x + 10 * y) + 320)", "x", "5"]);
  });
});

describe("literal", () => {
  it("is a number that gpu.js supports", () => {
    expect(literal(1.5)).toBe("1.5");
    expect(literal(-1)).toBe("(-1)");
    expect(literal(Number.POSITIVE_INFINITY)).toBe("3.4028234663852886e+38");
    expect(Math.fround(valueOfCode(literal(Number.NEGATIVE_INFINITY)))).toBe(-3.4028234663852886e38);
  });
});

describe("terms", () => {
  it("are in brackets only if they need them", () => {
    expect(["x", "this.thread.x", "12", "(x + 1)"].map(enclose)).toEqual(["x", "this.thread.x", "12", "(x + 1)"]);
    expect(["x + 1", "(x) + (y)", "-x"].map(enclose)).toEqual(["(x + 1)", "((x) + (y))", "(-x)"]);
    const operands = ["a[0]", "Math.floor(x)", "a[(x)][f(y + 1)]", "this.constants.c0[x + 1]"];
    expect(operands.map(enclose)).toEqual(operands);
    expect(["a[0] + b[1]", "f(x) * f(y)", "3.4e+38"].map(enclose)).toEqual([
      "(a[0] + b[1])",
      "(f(x) * f(y))",
      "(3.4e+38)",
    ]);
    expect([times(1, "x + 1"), times(3, "x + 1"), times(3, "0"), times(3, "x")]).toEqual([
      "(x + 1)",
      "(3 * (x + 1))",
      "0",
      "(3 * x)",
    ]);
    expect([plus("x", 0), plus("x", 2)]).toEqual(["x", "(x + 2)"]);
  });
});
