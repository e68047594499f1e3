import { elementCount, stridesOf } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { literal, quotient, ravel, unravel, writeStage } from "./_code.ts";

/** The value of code in which the identifiers are variables. */
function valueOfCode(code: string, variables: Readonly<Record<string, number>> = {}): number {
  return new Function(...Object.keys(variables), `return ${code};`)(...Object.values(variables));
}

const shapes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 });

describe("coordinates", () => {
  it("of an index are those of a row-major shape, and go back to it", () => {
    fc.assert(
      fc.property(shapes, fc.nat(), (dimensions, seed) => {
        const index = seed % elementCount(dimensions);
        const at = unravel("index", dimensions);
        const strides = stridesOf(dimensions);
        expect(at.map((code) => valueOfCode(code, { index }))).toEqual(
          dimensions.map((extent, axis) => Math.floor(index / strides[axis]) % extent),
        );
        expect(valueOfCode(ravel(at, strides), { index })).toBe(index);
      }),
    );
  });

  it("are found in float32 up to 2^23", () => {
    for (const index of [2 ** 23 - 1, 2 ** 23 - 1000]) {
      for (const by of [1, 2, 3, 1000]) {
        const halved = Math.fround(index + 0.5);
        expect(Math.floor(Math.fround(halved / by))).toBe(valueOfCode(quotient("index", by), { index }));
      }
    }
  });

  it("may run backwards", () => {
    expect(ravel(["x", "y"], [-2, -1], 9)).toBe("9 - 2 * x - y");
    expect(ravel(["x"], [-2])).toBe("0 - 2 * x");
    expect(ravel(["x"], [], 3)).toBe("3");
    expect(ravel(["x"], [])).toBe("0");
  });
});

describe("literal", () => {
  it("is a number that gpu.js knows", () => {
    expect(literal(1.5)).toBe("1.5");
    expect(literal(-1)).toBe("(-1)");
    expect(literal(Number.POSITIVE_INFINITY)).toBe("3.4028234663852886e+38");
    expect(Math.fround(valueOfCode(literal(Number.NEGATIVE_INFINITY)))).toBe(-3.4028234663852886e38);
  });
});

describe("writeStage", () => {
  const tensor = { index: 7, type: "TENSOR_FLOAT32", dimensions: [2, 3, 4, 5], scale: 0, zeroPoint: 0 } as const;
  const grids = { bakes: true, grids: true, block: [1, 1] } as const;

  it("has the last axes along x and y, the others along z", () => {
    const { program, sources } = writeStage(tensor, grids, ({ read, at }) => read(tensor)(ravel(at, [60, 20, 5, 1])));
    expect(program.threads).toEqual([5, 4, 6]);
    expect(program.reads).toEqual([{ name: "a0", length: 120 }]);
    expect(sources).toEqual([tensor]);
  });

  it("has all threads in one row where there are no grids, or nobody needs coordinates", () => {
    const write = () => "1";
    expect(writeStage(tensor, { ...grids, grids: false }, write).program.threads).toEqual([120]);
    expect(writeStage({ ...tensor, flat: true }, grids, write).program.threads).toEqual([120]);
  });

  it("has all threads in one row where blocks of a grid would have too many idle ones", () => {
    const threads = (dimensions: readonly number[], block: readonly [number, number]) =>
      writeStage({ dimensions }, { ...grids, block }, () => "1").program.threads;
    expect(threads([6, 2], [4, 1])).toEqual([12]);
    expect(threads([6, 4], [4, 1])).toEqual([4, 6]);
    expect(threads([4, 17], [4, 1])).toEqual([17, 4]);
    expect(threads([8, 7], [8, 8])).toEqual([7, 8]);
    expect(threads([7, 7], [8, 8])).toEqual([49]);
    expect(threads([1, 100], [8, 8])).toEqual([100]);
  });

  it("has no more threads along z than a GPU takes", () => {
    const threads = (dimensions: readonly number[]) => writeStage({ dimensions }, grids, () => "1").program.threads;
    expect(threads([65535, 2, 3])).toEqual([3, 2, 65535]);
    expect(threads([65536, 2, 3])).toEqual([3, 131072]);
  });

  it("reads no more values than WebGPU has room for", () => {
    const many = (count: number) => () =>
      writeStage({ dimensions: [2] }, grids, ({ read }) =>
        Array.from({ length: count }, (_, index) => read({ ...tensor, index })("0")).join(" + "),
      );
    expect(many(7)().program.reads.length).toBe(7);
    expect(many(8)).toThrow("a kernel would read 8 values, more than 7");
  });

  it("reads a source by one name, and bakes packed numbers where the machine does", () => {
    const packed = { packed: Float32Array.of(1, 2) };
    const write = (bakes: boolean) =>
      writeStage({ dimensions: [4], width: 4 }, { ...grids, bakes }, ({ read, flat }) => {
        const element = `${read(tensor)(flat)} + ${read(tensor)("0")} + ${read(packed)("1")}`;
        return [element, "0", "0", "0"];
      });
    expect(write(true).program).toEqual({
      reads: [{ name: "a0", length: 120 }],
      constants: { c1: packed.packed },
      body: "return [a0[4 * (this.thread.x)] + a0[0] + this.constants.c1[1], 0, 0, 0];",
      threads: [1],
      width: 4,
    });
    expect(write(false).program.constants).toEqual({});
    expect(write(false).sources).toEqual([tensor, packed]);
  });
});
