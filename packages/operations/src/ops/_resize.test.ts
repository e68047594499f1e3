/**
 * RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR: cases worked out by hand, properties of both, and each rule.
 */

import type { OperandTypeName } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellsOf, fillTensor, forEachCell, inLayout, layouts, nhwc, numbers, seeds } from "./_image.test-helper.ts";
import { nearestSource, neighboursInSteps, RESIZE_STEPS, sourcePosition } from "./_resize.ts";
import {
  boolScalar,
  f16,
  f16Scalar,
  f32,
  f32Scalar,
  type Given,
  i32Scalar,
  mismatchOf,
  pausesOf,
  q8,
  q8s,
  runForOne,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectTypes, floatAndQuant8Versions } from "./_signature.test-helper.ts";
import { resizeBilinear } from "./resize-bilinear.ts";
import { resizeNearestNeighbor } from "./resize-nearest-neighbor.ts";

const ints = (...values: number[]) => values.map(i32Scalar);
const modes = {
  plain: [boolScalar(false), boolScalar(false)],
  "align corners": [boolScalar(true), boolScalar(false)],
  "half pixel centres": [boolScalar(false), boolScalar(true)],
} as const;
type Mode = keyof typeof modes;
const anyMode = fc.constantFrom<Mode>("plain", "align corners", "half pixel centres");
const nhwcLayout = boolScalar(false);
const row = f32([1, 1, 4, 1], [0, 10, 20, 30]);

describe("sourcePosition", () => {
  const positions = (input: number, output: number, mode: Mode) => {
    const [alignCorners, halfPixelCenters] = modes[mode].map(({ data }) => data[0] === 1);
    return Array.from({ length: output }, (_, index) =>
      sourcePosition(input, output, { alignCorners, halfPixelCenters })(index),
    );
  };

  it("lets the first corners, the centres of all corners, or the images' edges coincide", () => {
    expect(positions(4, 2, "plain")).toEqual([0, 2]);
    expect(positions(4, 2, "align corners")).toEqual([0, 3]);
    expect(positions(4, 2, "half pixel centres")).toEqual([1, 3]);
    expect(positions(2, 4, "plain")).toEqual([0, 0.5, 1, 1.5]);
  });

  it("has only one corner to align if there is only one pixel", () => {
    expect(positions(4, 1, "align corners")).toEqual([0]);
    expect(positions(1, 3, "align corners")).toEqual([0, 0, 0]);
  });

  it("rounds to float32 at every step", () => {
    const step = Math.fround(3 / 10);
    expect(positions(3, 10, "plain")[7]).toBe(Math.fround(7 * step));
    expect(positions(3, 10, "half pixel centres")[7]).toBe(Math.fround(7.5 * step));
  });
});

describe("nearestSource", () => {
  const sources = (input: number, output: number, alignCorners: boolean, halfPixelCenters: boolean) => {
    const sourceOf = nearestSource(input, output, { alignCorners, halfPixelCenters });
    return Array.from({ length: output }, (_, index) => sourceOf(index));
  };

  it("rounds down, or to the nearest if corners are aligned, and stays inside", () => {
    expect(sources(3, 5, false, false)).toEqual([0, 0, 1, 1, 2]);
    expect(sources(3, 5, false, true)).toEqual([0, 0, 1, 2, 2]);
    // 0.5 and 1.5 are rounded away from zero.
    expect(sources(3, 5, true, false)).toEqual([0, 1, 1, 2, 2]);
    expect(sources(2, 1, false, true)).toEqual([1]);
  });
});

describe("neighboursInSteps", () => {
  const along = (input: number, output: number, mode: Mode) => {
    const [alignCorners, halfPixelCenters] = modes[mode].map(({ data }) => data[0] === 1);
    const { before, after, share } = neighboursInSteps(input, output, { alignCorners, halfPixelCenters });
    return [Array.from(before), Array.from(after), Array.from(share)];
  };

  it("has shares in whole steps, and no neighbour outside", () => {
    expect(along(2, 4, "plain")).toEqual([
      [0, 0, 1, 1],
      [1, 1, 1, 1],
      [0, 1024, 0, 0],
    ]);
    expect(along(2, 4, "half pixel centres")).toEqual([
      [0, 0, 0, 1],
      [1, 1, 1, 1],
      [0, 512, 1536, 0],
    ]);
    expect(along(2, 4, "align corners")).toEqual([
      [0, 0, 0, 1],
      [1, 1, 1, 1],
      [0, 683, 1365, 0],
    ]);
    expect(along(3, 1, "align corners")).toEqual([[0], [1], [0]]);
  });

  it("is within half a step of the position, in each mode", () => {
    const extent = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(extent, extent, anyMode, (input, output, mode) => {
        const [alignCorners, halfPixelCenters] = modes[mode].map(({ data }) => data[0] === 1);
        const alignment = { alignCorners, halfPixelCenters };
        const { before, after, share } = neighboursInSteps(input, output, alignment);
        const positionOf = sourcePosition(input, output, alignment);
        for (let index = 0; index < output; index++) {
          const position = positionOf(index) - (halfPixelCenters ? 0.5 : 0);
          const inside = Math.min(Math.max(position, 0), input - 1);
          const isNear = Math.abs(before[index] + share[index] / RESIZE_STEPS - inside) <= 0.51 / RESIZE_STEPS;
          const isNext = after[index] === Math.min(before[index] + 1, input - 1);
          expect({ index, isNear, isNext }).toEqual({ index, isNear: true, isNext: true });
        }
      }),
    );
  });
});

describe("RESIZE_BILINEAR", () => {
  it.each([
    ["unsigned", q8, 0],
    ["signed", q8s, 0],
    ["unsigned with a zero point above its elements", q8, 200],
    ["signed with a zero point above its elements", q8s, 100],
  ] as const)("rounds halves of 8-bit elements up: %s", (_, typed, zeroPoint) => {
    const input = typed([1, 1, 4, 1], 0.5, zeroPoint, [1, 2, 5, 4]);
    const output = runForOne(resizeBilinear, [input, ...ints(8, 1), nhwcLayout, ...modes.plain]);
    expect(Array.from(output.data)).toEqual([1, 2, 2, 4, 5, 5, 4, 4]);
  });

  const resized = (width: number, mode: Mode, input = row) =>
    valuesOf(runForOne(resizeBilinear, [input, ...ints(width, 1), nhwcLayout, ...modes[mode]]));

  it("interpolates along a row", () => {
    expect(resized(8, "plain")).toEqual([0, 5, 10, 15, 20, 25, 30, 30]);
    expect(resized(7, "align corners")).toEqual([0, 5, 10, 15, 20, 25, 30]);
    expect(resized(8, "half pixel centres")).toEqual([0, 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 30]);
    expect(resized(2, "plain")).toEqual([0, 20]);
    expect(resized(2, "half pixel centres")).toEqual([5, 25]);
  });

  it("interpolates along both axes, width before height in the operands", () => {
    const output = runForOne(resizeBilinear, [f32([1, 2, 2, 1], [0, 8, 80, 88]), ...ints(4, 2)]);
    expect(output.dimensions).toEqual([1, 2, 4, 1]);
    expect(valuesOf(output)).toEqual([0, 4, 8, 8, 80, 84, 88, 88]);
    const tall = runForOne(resizeBilinear, [
      f32([1, 2, 2, 1], [0, 8, 80, 88]),
      ...ints(3, 3),
      nhwcLayout,
      ...modes["align corners"],
    ]);
    expect(valuesOf(tall)).toEqual([0, 4, 8, 40, 44, 48, 80, 84, 88]);
  });

  it("rounds between quantised values, whatever their zero point, and keeps their quantisation", () => {
    const output = runForOne(resizeBilinear, [q8([1, 1, 2, 1], 0.25, 3, [10, 13]), ...ints(4, 1)]);
    expect(output).toMatchObject({ scale: 0.25, zeroPoint: 3 });
    expect(valuesOf(output)).toEqual([10, 12, 13, 13]);
    expect(valuesOf(runForOne(resizeBilinear, [q8s([1, 1, 2, 1], 0.25, -125, [-118, -115]), ...ints(4, 1)]))).toEqual([
      -118, -116, -115, -115,
    ]);
    expect(valuesOf(runForOne(resizeBilinear, [f16([1, 1, 2, 1], [0, 1]), ...ints(4, 1)]))).toEqual([0, 0.5, 1, 1]);
  });

  it("stays between the least and the greatest value", () => {
    const extent = fc.integer({ min: 1, max: 7 });
    fc.assert(
      fc.property(
        fc.tuple(extent, extent, extent, extent),
        anyMode,
        seeds,
        ([height, width, newHeight, newWidth], mode, seed) => {
          const input = fillTensor("TENSOR_QUANT8_ASYMM", [1, height, width, 1], numbers(seed), {
            scale: 1,
            zeroPoint: 40,
          });
          const inputs = [input, ...ints(newWidth, newHeight), nhwcLayout, ...modes[mode]];
          const [least, greatest] = [Math.min(...input.data), Math.max(...input.data)];
          for (const value of runForOne(resizeBilinear, inputs).data) {
            expect(value).toBeGreaterThanOrEqual(least);
            expect(value).toBeLessThanOrEqual(greatest);
          }
        },
      ),
    );
  });

  it("has three to six operands", () => {
    const version = (...rest: Given[]) => versionOf(resizeBilinear, [row, ...ints(1, 1), ...rest]);
    expect(version()).toBe("1.0");
    expect(version(nhwcLayout)).toBe("1.2");
    expect(version(nhwcLayout, modes.plain[0])).toBe("1.3");
    expect(version(nhwcLayout, ...modes.plain)).toBe("1.3");
    expect(versionOf(resizeBilinear, [row, f32Scalar(1), f32Scalar(1)])).toBe("1.2");
    expect(mismatchOf(resizeBilinear, [row, ...ints(1)])).toContain(
      "expected 3 to 6 inputs and 1 outputs, got 2 inputs and 1 outputs",
    );
    expect(mismatchOf(resizeBilinear, [row, ...ints(1, 1), nhwcLayout, ...modes.plain, nhwcLayout])).toContain(
      "7 inputs",
    );
  });
});

describe("RESIZE_NEAREST_NEIGHBOR", () => {
  const resized = (width: number, mode: Mode) =>
    valuesOf(runForOne(resizeNearestNeighbor, [row, ...ints(width, 1), nhwcLayout, ...modes[mode]]));

  it("rounds positions down, or to nearest if corners are aligned", () => {
    expect(resized(8, "plain")).toEqual([0, 0, 10, 10, 20, 20, 30, 30]);
    expect(resized(7, "align corners")).toEqual([0, 10, 10, 20, 20, 30, 30]);
    expect(resized(8, "half pixel centres")).toEqual([0, 0, 10, 10, 20, 20, 30, 30]);
    expect(resized(2, "plain")).toEqual([0, 20]);
    expect(resized(2, "align corners")).toEqual([0, 30]);
    expect(resized(2, "half pixel centres")).toEqual([10, 30]);
    expect(resized(3, "plain")).toEqual([0, 10, 20]);
  });

  it("copies elements as they are", () => {
    const output = runForOne(resizeNearestNeighbor, [
      q8([1, 1, 2, 2], 0.25, 3, [1, 2, 3, 4]),
      ...ints(3, 1),
      nhwcLayout,
    ]);
    expect(output).toMatchObject({ scale: 0.25, zeroPoint: 3, dimensions: [1, 1, 3, 2] });
    expect(valuesOf(output)).toEqual([1, 2, 1, 2, 3, 4]);
  });

  it("has four to six operands", () => {
    const version = (...rest: Given[]) => versionOf(resizeNearestNeighbor, [row, ...ints(1, 1), ...rest]);
    expect(version(nhwcLayout)).toBe("1.2");
    expect(version(nhwcLayout, modes.plain[0])).toBe("1.3");
    expect(version(nhwcLayout, ...modes.plain)).toBe("1.3");
    expect(mismatchOf(resizeNearestNeighbor, [row, ...ints(1, 1)])).toContain(
      "expected 4 to 6 inputs and 1 outputs, got 3 inputs and 1 outputs",
    );
  });
});

describe.each([resizeBilinear, resizeNearestNeighbor])("$name", (operation) => {
  const extent = fc.integer({ min: 1, max: 5 });

  it("changes nothing if the size stays", () => {
    fc.assert(
      fc.property(
        fc.tuple(extent, extent, extent),
        anyMode,
        layouts,
        seeds,
        ([height, width, channels], mode, nchw, seed) => {
          const input = fillTensor("TENSOR_FLOAT32", inLayout([2, height, width, channels], nchw), numbers(seed));
          const output = runForOne(operation, [input, ...ints(width, height), boolScalar(nchw), ...modes[mode]]);
          expect(output.dimensions).toEqual(input.dimensions);
          expect(valuesOf(output)).toEqual(valuesOf(input));
        },
      ),
    );
  });

  it("reads the same cells in both layouts", () => {
    fc.assert(
      fc.property(
        fc.tuple(extent, extent, extent, extent),
        anyMode,
        seeds,
        ([height, width, newHeight, newWidth], mode, seed) => {
          const shape = [2, height, width, 3];
          const input = fillTensor("TENSOR_FLOAT32", shape, numbers(seed));
          const cells = cellsOf(input, false);
          const turned = f32(inLayout(shape, true));
          let index = 0;
          forEachCell([2, 3, height, width], (batch, channel, y, x) => {
            turned.data[index++] = cells(batch, y, x, channel);
          });
          const run = (tensor: Given, nchw: boolean) =>
            runForOne(operation, [tensor, ...ints(newWidth, newHeight), boolScalar(nchw), ...modes[mode]]);
          const [plain, other] = [run(input, false), run(turned, true)];
          expect(nhwc(other.dimensions, true)).toEqual(plain.dimensions);
          const [wanted, found] = [cellsOf(plain, false), cellsOf(other, true)];
          forEachCell(plain.dimensions, (...place) => void expect(found(...place)).toBe(wanted(...place)));
        },
      ),
    );
  });

  it("takes ratios for sizes and rounds sizes down", () => {
    const size = (widthScale: number, heightScale: number) =>
      runForOne(operation, [f32([1, 3, 5, 1]), f32Scalar(widthScale), f32Scalar(heightScale), nhwcLayout]).dimensions;
    expect(size(1.5, 2)).toEqual([1, 6, 7, 1]);
    expect(size(0.2, 0.34)).toEqual([1, 1, 1, 1]);
    expect(() => size(0.19, 1)).toThrow("the output's width is 0, not within 1 to 2147483647");
    expect(() => size(1, 0.3)).toThrow("the output's height is 0, not within");
    expect(() => size(1, -1)).toThrow("the output's height is -3, not within");
    expect(() => size(Number.NaN, 1)).toThrow("the output's width is NaN, not within");
    expect(() => size(Number.POSITIVE_INFINITY, 1)).toThrow("the output's width is Infinity, not within");
  });

  it("multiplies ratios in float32", () => {
    const scale = Math.fround(5 / 3);
    expect(Math.floor(3 * scale)).toBe(4);
    const output = runForOne(operation, [f32([1, 1, 3, 1]), f32Scalar(scale), f32Scalar(1), nhwcLayout]);
    expect(output.dimensions).toEqual([1, 1, 5, 1]);
  });

  it("takes ratios as float16 with a float16 image only", () => {
    const scales = [f16Scalar(2), f16Scalar(1)];
    expect(runForOne(operation, [f16([1, 1, 2, 1]), ...scales, nhwcLayout]).dimensions).toEqual([1, 1, 4, 1]);
    expect(mismatchOf(operation, [f32([1, 1, 2, 1]), ...scales, nhwcLayout])).toContain("expected INT32, got FLOAT16");
    expect(mismatchOf(operation, [f16([1, 1, 2, 1]), f32Scalar(2), f32Scalar(1), nhwcLayout])).toContain("got FLOAT32");
    expect(mismatchOf(operation, [f32([1, 1, 2, 1]), i32Scalar(2), f32Scalar(1), nhwcLayout])).toBeDefined();
    expect(versionOf(operation, [q8s([1, 1, 2, 1], 1, 0), f32Scalar(2), f32Scalar(1), nhwcLayout])).toBe("1.3");
    expect(versionOf(operation, [q8([1, 1, 2, 1], 1, 0), f32Scalar(2), f32Scalar(1), nhwcLayout])).toBe("1.2");
  });

  it("takes the HAL's types, each from its version on", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1, 1, 1, 1]), ...ints(1, 1), nhwcLayout];
    expectTypes(operation, floatAndQuant8Versions("1.2"), inputs, (type) => [tensorOf(type, [1])]);
  });

  it.each([
    ["the input's height is 0", [1, 0, 1, 1], [1, 1]],
    ["the input's width is 0", [1, 1, 0, 1], [1, 1]],
    ["the input has no channels", [1, 1, 1, 0], [1, 1]],
    ["the output's width is 0, not within", [1, 1, 1, 1], [0, 1]],
    ["the output's height is -1, not within", [1, 1, 1, 1], [1, -1]],
    ["input: expected rank 4, got 3", [1, 1, 1], [1, 1]],
  ] as const)("says that %s", (message, shape, size) => {
    expect(() => runForOne(operation, [f32(shape), ...ints(...size), nhwcLayout])).toThrow(message);
  });

  it("aligns corners or centres, not both", () => {
    const inputs = [row, ...ints(1, 1), nhwcLayout, boolScalar(true), boolScalar(true)];
    expect(() => runForOne(operation, inputs)).toThrow("alignCorners and halfPixelCenters are both true");
  });

  it("computes no elements for no batches, for any size", () => {
    const output = runForOne(operation, [f32([0, 2, 2, 1]), ...ints(2 ** 31 - 1, 2 ** 31 - 1), nhwcLayout]);
    expect(output.dimensions).toEqual([0, 2 ** 31 - 1, 2 ** 31 - 1, 1]);
  });

  it("pauses in a long computation", () => {
    const input = f32([1, 1, 1, 1], [5]);
    const output = { ...f32([1, 1200, 1200, 1]) };
    const args = { input, width: 1200, height: 1200, nchw: false, alignCorners: false, halfPixelCenters: false };
    const pauses = pausesOf(operation.reference?.(args, { output }, { random: Math.random }));
    expect(pauses).toBeGreaterThanOrEqual(1);
    expect(output.data.every((value) => value === 5)).toBe(true);
  });
});
