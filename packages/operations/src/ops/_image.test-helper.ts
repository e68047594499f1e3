/**
 * Images for tests: random elements, any layout, and the formulas of convolutions and pools written down cell by cell,
 * to hold kernels against.
 */

import { type OperandTypeName, operandTypes } from "@nnhal/types";
import fc from "fast-check";
import { elementCount, isFloat, type Tensor } from "../tensor.ts";
import { type Given, tensorOf } from "./_run.test-helper.ts";

/** Reads the real value of one cell of an image; 0 outside of it. */
export type Cells = (batch: number, y: number, x: number, channel: number) => number;

/** The cells of an image tensor. */
export function cellsOf(tensor: Tensor, nchw: boolean): Cells {
  const [, height, width, channels] = nhwc(tensor.dimensions, nchw);
  return (batch, y, x, channel) => {
    if (y < 0 || y >= height || x < 0 || x >= width) return 0;
    const index = nchw
      ? ((batch * channels + channel) * height + y) * width + x
      : ((batch * height + y) * width + x) * channels + channel;
    return realValue(tensor, index, channel);
  };
}

/** The real value of an element; `channel`: its index along the dimension that per-channel scales belong to. */
export function realValue({ type, data, scale, zeroPoint, channelQuant }: Tensor, index: number, channel = 0): number {
  if (isFloat(type)) return data[index];
  return (data[index] - zeroPoint) * (channelQuant?.scales[channel] ?? scale);
}

/** Extents in the order batch, height, width, channels. */
export function nhwc([batches, ...rest]: readonly number[], nchw: boolean): number[] {
  const [first, second, third] = rest;
  return nchw ? [batches, second, third, first] : [batches, first, second, third];
}

/** Dimensions of an image tensor. */
export function inLayout([batches, height, width, channels]: readonly number[], nchw: boolean): number[] {
  return nchw ? [batches, channels, height, width] : [batches, height, width, channels];
}

/** A tensor filled from a generator: floats are small whole numbers, exact in every float type. */
export function fillTensor(
  type: OperandTypeName,
  dimensions: readonly number[],
  next: () => number,
  quantisation: { scale?: number; zeroPoint?: number } = {},
): Given {
  const bytes = operandTypes[type].elementSize === 1;
  const unsigned = type === "TENSOR_QUANT8_ASYMM";
  const element = () => (bytes ? Math.floor(next() * 256) - (unsigned ? 0 : 128) : Math.floor(next() * 17) - 8);
  return tensorOf(type, dimensions, Array.from({ length: elementCount(dimensions) }, element), quantisation);
}

/** A source of numbers in [0, 1), the same for the same seed. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export const layouts = fc.boolean();
export const seeds = fc.integer({ min: 0, max: 0xffff });
export const activations = fc.constantFrom(0, 1, 2, 3);

/** A real number after a fused activation. */
export function activate(value: number, activation: number): number {
  if (activation === 0) return value;
  if (activation === 1) return Math.max(0, value);
  return activation === 2 ? Math.min(1, Math.max(-1, value)) : Math.min(6, Math.max(0, value));
}

/** Extent, window, stride and padding along one axis of an image; the window fits. */
export const slidingAxis = fc
  .record({
    input: fc.integer({ min: 1, max: 6 }),
    filter: fc.integer({ min: 1, max: 3 }),
    stride: fc.integer({ min: 1, max: 3 }),
    dilation: fc.integer({ min: 1, max: 2 }),
    before: fc.integer({ min: 0, max: 4 }),
    after: fc.integer({ min: 0, max: 4 }),
  })
  .filter(({ input, filter, dilation, before, after }) => {
    const covered = (filter - 1) * dilation + 1;
    return before < covered && after < covered && input + before + after >= covered;
  });

/** Calls `visit` for every output cell of an image shape. */
export function forEachCell(
  [batches, height, width, channels]: readonly number[],
  visit: (batch: number, y: number, x: number, channel: number) => void,
): void {
  for (let batch = 0; batch < batches; batch++) {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) for (let channel = 0; channel < channels; channel++) visit(batch, y, x, channel);
    }
  }
}
