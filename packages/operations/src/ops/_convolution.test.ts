/**
 * The four convolutions against their formulas, for random shapes, layouts and types.
 */
import type { OperandTypeName } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Tensor } from "../tensor.ts";
import {
  activate,
  activations,
  type Cells,
  cellsOf,
  fillTensor,
  forEachCell,
  inLayout,
  layouts,
  nhwc,
  numbers,
  realValue,
  seeds,
  slidingAxis,
} from "./_image.test-helper.ts";
import {
  boolScalar,
  declareOutput,
  f32,
  type Given,
  i32,
  i32Scalar,
  pausesOf,
  q8PerChannel,
  runForOne,
  valuesOf,
} from "./_run.test-helper.ts";
import { conv2d } from "./conv-2d.ts";
import { depthwiseConv2d } from "./depthwise-conv-2d.ts";
import { groupedConv2d } from "./grouped-conv-2d.ts";
import { transposeConv2d } from "./transpose-conv-2d.ts";

type Kind = "float32" | "float16" | "quant8" | "quant8 signed" | "per channel";
const kinds = fc.constantFrom<Kind>("float32", "float16", "quant8", "quant8 signed", "per channel");

/** Input, filter, bias and declared output of a kind; `channelDim`: the filter's dimension of output channels. */
function operandsOf(
  kind: Kind,
  input: readonly number[],
  filter: readonly number[],
  channelDim: number,
  next: () => number,
) {
  const channels = filter[channelDim];
  if (kind === "float32" || kind === "float16") {
    const type = kind === "float32" ? "TENSOR_FLOAT32" : "TENSOR_FLOAT16";
    const given: [Given, Given, Given] = [
      fillTensor(type, input, next),
      fillTensor(type, filter, next),
      fillTensor(type, [channels], next),
    ];
    return { given, output: declareOutput(type) };
  }
  const type: OperandTypeName = kind === "quant8 signed" ? "TENSOR_QUANT8_ASYMM_SIGNED" : "TENSOR_QUANT8_ASYMM";
  const zero = type === "TENSOR_QUANT8_ASYMM" ? 128 : 0;
  const image = fillTensor(type, input, next, { scale: 0.5, zeroPoint: zero + 3 });
  const output = declareOutput(type, { scale: 40, zeroPoint: zero - 5 });
  if (kind !== "per channel") {
    const weights = fillTensor(type, filter, next, { scale: 0.25, zeroPoint: zero - 7 });
    const bias = i32(
      [channels],
      Array.from({ length: channels }, () => Math.floor(next() * 2000) - 1000),
      0.125,
    );
    return { given: [image, weights, bias] satisfies [Given, Given, Given], output };
  }
  const scales = Array.from({ length: channels }, (_, channel) => 0.25 * (channel + 1));
  const elements = valuesOf(fillTensor("TENSOR_QUANT8_SYMM_PER_CHANNEL", filter, next));
  const weights = q8PerChannel(filter, scales, channelDim, elements);
  const bias = i32(
    [channels],
    Array.from({ length: channels }, () => Math.floor(next() * 2000) - 1000),
  );
  return { given: [image, weights, bias] satisfies [Given, Given, Given], output };
}

/** The real bias of a channel: in a quantised convolution it counts accumulator units. */
function biasOf([input, filter, bias]: readonly Given[], channel: number): number {
  if (bias.type !== "TENSOR_INT32") return bias.data[channel];
  return bias.data[channel] * input.scale * (filter.channelQuant?.scales[channel] ?? filter.scale);
}

/** Holds an output against the real value that each of its cells should have. */
function expectCells(output: Tensor, nchw: boolean, activation: number, value: Cells) {
  const actual = cellsOf(output, nchw);
  forEachCell(nhwc(output.dimensions, nchw), (batch, y, x, channel) => {
    const wanted = activate(value(batch, y, x, channel), activation);
    const found = actual(batch, y, x, channel);
    const where = `${batch},${y},${x},${channel}`;
    // Whole numbers below 2048 are exact, also in float16.
    if (output.scale === 0) expect(found, where).toBe(wanted);
    else {
      const least = realValue({ ...output, data: Int32Array.of(output.type === "TENSOR_QUANT8_ASYMM" ? 0 : -128) }, 0);
      const clamped = Math.min(Math.max(wanted, least), least + 255 * output.scale);
      // Half a step for rounding, and what float32 leaves of the product.
      expect(Math.abs(found - clamped), where).toBeLessThanOrEqual(output.scale * 0.5001);
    }
  });
}

const sizes = fc.record({
  vertical: slidingAxis,
  horizontal: slidingAxis,
  batches: fc.integer({ min: 0, max: 2 }),
  depth: fc.integer({ min: 1, max: 3 }),
  factor: fc.integer({ min: 1, max: 5 }),
  kind: kinds,
  nchw: layouts,
  activation: activations,
  seed: seeds,
});

const ints = (...values: number[]) => values.map(i32Scalar);
const covered = ({ filter, dilation }: { filter: number; dilation: number }) => (filter - 1) * dilation + 1;
type Axis = typeof slidingAxis extends fc.Arbitrary<infer T> ? T : never;
const countOf = (axis: Axis) => Math.floor((axis.input + axis.before + axis.after - covered(axis)) / axis.stride) + 1;
const paddingOf = (vertical: Axis, horizontal: Axis) =>
  ints(horizontal.before, horizontal.after, vertical.before, vertical.after);

describe("convolutions", () => {
  it("CONV_2D: sums the products under the window", () => {
    fc.assert(
      fc.property(sizes, ({ vertical: v, horizontal: h, batches, depth, factor, kind, nchw, activation, seed }) => {
        const input = inLayout([batches, v.input, h.input, depth], nchw);
        const filter = [factor, v.filter, h.filter, depth];
        const { given, output } = operandsOf(kind, input, filter, 0, numbers(seed));
        const options = [...ints(h.stride, v.stride, activation), boolScalar(nchw), ...ints(h.dilation, v.dilation)];
        const result = runForOne(conv2d, [...given, ...paddingOf(v, h), ...options], output);
        expect(nhwc(result.dimensions, nchw)).toEqual([batches, countOf(v), countOf(h), factor]);
        const image = cellsOf(given[0], nchw);
        expectCells(result, nchw, activation, (batch, y, x, channel) => {
          let sum = biasOf(given, channel);
          forEachCell([1, v.filter, h.filter, depth], (_, i, j, c) => {
            const weight = realValue(given[1], ((channel * v.filter + i) * h.filter + j) * depth + c, channel);
            const row = y * v.stride - v.before + i * v.dilation;
            sum += image(batch, row, x * h.stride - h.before + j * h.dilation, c) * weight;
          });
          return sum;
        });
      }),
    );
  });

  it("DEPTHWISE_CONV_2D: each output channel sees one input channel", () => {
    fc.assert(
      fc.property(sizes, ({ vertical: v, horizontal: h, batches, depth, factor, kind, nchw, activation, seed }) => {
        const channels = depth * factor;
        const input = inLayout([batches, v.input, h.input, depth], nchw);
        const { given, output } = operandsOf(kind, input, [1, v.filter, h.filter, channels], 3, numbers(seed));
        const options = [
          ...ints(h.stride, v.stride, factor, activation),
          boolScalar(nchw),
          ...ints(h.dilation, v.dilation),
        ];
        const result = runForOne(depthwiseConv2d, [...given, ...paddingOf(v, h), ...options], output);
        expect(nhwc(result.dimensions, nchw)).toEqual([batches, countOf(v), countOf(h), channels]);
        const image = cellsOf(given[0], nchw);
        expectCells(result, nchw, activation, (batch, y, x, channel) => {
          let sum = biasOf(given, channel);
          forEachCell([1, v.filter, h.filter, 1], (_, i, j) => {
            const weight = realValue(given[1], (i * h.filter + j) * channels + channel, channel);
            const row = y * v.stride - v.before + i * v.dilation;
            const column = x * h.stride - h.before + j * h.dilation;
            sum += image(batch, row, column, Math.floor(channel / factor)) * weight;
          });
          return sum;
        });
      }),
    );
  });

  it("GROUPED_CONV_2D: each group of outputs sees one group of inputs", () => {
    fc.assert(
      fc.property(
        sizes.filter(({ vertical, horizontal }) => vertical.dilation === 1 && horizontal.dilation === 1),
        fc.integer({ min: 1, max: 3 }),
        ({ vertical: v, horizontal: h, batches, depth, factor, kind, nchw, activation, seed }, groups) => {
          const channels = factor * groups;
          const input = inLayout([batches, v.input, h.input, depth * groups], nchw);
          const filter = [channels, v.filter, h.filter, depth];
          const { given, output } = operandsOf(kind, input, filter, 0, numbers(seed));
          const options = [...ints(h.stride, v.stride, groups, activation), boolScalar(nchw)];
          const result = runForOne(groupedConv2d, [...given, ...paddingOf(v, h), ...options], output);
          expect(nhwc(result.dimensions, nchw)).toEqual([batches, countOf(v), countOf(h), channels]);
          const image = cellsOf(given[0], nchw);
          expectCells(result, nchw, activation, (batch, y, x, channel) => {
            let sum = biasOf(given, channel);
            const first = Math.floor(channel / factor) * depth;
            forEachCell([1, v.filter, h.filter, depth], (_, i, j, c) => {
              const weight = realValue(given[1], ((channel * v.filter + i) * h.filter + j) * depth + c, channel);
              sum += image(batch, y * v.stride - v.before + i, x * h.stride - h.before + j, first + c) * weight;
            });
            return sum;
          });
        },
      ),
    );
  });

  it("TRANSPOSE_CONV_2D: every input cell spreads the filter over the output", () => {
    const axis = slidingAxis.filter(
      ({ input, filter, stride, before, after }) => (input - 1) * stride + filter - before - after >= 1,
    );
    const shapes = fc.tuple(sizes, axis, axis, fc.integer({ min: -2, max: 0 }));
    fc.assert(
      fc.property(shapes, ([{ batches, depth, factor, kind, nchw, activation, seed }, v, h, less]) => {
        const input = inLayout([batches, v.input, h.input, depth], nchw);
        const { given, output } = operandsOf(kind, input, [factor, v.filter, h.filter, depth], 0, numbers(seed));
        const padding = ints(h.before, h.after, v.before, v.after + less);
        const options = [...padding, ...ints(h.stride, v.stride, activation), boolScalar(nchw)];
        const result = runForOne(transposeConv2d, [...given, ...options], output);
        const height = (v.input - 1) * v.stride + v.filter - v.before - v.after - less;
        const width = (h.input - 1) * h.stride + h.filter - h.before - h.after;
        expect(nhwc(result.dimensions, nchw)).toEqual([batches, height, width, factor]);
        const image = cellsOf(given[0], nchw);
        const spread = new Map<string, number>();
        forEachCell([batches, v.input, h.input, depth], (batch, row, column, c) => {
          forEachCell([1, v.filter, h.filter, factor], (_, i, j, channel) => {
            const weight = realValue(given[1], ((channel * v.filter + i) * h.filter + j) * depth + c, channel);
            const place = [batch, row * v.stride - v.before + i, column * h.stride - h.before + j, channel].join();
            spread.set(place, (spread.get(place) ?? 0) + image(batch, row, column, c) * weight);
          });
        });
        expectCells(result, nchw, activation, (...place) => biasOf(given, place[3]) + (spread.get(place.join()) ?? 0));
      }),
    );
  });

  it("pauses in a long computation, also within one pixel, and leaves nothing out", () => {
    const run = (pixels: number, depth: number, channels: number) => {
      const input = f32([1, pixels, 1, depth], new Array<number>(pixels * depth).fill(2));
      const filter = f32(
        [channels, 1, 1, depth],
        Array.from({ length: channels * depth }, (_, index) => Math.floor(index / depth)),
      );
      const bias = f32([channels], new Array<number>(channels).fill(1));
      const output = { ...f32([1, pixels, 1, channels]) };
      const padding = { paddingLeft: 0, paddingRight: 0, paddingTop: 0, paddingBottom: 0 };
      const window = { strideWidth: 1, strideHeight: 1, dilationWidth: 1, dilationHeight: 1, activation: 0 };
      const args = { input, filter, bias, nchw: false, ...padding, ...window };
      const pauses = pausesOf(conv2d.reference?.(args, { output }, { random: Math.random }));
      expect(output.data.every((value, index) => value === 2 * depth * (index % channels) + 1)).toBe(true);
      return pauses;
    };
    expect(run(4, 4, 4)).toBe(0);
    expect(run(1, 1024, 4099)).toBeGreaterThanOrEqual(3);
    expect(run(3000, 32, 64)).toBeGreaterThanOrEqual(3);
  });
});
