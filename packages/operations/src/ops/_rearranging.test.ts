/**
 * Operations that move elements about: TRANSPOSE, CHANNEL_SHUFFLE, TILE, and blocks of pixels to depth or batches and back.
 */
import type { OperandTypeName } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementCount, type Tensor } from "../tensor.ts";
import {
  boolScalar,
  f16,
  f32,
  type Given,
  giveOmitted,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectTypes, floatAndQuant8Versions, floatIntegerAndQuant8Versions } from "./_signature.test-helper.ts";
import { batchToSpaceNd } from "./batch-to-space-nd.ts";
import { channelShuffle } from "./channel-shuffle.ts";
import { depthToSpace } from "./depth-to-space.ts";
import { spaceToBatchNd } from "./space-to-batch-nd.ts";
import { spaceToDepth } from "./space-to-depth.ts";
import { tile } from "./tile.ts";
import { transpose } from "./transpose.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const makeCounting = (...dimensions: number[]) => f32(dimensions, upTo(elementCount(dimensions)));
const again = ({ type, dimensions, scale, zeroPoint, data }: Tensor): Given => ({
  type,
  dimensions,
  scale,
  zeroPoint,
  data,
});
const declaredLike = (type: OperandTypeName) => [tensorOf(type, [1])];

/** Swaps NHWC and NCHW. */
const toNchw = (input: Given) => again(runForOne(transpose, [input, i32([4], [0, 3, 1, 2])]));
const toNhwc = (input: Tensor) => again(runForOne(transpose, [again(input), i32([4], [0, 2, 3, 1])]));

const extent = fc.integer({ min: 1, max: 3 });
const block = fc.integer({ min: 1, max: 3 });

describe("TRANSPOSE", () => {
  it("puts axes in the order given", () => {
    const output = runForOne(transpose, [makeCounting(2, 3), i32([2], [1, 0])]);
    expect(output.dimensions).toEqual([3, 2]);
    expect(valuesOf(output)).toEqual([1, 4, 2, 5, 3, 6]);
  });

  it("reverses the order if there is no permutation, for any rank", () => {
    expect(valuesOf(runForOne(transpose, [makeCounting(2, 3), giveOmitted("TENSOR_INT32")]))).toEqual([
      1, 4, 2, 5, 3, 6,
    ]);
    const output = runForOne(transpose, [makeCounting(2, 1, 3), giveOmitted("TENSOR_INT32")]);
    expect(output.dimensions).toEqual([3, 1, 2]);
    expect(valuesOf(output)).toEqual([1, 4, 2, 5, 3, 6]);
  });

  it("returns output[i…] = input[i at their axes] for any permutation", () => {
    const cases = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 4 }).chain((dimensions) => {
      const axes = dimensions.map((_, axis) => axis);
      return fc.tuple(fc.constant(dimensions), fc.shuffledSubarray(axes, { minLength: axes.length }));
    });
    fc.assert(
      fc.property(cases, ([dimensions, order]) => {
        const input = makeCounting(...dimensions);
        const output = runForOne(transpose, [input, i32([order.length], order)]);
        expect(output.dimensions).toEqual(order.map((axis) => dimensions[axis]));
        output.data.forEach((value, index) => {
          let rest = index;
          const position: number[] = [];
          for (let axis = order.length - 1; axis >= 0; axis--) {
            position[order[axis]] = rest % output.dimensions[axis];
            rest = Math.floor(rest / output.dimensions[axis]);
          }
          const source = position.reduce((sum, place, axis) => sum * dimensions[axis] + place, 0);
          expect(value).toBe(input.data[source]);
        });
      }),
    );
  });

  it("keeps scale and zero point, and float16 values", () => {
    const output = runForOne(transpose, [q8s([1, 2], 0.5, -1, [-128, 127]), i32([2], [1, 0])]);
    expect(output).toMatchObject({ dimensions: [2, 1], scale: 0.5, zeroPoint: -1 });
    expect(valuesOf(output)).toEqual([-128, 127]);
    expect(valuesOf(runForOne(transpose, [f16([2, 1], [0.5, 3]), i32([2], [1, 0])]))).toEqual([0.5, 3]);
  });

  it.each([[[0]], [[0, 0]], [[0, 2]], [[-1, 0]], [[0, 1, 2]]])("refuses %j as a permutation of 2 axes", (order) => {
    const run = () => runForOne(transpose, [makeCounting(2, 3), i32([order.length], order)]);
    expect(run).toThrow("is not a permutation of the axes 0 to 1");
  });

  it("takes the HAL's types", () => {
    expectTypes(transpose, floatAndQuant8Versions("1.1"), (type) => [tensorOf(type, [1]), i32([1])], declaredLike);
    expect(() => runForOne(transpose, [f32([1, 1, 1, 1, 1]), giveOmitted("TENSOR_INT32")])).toThrow(
      "input: expected rank 1 to 4, got 5",
    );
  });
});

describe("DEPTH_TO_SPACE and SPACE_TO_DEPTH", () => {
  it("spreads channels over a block, row by row", () => {
    const output = runForOne(depthToSpace, [makeCounting(1, 1, 2, 8), i32Scalar(2)]);
    expect(output.dimensions).toEqual([1, 2, 4, 2]);
    expect(valuesOf(output)).toEqual([1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8, 13, 14, 15, 16]);
  });

  it("gathers a block into channels, row by row", () => {
    const output = runForOne(spaceToDepth, [makeCounting(1, 2, 4, 1), i32Scalar(2)]);
    expect(output.dimensions).toEqual([1, 1, 2, 4]);
    expect(valuesOf(output)).toEqual([1, 2, 5, 6, 3, 4, 7, 8]);
  });

  it("undo each other, and mean the same in both layouts", () => {
    fc.assert(
      fc.property(extent, extent, extent, extent, block, (batches, height, width, depth, size) => {
        const input = makeCounting(batches, height, width, depth * size * size);
        const spread = again(runForOne(depthToSpace, [input, i32Scalar(size)]));
        expect(spread.dimensions).toEqual([batches, height * size, width * size, depth]);
        const gathered = runForOne(spaceToDepth, [spread, i32Scalar(size), boolScalar(false)]);
        expect(gathered).toMatchObject({ dimensions: input.dimensions, data: input.data });
        const nchw = runForOne(depthToSpace, [toNchw(input), i32Scalar(size), boolScalar(true)]);
        expect(toNhwc(nchw)).toEqual(spread);
        const back = runForOne(spaceToDepth, [again(nchw), i32Scalar(size), boolScalar(true)]);
        expect(toNhwc(back)).toMatchObject({ dimensions: input.dimensions, data: input.data });
      }),
      { numRuns: 50 },
    );
  });

  it("keeps scale and zero point", () => {
    for (const [operation, dimensions] of [
      [depthToSpace, [1, 1, 1, 4]],
      [spaceToDepth, [1, 2, 2, 1]],
    ] as const) {
      const output = runForOne(operation, [q8(dimensions, 0.5, 3, [1, 2, 3, 4]), i32Scalar(2)]);
      expect(output).toMatchObject({ scale: 0.5, zeroPoint: 3 });
      expect(valuesOf(output)).toEqual([1, 2, 3, 4]);
    }
  });

  it("works on no batches", () => {
    expect(runForOne(depthToSpace, [f32([0, 1, 1, 4]), i32Scalar(2)]).dimensions).toEqual([0, 2, 2, 1]);
    expect(runForOne(spaceToDepth, [f32([0, 2, 2, 1]), i32Scalar(2)]).dimensions).toEqual([0, 1, 1, 4]);
  });

  it("refuses extents that do not divide", () => {
    const image = makeCounting(1, 2, 3, 6);
    expect(() => runForOne(depthToSpace, [image, i32Scalar(2)])).toThrow("a depth of 6 is not a multiple of 4");
    expect(() => runForOne(spaceToDepth, [image, i32Scalar(3)])).toThrow("a height of 2 is not a multiple of 3");
    expect(() => runForOne(spaceToDepth, [image, i32Scalar(2)])).toThrow("a width of 3 is not a multiple of 2");
  });

  it.each([depthToSpace, spaceToDepth])("$name refuses block sizes below 1, and ranks other than 4", (operation) => {
    expect(valuesOf(runForOne(operation, [makeCounting(1, 1, 1, 2), i32Scalar(1)]))).toEqual([1, 2]);
    expect(() => runForOne(operation, [makeCounting(1, 1, 1, 2), i32Scalar(0)])).toThrow(
      "the block size: expected at least 1, got 0",
    );
    expect(() => runForOne(operation, [makeCounting(1, 1, 1, 2), i32Scalar(-1)])).toThrow(
      "the block size: expected at least 1, got -1",
    );
    expect(() => runForOne(operation, [makeCounting(1, 1, 1), i32Scalar(1)])).toThrow("input: expected rank 4, got 3");
  });

  it.each([depthToSpace, spaceToDepth])("$name accepts the HAL's types, and the layout from 1.2", (operation) => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1, 1, 1, 1]), i32Scalar(1)];
    expectTypes(operation, floatAndQuant8Versions("1.0"), inputs, declaredLike);
    expect(versionOf(operation, [...inputs("TENSOR_FLOAT32"), boolScalar(false)])).toBe("1.2");
    expect(mismatchOf(operation, [...inputs("TENSOR_FLOAT32"), i32Scalar(0)])).toContain(
      "input 2 (nchw): expected BOOL, got INT32",
    );
  });
});

describe("BATCH_TO_SPACE_ND and SPACE_TO_BATCH_ND", () => {
  const blockOf = (...sizes: number[]) => i32([sizes.length], sizes);
  const padsOf = (...pads: number[]) => i32([2, 2], pads);
  const noPads = padsOf(0, 0, 0, 0);

  it("spreads batches over blocks", () => {
    const output = runForOne(batchToSpaceNd, [makeCounting(4, 1, 1, 2), blockOf(2, 2)]);
    expect(output.dimensions).toEqual([1, 2, 2, 2]);
    expect(valuesOf(output)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const wide = runForOne(batchToSpaceNd, [makeCounting(4, 1, 2, 1), blockOf(1, 2)]);
    expect(wide.dimensions).toEqual([2, 1, 4, 1]);
    expect(valuesOf(wide)).toEqual([1, 5, 2, 6, 3, 7, 4, 8]);
  });

  it("takes places within blocks as batches", () => {
    const output = runForOne(spaceToBatchNd, [makeCounting(1, 2, 4, 1), blockOf(2, 2), noPads]);
    expect(output.dimensions).toEqual([4, 1, 2, 1]);
    expect(valuesOf(output)).toEqual([1, 3, 2, 4, 5, 7, 6, 8]);
  });

  it("pads with zeros, quantised images with the zero point", () => {
    // 1 2 behind one row and before one column: 0 0 0 / 1 2 0, in blocks of 2x3.
    const pads = padsOf(1, 0, 0, 1);
    const output = runForOne(spaceToBatchNd, [makeCounting(1, 1, 2, 1), blockOf(2, 3), pads]);
    expect(output.dimensions).toEqual([6, 1, 1, 1]);
    expect(valuesOf(output)).toEqual([0, 0, 0, 1, 2, 0]);
    const unsigned = runForOne(spaceToBatchNd, [q8([1, 1, 2, 1], 0.5, 9, [1, 2]), blockOf(2, 3), pads]);
    expect(valuesOf(unsigned)).toEqual([9, 9, 9, 1, 2, 9]);
    expect(unsigned).toMatchObject({ scale: 0.5, zeroPoint: 9 });
    const signed = runForOne(spaceToBatchNd, [q8s([1, 1, 2, 1], 0.5, -9, [1, 2]), blockOf(2, 3), pads]);
    expect(valuesOf(signed)).toEqual([-9, -9, -9, 1, 2, -9]);
  });

  it("undo each other, and mean the same in both layouts", () => {
    fc.assert(
      fc.property(extent, extent, extent, extent, block, block, (batches, rows, columns, depth, tall, wide) => {
        const input = makeCounting(batches, rows * tall, columns * wide, depth);
        const size = blockOf(tall, wide);
        const split = again(runForOne(spaceToBatchNd, [input, size, noPads]));
        expect(split.dimensions).toEqual([batches * tall * wide, rows, columns, depth]);
        expect(runForOne(batchToSpaceNd, [split, size])).toMatchObject({
          dimensions: input.dimensions,
          data: input.data,
        });
        const nchw = runForOne(spaceToBatchNd, [toNchw(input), size, noPads, boolScalar(true)]);
        expect(toNhwc(nchw)).toEqual(split);
        const back = runForOne(batchToSpaceNd, [again(nchw), size, boolScalar(true)]);
        expect(toNhwc(back)).toMatchObject({ dimensions: input.dimensions, data: input.data });
      }),
      { numRuns: 50 },
    );
  });

  it("pads the same in both layouts", () => {
    const input = makeCounting(2, 1, 2, 3);
    const pads = padsOf(2, 1, 0, 1);
    const nhwc = runForOne(spaceToBatchNd, [input, blockOf(2, 1), pads]);
    expect(nhwc.dimensions).toEqual([4, 2, 3, 3]);
    expect(toNhwc(runForOne(spaceToBatchNd, [toNchw(input), blockOf(2, 1), pads, boolScalar(true)]))).toEqual(nhwc);
  });

  it("refuses extents that do not divide", () => {
    const image = makeCounting(3, 2, 3, 1);
    const batch = () => runForOne(batchToSpaceNd, [image, blockOf(2, 1)]);
    expect(batch).toThrow("a number of batches of 3 is not a multiple of 2");
    const height = () => runForOne(spaceToBatchNd, [image, blockOf(2, 3), padsOf(1, 0, 0, 0)]);
    expect(height).toThrow("a padded height of 3 is not a multiple of 2");
    const width = () => runForOne(spaceToBatchNd, [image, blockOf(2, 2), noPads]);
    expect(width).toThrow("a padded width of 3 is not a multiple of 2");
  });

  it("refuses blocks that are not two extents of at least 1", () => {
    const image = makeCounting(1, 1, 1, 1);
    for (const [sizes, message] of [
      [[1], "the block: expected 2 extents (height and width), got 1"],
      [[1, 1, 1], "the block: expected 2 extents (height and width), got 3"],
      [[0, 1], "the block: expected extents of at least 1, got 0x1"],
      [[1, -1], "the block: expected extents of at least 1, got 1x-1"],
    ] as const) {
      expect(() => runForOne(batchToSpaceNd, [image, blockOf(...sizes)])).toThrow(message);
      expect(() => runForOne(spaceToBatchNd, [image, blockOf(...sizes), noPads])).toThrow(message);
    }
  });

  it("refuses pads below 0 or of another shape", () => {
    const image = makeCounting(1, 1, 1, 1);
    const pad = (pads: Given) => () => runForOne(spaceToBatchNd, [image, blockOf(1, 1), pads]);
    expect(pad(padsOf(0, -1, 0, 0))).toThrow("padding 0 and -1 of axis 0 is less than 0");
    expect(pad(padsOf(0, 0, -1, 0))).toThrow("padding -1 and 0 of axis 1 is less than 0");
    expect(pad(i32([1, 4]))).toThrow("the shape of the paddings: expected 2x2, got 1x4");
    expect(pad(i32([4]))).toThrow("paddings: expected rank 2, got 1");
  });

  it("take the HAL's types, and the layout from 1.2", () => {
    const toSpace = (type: OperandTypeName) => [tensorOf(type, [1, 1, 1, 1]), blockOf(1, 1)];
    expectTypes(batchToSpaceNd, floatAndQuant8Versions("1.1"), toSpace, declaredLike);
    const toBatch = (type: OperandTypeName) => [...toSpace(type), noPads];
    expectTypes(spaceToBatchNd, floatAndQuant8Versions("1.1"), toBatch, declaredLike);
    expect(versionOf(batchToSpaceNd, [...toSpace("TENSOR_FLOAT32"), boolScalar(false)])).toBe("1.2");
    expect(versionOf(spaceToBatchNd, [...toBatch("TENSOR_FLOAT32"), boolScalar(false)])).toBe("1.2");
  });

  it("need 1.2 for padding with a zero point other than 0", () => {
    const version = (zeroPoint: number) =>
      versionOf(spaceToBatchNd, [q8([1, 1, 1, 1], 1, zeroPoint, [0]), blockOf(1, 1), noPads]);
    expect(version(0)).toBe("1.1");
    expect(version(1)).toBe("1.2");
  });
});

describe("CHANNEL_SHUFFLE", () => {
  const shuffled = (input: Given, groups: number, axis: number) =>
    runForOne(channelShuffle, [input, i32Scalar(groups), i32Scalar(axis)]);

  it("brings together channels with the same place in each group", () => {
    expect(valuesOf(shuffled(makeCounting(6), 2, 0))).toEqual([1, 4, 2, 5, 3, 6]);
    expect(valuesOf(shuffled(makeCounting(6), 3, -1))).toEqual([1, 3, 5, 2, 4, 6]);
    expect(valuesOf(shuffled(makeCounting(4, 2), 2, 0))).toEqual([1, 2, 5, 6, 3, 4, 7, 8]);
    expect(valuesOf(shuffled(makeCounting(2, 4), 2, 1))).toEqual([1, 3, 2, 4, 5, 7, 6, 8]);
  });

  it("is undone by shuffling with as many groups as a group had channels", () => {
    fc.assert(
      fc.property(extent, block, block, extent, (outer, groups, size, inner) => {
        const input = makeCounting(outer, groups * size, inner);
        const back = shuffled(again(shuffled(input, groups, 1)), size, -2);
        expect(valuesOf(back)).toEqual(valuesOf(input));
      }),
    );
  });

  it("keeps scale and zero point", () => {
    const output = shuffled(q8([4], 0.5, 6, [1, 2, 3, 4]), 2, 0);
    expect(output).toMatchObject({ dimensions: [4], scale: 0.5, zeroPoint: 6 });
    expect(valuesOf(output)).toEqual([1, 3, 2, 4]);
  });

  it("refuses groups that do not divide the channels, and axes outside", () => {
    expect(() => shuffled(makeCounting(6), 4, 0)).toThrow("6 channels do not divide into 4 groups");
    expect(() => shuffled(makeCounting(6), 0, 0)).toThrow("the number of groups: expected at least 1, got 0");
    expect(() => shuffled(makeCounting(6), 2, 1)).toThrow("axis 1 is outside [-1, 1)");
    expect(() => shuffled(makeCounting(6), 2, -2)).toThrow("axis -2 is outside [-1, 1)");
    expect(() => shuffled(makeCounting(1, 1, 1, 1, 6), 2, 4)).toThrow("input: expected rank 1 to 4, got 5");
  });

  it("takes the HAL's types", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), i32Scalar(1), i32Scalar(0)];
    expectTypes(channelShuffle, floatAndQuant8Versions("1.2"), inputs, declaredLike);
  });
});

describe("TILE", () => {
  const tiled = (input: Given, ...multiples: number[]) => runForOne(tile, [input, i32([multiples.length], multiples)]);

  it("repeats along each axis", () => {
    expect(valuesOf(tiled(makeCounting(3), 2))).toEqual([1, 2, 3, 1, 2, 3]);
    const output = tiled(makeCounting(2, 2), 2, 3);
    expect(output.dimensions).toEqual([4, 6]);
    const rows = [
      [1, 2, 1, 2, 1, 2],
      [3, 4, 3, 4, 3, 4],
    ];
    expect(valuesOf(output)).toEqual([...rows, ...rows].flat());
  });

  it("returns output[i…] = input[i mod extent…] at any rank", () => {
    const axis = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }));
    fc.assert(
      fc.property(fc.array(axis, { minLength: 1, maxLength: 5 }), (axes) => {
        const input = makeCounting(...axes.map(([size]) => size));
        const output = tiled(input, ...axes.map(([, multiple]) => multiple));
        output.data.forEach((value, index) => {
          let rest = index;
          let source = 0;
          let stride = 1;
          for (let at = axes.length - 1; at >= 0; at--) {
            const [size, multiple] = axes[at];
            source += ((rest % (size * multiple)) % size) * stride;
            rest = Math.floor(rest / (size * multiple));
            stride *= size;
          }
          expect(value).toBe(input.data[source]);
        });
      }),
    );
  });

  it("keeps scale and zero point", () => {
    const output = tiled(q8s([1], 0.25, 5, [-4]), 2);
    expect(output).toMatchObject({ dimensions: [2], scale: 0.25, zeroPoint: 5 });
    expect(valuesOf(output)).toEqual([-4, -4]);
  });

  it("refuses multiples below 0, or not one for each axis", () => {
    expect(tiled(makeCounting(2), 0).dimensions).toEqual([0]);
    expect(() => tiled(makeCounting(2), -1)).toThrow("the multiple of axis 0 is -1, less than 0");
    expect(() => tiled(makeCounting(2), 1, 1)).toThrow("expected 1 multiples (the rank), got 2");
    expect(() => tiled(makeCounting(2, 2), 1)).toThrow("expected 2 multiples (the rank), got 1");
    expect(() => runForOne(tile, [makeCounting(2), i32([1, 1], [1])])).toThrow("multiples: expected rank 1, got 2");
  });

  it("takes the HAL's types", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), i32([1])];
    expectTypes(tile, floatIntegerAndQuant8Versions, inputs, declaredLike);
  });
});
