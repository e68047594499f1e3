/** Kernels are plain functions over ranges: their text, and their results however the work is cut. */
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Operation } from "../define.ts";
import type { AnyArgs } from "../params.ts";
import { type KernelResult, phasesOf, runToEnd } from "../phases.ts";
import { extentProduct } from "../shape.ts";
import { f32, i32 } from "./_run.test-helper.ts";
import { averagePool2d } from "./average-pool-2d.ts";
import { conv2d } from "./conv-2d.ts";
import { depthwiseConv2d } from "./depthwise-conv-2d.ts";
import { groupedConv2d } from "./grouped-conv-2d.ts";
import { reduceSum } from "./reduce-sum.ts";
import { resizeBilinear } from "./resize-bilinear.ts";
import { softmax } from "./softmax.ts";

const folder = new URL("./", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.includes(".test"));

it("finds the files of operations", () => {
  expect(files).toContain("conv-2d.ts");
  expect(files).toContain("_convolution.ts");
});

it.each(files)("%s neither pauses nor waits nor looks at a clock", (name) => {
  const source = readFileSync(new URL(name, folder), "utf8");
  expect(source.match(/\byield\b|\basync\b|\bawait\b|\bfunction\*|\bperformance\b|\bDate\b/)).toBeNull();
});

/** Computes each phase in ranges of these sizes, in turn. */
function runInRanges(work: KernelResult, sizes: readonly number[]): void {
  let range = 0;
  for (const phase of phasesOf(work)) {
    for (let first = 0; first < phase.units; ) {
      const end = Math.min(first + (sizes[range++ % sizes.length] ?? 1), phase.units);
      phase.compute(first, end);
      first = end;
    }
  }
}

const extent = fc.integer({ min: 1, max: 5 });
const padding = { paddingLeft: 1, paddingRight: 1, paddingTop: 1, paddingBottom: 1 };
const sliding = { strideWidth: 1, strideHeight: 2, dilationWidth: 1, dilationHeight: 1, activation: 0 };

/** A tensor of numbers in no order. */
function numbers(...dimensions: number[]) {
  const count = extentProduct(dimensions, 0);
  return f32(
    dimensions,
    Array.from({ length: count }, (_, index) => Math.sin(12.9898 * (index + count))),
  );
}

/** Arguments of kernels with one output, of images of this shape. */
const kernels: Readonly<Record<string, [Operation, (b: number, h: number, w: number, c: number) => AnyArgs]>> = {
  CONV_2D: [
    conv2d,
    (b, h, w, c) => ({ input: numbers(b, h, w, c), filter: numbers(9, 3, 3, c), bias: numbers(9), ...sliding }),
  ],
  GROUPED_CONV_2D: [
    groupedConv2d,
    (b, h, w, c) => ({
      ...{ input: numbers(b, h, w, 2 * c), filter: numbers(6, 3, 3, c), bias: numbers(6), groups: 2 },
      ...sliding,
    }),
  ],
  DEPTHWISE_CONV_2D: [
    depthwiseConv2d,
    (b, h, w, c) => ({
      ...{ input: numbers(b, h, w, c), filter: numbers(1, 3, 3, 2 * c), bias: numbers(2 * c), depthMultiplier: 2 },
      ...sliding,
    }),
  ],
  AVERAGE_POOL_2D: [
    averagePool2d,
    (b, h, w, c) => ({ input: numbers(b, h, w, c), filterWidth: 2, filterHeight: 3, ...sliding }),
  ],
  SOFTMAX: [softmax, (b, h, w, c) => ({ input: numbers(b, h, w, c), beta: 0.5, axis: 2 })],
  RESIZE_BILINEAR: [
    resizeBilinear,
    (b, h, w, c) => ({ input: numbers(b, h, w, c), width: 4, height: 3, alignCorners: false, halfPixelCenters: true }),
  ],
  REDUCE_SUM: [
    reduceSum,
    (b, h, w, c) => ({ input: numbers(b, h, w, c), axes: i32([2], [0, 2]), keepDimensions: true }),
  ],
};

describe.each(Object.entries(kernels))("%s", (_, [operation, argumentsOf]) => {
  it("has the same results in ranges of any sizes as at once", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(extent, extent, extent, extent, sizes, (b, h, w, c, ranges) => {
        const args: AnyArgs = { ...padding, nchw: false, ...argumentsOf(b, h + 1, w + 1, c) };
        const { output: info } = operation.infer?.(args, {}) ?? {};
        if (info === undefined || !("dimensions" in info)) throw new TypeError("expected one output");
        const [whole, parts] = [f32(info.dimensions), f32(info.dimensions)];
        runToEnd(operation.reference?.(args, { output: whole }, { random: Math.random }));
        runInRanges(operation.reference?.(args, { output: parts }, { random: Math.random }), ranges);
        expect(parts.data).toEqual(whole.data);
      }),
    );
  });
});
