/**
 * The three pools: against their formulas for random shapes, layouts and types, cases worked out by hand, and each rule.
 */
import type { OperandTypeName } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Operation } from "../define.ts";
import { isFloat } from "../tensor.ts";
import {
  activate,
  activations,
  cellsOf,
  fillTensor,
  forEachCell,
  inLayout,
  layouts,
  nhwc,
  numbers,
  seeds,
  slidingAxis,
} from "./_image.test-helper.ts";
import {
  boolScalar,
  f32,
  type Given,
  i32Scalar,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectTypes } from "./_signature.test-helper.ts";
import { averagePool2d } from "./average-pool-2d.ts";
import { l2Pool2d } from "./l2-pool-2d.ts";
import { maxPool2d } from "./max-pool-2d.ts";

const ints = (...values: number[]) => values.map(i32Scalar);
const floats = { TENSOR_FLOAT32: "1.0", TENSOR_FLOAT16: "1.2" } as const;
const all = { ...floats, TENSOR_QUANT8_ASYMM: "1.0", TENSOR_QUANT8_ASYMM_SIGNED: "1.3" } as const;
const mean = (cells: readonly number[]) => cells.reduce((sum, cell) => sum + cell, 0) / cells.length;

const pools = [
  { operation: averagePool2d, types: all, formula: mean },
  { operation: maxPool2d, types: all, formula: (cells: readonly number[]) => Math.max(...cells) },
  {
    operation: l2Pool2d,
    types: floats,
    formula: (cells: readonly number[]) => Math.sqrt(mean(cells.map((cell) => cell ** 2))),
  },
];

describe.each(pools)("$operation.name", ({ operation, types, formula }) => {
  const typeNames = Object.keys(types).filter((type): type is OperandTypeName => type in types);

  it("makes one value of the cells under each window", () => {
    const sizes = fc.record({
      v: slidingAxis.filter(({ dilation }) => dilation === 1),
      h: slidingAxis.filter(({ dilation }) => dilation === 1),
      batches: fc.integer({ min: 0, max: 2 }),
      channels: fc.integer({ min: 1, max: 3 }),
      type: fc.constantFrom(...typeNames),
      nchw: layouts,
      activation: activations,
      seed: seeds,
    });
    fc.assert(
      fc.property(sizes, ({ v, h, batches, channels, type, nchw, activation, seed }) => {
        const shape = inLayout([batches, v.input, h.input, channels], nchw);
        const quantisation = isFloat(type) ? {} : { scale: 0.25, zeroPoint: 9 };
        const input = fillTensor(type, shape, numbers(seed), quantisation);
        const padding = ints(h.before, h.after, v.before, v.after);
        const window = ints(h.stride, v.stride, h.filter, v.filter, activation);
        const output = runForOne(operation, [input, ...padding, ...window, boolScalar(nchw)]);
        const count = (axis: typeof v) =>
          Math.floor((axis.input + axis.before + axis.after - axis.filter) / axis.stride) + 1;
        expect(nhwc(output.dimensions, nchw)).toEqual([batches, count(v), count(h), channels]);
        const image = cellsOf(input, nchw);
        const found = cellsOf(output, nchw);
        forEachCell(nhwc(output.dimensions, nchw), (batch, y, x, channel) => {
          const cells: number[] = [];
          forEachCell([1, v.filter, h.filter, 1], (_, i, j) => {
            const [row, column] = [y * v.stride - v.before + i, x * h.stride - h.before + j];
            const inside = row >= 0 && row < v.input && column >= 0 && column < h.input;
            if (inside) cells.push(image(batch, row, column, channel));
          });
          const wanted = activate(formula(cells), activation);
          const tolerance = type === "TENSOR_FLOAT32" ? 1e-6 : type === "TENSOR_FLOAT16" ? 0.004 : output.scale / 2;
          expect(Math.abs(found(batch, y, x, channel) - wanted)).toBeLessThanOrEqual(tolerance);
        });
      }),
    );
  });

  const image = f32([1, 2, 4, 1], [1, 2, 3, 4, 5, 6, 7, 8]);
  const run = (...options: (number | Given)[]) =>
    runForOne(operation, [
      image,
      ...options.map((option) => (typeof option === "number" ? i32Scalar(option) : option)),
    ]);

  it("takes widths before heights", () => {
    expect(run(0, 0, 0, 0, 2, 1, 1, 1, 0).dimensions).toEqual([1, 2, 2, 1]);
    expect(run(0, 0, 0, 0, 1, 1, 3, 1, 0).dimensions).toEqual([1, 2, 2, 1]);
    expect(run(1, 0, 0, 0, 1, 1, 2, 1, 0).dimensions).toEqual([1, 2, 4, 1]);
    expect(run(0, 0, 1, 0, 1, 1, 1, 2, 0).dimensions).toEqual([1, 2, 4, 1]);
  });

  it("pads by a scheme, too", () => {
    expect(run(1, 2, 2, 3, 3, 0).dimensions).toEqual([1, 1, 2, 1]);
    expect(run(2, 2, 2, 2, 2, 0).dimensions).toEqual([1, 1, 2, 1]);
    expect(run(0, 1, 1, 2, 2, 0).dimensions).toEqual([1, 1, 3, 1]);
    expect(run(1, 1, 1, 3, 3, 0, boolScalar(true)).dimensions).toEqual([1, 2, 4, 1]);
    expect(() => run(3, 1, 1, 2, 2, 0)).toThrow("padding scheme 3 is none of");
  });

  it("takes the HAL's types, each from its version on", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1, 2, 2, 1]), ...ints(2, 1, 1, 1, 1, 0)];
    expectTypes(operation, types, inputs, (type) => [tensorOf(type, [1])]);
  });

  it("has four numbers of operands; a layout needs HAL 1.2", () => {
    const version = (options: Given[]) => versionOf(operation, [image, ...options]);
    expect(version(ints(2, 1, 1, 1, 1, 0))).toBe("1.0");
    expect(version([...ints(2, 1, 1, 1, 1, 0), boolScalar(false)])).toBe("1.2");
    expect(version(ints(0, 0, 0, 0, 1, 1, 1, 1, 0))).toBe("1.0");
    expect(version([...ints(0, 0, 0, 0, 1, 1, 1, 1, 0), boolScalar(true)])).toBe("1.2");
    for (const count of [5, 7, 8, 10, 11]) {
      expect(mismatchOf(operation, [image, ...ints(...new Array(count).fill(1))])).toBeDefined();
    }
  });

  it.each([
    ["the stride along the width is 0", [0, 0, 0, 0, 0, 1, 2, 2, 0]],
    ["the stride along the height is -1", [0, 0, 0, 0, 1, -1, 2, 2, 0]],
    ["the window's width is 0", [0, 0, 0, 0, 1, 1, 0, 2, 0]],
    ["the window's height is -5", [0, 0, 0, 0, 1, 1, 2, -5, 0]],
    ["padding 2 and 0 along the width is not within 0 to 1", [2, 0, 0, 0, 1, 1, 2, 2, 0]],
    ["padding 0 and -1 along the height is not within 0 to 1", [0, 0, 0, -1, 1, 1, 2, 2, 0]],
    ["a window of 3 does not fit the height of 2", [0, 0, 0, 0, 1, 1, 2, 3, 0]],
    ["activation 4 is none of", [0, 0, 0, 0, 1, 1, 2, 2, 4]],
  ] as const)("says that %s", (message, options) => {
    expect(() => run(...options)).toThrow(message);
  });

  it("takes no batches, but no other extent of 0", () => {
    const extents = (...dimensions: number[]) =>
      runForOne(operation, [f32(dimensions), ...ints(0, 0, 0, 0, 1, 1, 1, 1, 0)]).data;
    expect(extents(0, 1, 1, 1)).toHaveLength(0);
    expect(() => extents(1, 0, 1, 1)).toThrow("the image's height is 0");
    expect(() => extents(1, 1, 0, 1)).toThrow("the image's width is 0");
    expect(() => extents(1, 1, 1, 0)).toThrow("the input has no channels");
    expect(() => extents(1, 1, 1)).toThrow("input: expected rank 4, got 3");
  });

  it("does not walk over a window much larger than the image", () => {
    const [value] = valuesOf(run(2 ** 30 - 2, 2 ** 30 - 2, 0, 0, 2 ** 30, 1, 2 ** 30, 2, 0));
    expect(value).toBeCloseTo(formula([1, 2, 5, 6]), 5);
  });
});

describe("quantised pools", () => {
  it("give the output the input's scale and zero point", () => {
    for (const operation of [averagePool2d, maxPool2d]) {
      const output = runForOne(operation, [q8([1, 1, 1, 1], 0.25, 7, [3]), ...ints(2, 1, 1, 1, 1, 0)]);
      expect(output).toMatchObject({ scale: 0.25, zeroPoint: 7 });
      expect(valuesOf(output)).toEqual([3]);
    }
  });

  it("round means of elements, halves away from zero", () => {
    const averageOf = (pair: (values: number[]) => Given, ...values: number[]) =>
      valuesOf(runForOne(averagePool2d, [pair(values), ...ints(2, 1, 1, values.length, 1, 0)]))[0];
    const unsigned = (values: number[]) => q8([1, 1, values.length, 1], 1, 200, values);
    const sign = (values: number[]) => q8s([1, 1, values.length, 1], 1, 100, values);
    expect(averageOf(unsigned, 1, 2)).toBe(2);
    expect(averageOf(unsigned, 1, 1, 2)).toBe(1);
    expect(averageOf(sign, 1, 2)).toBe(2);
    expect(averageOf(sign, -1, -2)).toBe(-2);
  });

  it("clamp to the activation's bounds around the zero point", () => {
    const clamp = (operation: Operation, activation: number) =>
      valuesOf(runForOne(operation, [q8([1, 1, 1, 3], 0.5, 100, [50, 101, 255]), ...ints(2, 1, 1, 1, 1, activation)]));
    for (const operation of [averagePool2d, maxPool2d]) {
      expect(clamp(operation, 0)).toEqual([50, 101, 255]);
      expect(clamp(operation, 1)).toEqual([100, 101, 255]);
      expect(clamp(operation, 2)).toEqual([98, 101, 102]);
      expect(clamp(operation, 3)).toEqual([100, 101, 112]);
    }
  });
});

it("MAX_POOL_2D carries NaN on", () => {
  const output = runForOne(maxPool2d, [f32([1, 1, 3, 1], [1, Number.NaN, 2]), ...ints(2, 1, 1, 3, 1, 0)]);
  expect(valuesOf(output)).toEqual([Number.NaN]);
});
