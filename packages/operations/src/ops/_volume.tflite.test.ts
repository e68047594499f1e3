import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GivenInput, int32, omit, runOperation } from "./_run.tflite.test-helper.ts";

const float = (dimensions: number[]): GivenInput => {
  const count = dimensions.reduce((product, extent) => product * extent, 1);
  return {
    type: "TENSOR_FLOAT32",
    dimensions,
    data: Float32Array.from({ length: count }, (_, at) => ((at * 7 + count) % 11) - 5),
  };
};
const shape = (...values: number[]): GivenInput => ({
  type: "TENSOR_INT32",
  dimensions: [values.length],
  data: Int32Array.from(values),
});
const real = [{ type: "TENSOR_FLOAT32" }] as const;

interface Case {
  readonly same: boolean;
  readonly input: readonly number[];
  readonly window: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
}

const triple = (least: number, most: number) =>
  fc.array(fc.integer({ min: least, max: most }), { minLength: 3, maxLength: 3 });
const anyCase = fc.record({
  same: fc.boolean(),
  input: triple(3, 4),
  window: triple(1, 2),
  stride: triple(1, 2),
  dilation: triple(1, 2),
});

/** The options in the operators' order, of lists by depth, height and width. */
const options = ({ same, stride, dilation }: Pick<Case, "same" | "stride" | "dilation">, activation = 0) => [
  int32(same ? 0 : 1),
  ...[stride[0], stride[2], stride[1]].map(int32),
  int32(activation),
  ...[dilation[0], dilation[2], dilation[1]].map(int32),
];

const under = ({ window, dilation }: Case, axis: number) => (window[axis] - 1) * dilation[axis] + 1;
const extentOf = (each: Case, axis: number) =>
  each.same
    ? Math.ceil(each.input[axis] / each.stride[axis])
    : Math.floor((each.input[axis] - under(each, axis)) / each.stride[axis]) + 1;
const before = (each: Case, axis: number) => {
  const total = (extentOf(each, axis) - 1) * each.stride[axis] + under(each, axis) - each.input[axis];
  return each.same ? Math.max(0, Math.floor(total / 2)) : 0;
};

/** Calls with each pair of an output cell and a window cell whose input cell exists. */
function pairs(
  each: Case,
  run: (output: readonly number[], cell: readonly number[], input: readonly number[]) => void,
) {
  const output = [0, 1, 2].map((axis) => extentOf(each, axis));
  const all = (extents: readonly number[]) =>
    Array.from({ length: extents[0] * extents[1] * extents[2] }, (_, at) => [
      Math.floor(at / (extents[1] * extents[2])),
      Math.floor(at / extents[2]) % extents[1],
      at % extents[2],
    ]);
  for (const place of all(output)) {
    for (const cell of all(each.window)) {
      const from = place.map(
        (index, axis) => index * each.stride[axis] + cell[axis] * each.dilation[axis] - before(each, axis),
      );
      if (from.every((index, axis) => index >= 0 && index < each.input[axis])) run(place, cell, from);
    }
  }
}

const offset = ([z, y, x]: readonly number[], [, height, width]: readonly number[]) => (z * height + y) * width + x;

describe("CONV_3D", () => {
  it("agrees with the sum of products, property", async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, async (each) => {
        const input = float([1, ...each.input, 2]);
        const filter = float([...each.window, 2, 3]);
        const bias = float([3]);
        const extents = [0, 1, 2].map((axis) => extentOf(each, axis));
        const wanted = Float32Array.from({ length: offset([extents[0], 0, 0], extents) * 3 }, (_, at) =>
          Number(bias.data[at % 3]),
        );
        pairs(each, (to, cell, from) => {
          for (let o = 0; o < 3; o++) {
            for (let c = 0; c < 2; c++) {
              const value = Number(input.data[offset(from, each.input) * 2 + c]);
              wanted[offset(to, extents) * 3 + o] +=
                value * Number(filter.data[(offset(cell, each.window) * 2 + c) * 3 + o]);
            }
          }
        });
        expect(await runOperation("CONV_3D", [input, filter, bias, ...options(each)], real)).toEqual([
          { dimensions: [1, ...extents, 3], data: wanted },
        ]);
      }),
      { numRuns: 60 },
    );
  });

  const unit = { same: false, stride: [1, 1, 1], dilation: [1, 1, 1] };
  it("has no bias, and an activation", async () => {
    const input: GivenInput = { ...float([1, 1, 1, 2, 1]), data: Float32Array.of(-3, 9) };
    const filter: GivenInput = { ...float([1, 1, 1, 1, 1]), data: Float32Array.of(1) };
    const [{ data }] = await runOperation("CONV_3D", [input, filter, omit(), ...options(unit, 3)], real);
    expect(data).toEqual(Float32Array.of(0, 6));
  });

  it("refuses other channels, a window that does not fit, strides and dilations of 0, another padding", async () => {
    const run = (input: number[], filter: number[], changes: Partial<typeof unit> = {}) =>
      runOperation("CONV_3D", [float(input), float(filter), omit(), ...options({ ...unit, ...changes })], real);
    await expect(run([1, 1, 1, 1, 2], [1, 1, 1, 1, 1])).rejects.toThrow(
      "the input has 2 channels where the filter has 1",
    );
    await expect(run([1, 1, 0, 1, 1], [1, 1, 1, 1, 1])).rejects.toThrow("the input's height is 0, less than 1");
    await expect(run([1, 1, 1, 1, 1], [1, 1, 0, 1, 1])).rejects.toThrow("the filter's width is 0, less than 1");
    await expect(run([1, 1, 2, 1, 1], [1, 3, 1, 1, 1])).rejects.toThrow("a window of 3 does not fit the height of 2");
    await expect(run([1, 1, 1, 1, 1], [1, 1, 1, 1, 1], { stride: [1, 0, 1] })).rejects.toThrow(
      "stride 0 is less than 1",
    );
    await expect(run([1, 1, 1, 1, 1], [1, 1, 1, 1, 1], { dilation: [0, 1, 1] })).rejects.toThrow(
      "dilation 0 is less than 1",
    );
    const wrong = [float([1, 1, 1, 1, 1]), float([1, 1, 1, 1, 1]), omit(), int32(2), ...options(unit).slice(1)];
    await expect(runOperation("CONV_3D", wrong, real)).rejects.toThrow("padding 2 is neither SAME 0 nor VALID 1");
  });
});

describe("CONV_3D_TRANSPOSE", () => {
  it("is the transpose of CONV_3D, property", async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, async (each) => {
        // The result has the shape of the convolution's input.
        const extents = [0, 1, 2].map((axis) => extentOf(each, axis));
        const input = float([1, ...extents, 3]);
        const filter = float([...each.window, 2, 3]);
        const wanted = new Float32Array(offset([each.input[0], 0, 0], each.input) * 2);
        pairs(each, (from, cell, to) => {
          for (let o = 0; o < 2; o++) {
            for (let c = 0; c < 3; c++) {
              const value = Number(input.data[offset(from, extents) * 3 + c]);
              wanted[offset(to, each.input) * 2 + o] +=
                value * Number(filter.data[(offset(cell, each.window) * 2 + o) * 3 + c]);
            }
          }
        });
        const operands = [shape(1, ...each.input, 2), filter, input, omit(), ...options(each)];
        const [result] = await runOperation("CONV_3D_TRANSPOSE", operands, real);
        expect(result.dimensions).toEqual([1, ...each.input, 2]);
        for (let at = 0; at < wanted.length; at++) expect(Number(result.data[at]) - wanted[at]).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it("refuses an output shape of other batches, channels or rank, and other channels of the input", async () => {
    const unit = options({ same: false, stride: [1, 1, 1], dilation: [1, 1, 1] });
    const run = (outputShape: GivenInput, input: number[]) =>
      runOperation("CONV_3D_TRANSPOSE", [outputShape, float([1, 1, 1, 2, 1]), float(input), omit(), ...unit], real);
    expect((await run(shape(1, 1, 1, 1, 2), [1, 1, 1, 1, 1]))[0].dimensions).toEqual([1, 1, 1, 1, 2]);
    for (const wrong of [
      [2, 1, 1, 1, 2],
      [1, 1, 1, 1, 3],
      [1, 1, 1, 2],
    ]) {
      await expect(run(shape(...wrong), [1, 1, 1, 1, 1])).rejects.toThrow(
        "expected 5 extents, the first 1 and the last 2, got ",
      );
    }
    await expect(run(shape(1, 1, 0, 1, 2), [1, 1, 1, 1, 1])).rejects.toThrow("the output's height is 0, less than 1");
    await expect(run(shape(1, 1, 1, 1, 2), [1, 1, 1, 1, 2])).rejects.toThrow("the input has 2 channels");
  });
});
