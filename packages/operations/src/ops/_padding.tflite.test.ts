import { describe, expect, it } from "vitest";
import { paddingTypes } from "./_padding.tflite.ts";
import { float32, int32 } from "./_run.tflite.test-helper.ts";
import { depthTypes, movedTypes, realTypes } from "./_types.tflite.ts";
import { floats, ints, list, longs, resultOf, tensorOf } from "./_values.tflite.test-helper.ts";

const pads = (...values: readonly number[]) => ints([values.length / 2, 2], values);

describe("PAD", () => {
  it("pads every type, with paddings of every type", async () => {
    for (const type of movedTypes) {
      for (const integer of paddingTypes) {
        const operands = [tensorOf(type, [1, 2], [1, 1]), tensorOf(integer, [2, 2], [1, 0, 0, 1])];
        expect(await resultOf("PAD", operands)).toEqual([
          [2, 3],
          [0, 0, 0, 1, 1, 0],
        ]);
      }
    }
  });

  it("pads quantised tensors with the zero point, and more than 4 axes", async () => {
    const input = { ...tensorOf("TENSOR_QUANT8_ASYMM", [1], [9]), zeroPoint: 7 };
    expect(await resultOf("PAD", [input, pads(1, 1)], input.type, { zeroPoint: 7 })).toEqual([[3], [7, 9, 7]]);
    const operands = [floats([1, 1, 1, 1, 1], [5]), pads(0, 0, 0, 0, 0, 0, 0, 0, 1, 0)];
    expect(await resultOf("PAD", operands)).toEqual([
      [1, 1, 1, 1, 2],
      [0, 5],
    ]);
  });

  it("refuses paddings of less than 0, and of another shape", async () => {
    await expect(resultOf("PAD", [floats([2]), pads(0, -1)])).rejects.toThrow(
      "padding 0 and -1 of axis 0 is less than 0",
    );
    await expect(resultOf("PAD", [floats([2]), longs([2, 2], [0, 0, 0, 0])])).rejects.toThrow(
      "the shape of the paddings: expected 1x2, got 2x2",
    );
  });
});

describe("PAD_V2", () => {
  it("pads every type with a computed value", async () => {
    for (const type of movedTypes) {
      const operands = [tensorOf(type, [2], [0, 0]), pads(1, 2), tensorOf(type, [1], [1])];
      expect(await resultOf("PAD_V2", operands)).toEqual([[5], [1, 0, 0, 1, 1]]);
    }
  });

  it("takes the scalars of the HAL", async () => {
    expect(await resultOf("PAD_V2", [floats([1]), pads(1, 0), float32(2.5)])).toEqual([[2], [2.5, 0]]);
    const shorts = tensorOf("TENSOR_QUANT16_SYMM", [1], [3]);
    expect(await resultOf("PAD_V2", [shorts, pads(0, 1), int32(-300)])).toEqual([[2], [3, -300]]);
  });

  it("refuses a value of several elements", async () => {
    await expect(resultOf("PAD_V2", [floats([1]), pads(1, 0), floats([2])])).rejects.toThrow(
      "the value: expected 1 element, got 2",
    );
  });
});

describe("MIRROR_PAD", () => {
  const mirror = (mode: number, ...values: readonly number[]) =>
    resultOf("MIRROR_PAD", [floats([3]), pads(...values), int32(mode)]);
  it("reflects elements of every type, without the border or with it", async () => {
    for (const type of realTypes) {
      const operands = [tensorOf(type, [1, 3], [1, 0, 0]), longs([2, 2], [0, 0, 2, 1])];
      expect(await resultOf("MIRROR_PAD", [...operands, int32(0)])).toEqual([
        [1, 6],
        [0, 0, 1, 0, 0, 0],
      ]);
      expect(await resultOf("MIRROR_PAD", [...operands, int32(1)])).toEqual([
        [1, 6],
        [0, 1, 1, 0, 0, 0],
      ]);
    }
  });

  it("repeats as many elements as there are", async () => {
    expect(await mirror(0, 2, 2)).toEqual([[7], [2, 1, 0, 1, 2, 1, 0]]);
    expect(await mirror(1, 3, 3)).toEqual([[9], [2, 1, 0, 0, 1, 2, 2, 1, 0]]);
    await expect(mirror(0, 3, 0)).rejects.toThrow("padding 3 and 0 of axis 0 is more than the 2 elements to repeat");
    await expect(mirror(1, 0, 4)).rejects.toThrow("padding 0 and 4 of axis 0 is more than the 3 elements to repeat");
    await expect(mirror(1, 0, -1)).rejects.toThrow("padding 0 and -1 of axis 0 is less than 0");
  });

  it("refuses other modes", async () => {
    await expect(mirror(2, 0, 0)).rejects.toThrow("the mode: expected 0 (REFLECT) or 1 (SYMMETRIC), got 2");
  });
});

describe("SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND", () => {
  it("are each the reverse of the other for every type, with two spatial axes and with one", async () => {
    for (const type of realTypes) {
      const values = [1, 0, 0, 1, 1, 1, 0, 1];
      const image = tensorOf(type, [1, 2, 4, 1], values);
      const [dimensions, batches] = await resultOf("SPACE_TO_BATCH_ND", [image, list(2, 2), pads(0, 0, 0, 0)]);
      expect([dimensions, batches]).toEqual([
        [4, 1, 2, 1],
        [1, 0, 0, 1, 1, 0, 1, 1],
      ]);
      const back = await resultOf("BATCH_TO_SPACE_ND", [tensorOf(type, dimensions, batches), list(2, 2)]);
      expect(back).toEqual([[1, 2, 4, 1], values]);
      const rows = tensorOf(type, [1, 4, 2], values);
      const [shape, parts] = await resultOf("SPACE_TO_BATCH_ND", [rows, list(2), pads(0, 0)]);
      expect([shape, parts]).toEqual([
        [2, 2, 2],
        [1, 0, 1, 1, 0, 1, 0, 1],
      ]);
      expect(await resultOf("BATCH_TO_SPACE_ND", [tensorOf(type, shape, parts), list(2)])).toEqual([[1, 4, 2], values]);
    }
  });

  it("pad with the zero point, and crop", async () => {
    const input = { ...tensorOf("TENSOR_QUANT8_ASYMM_SIGNED", [1, 1, 1], [9]), zeroPoint: -3 };
    const output = { zeroPoint: -3 };
    const padded = await resultOf("SPACE_TO_BATCH_ND", [input, list(2), pads(1, 2)], input.type, output);
    expect(padded).toEqual([
      [2, 2, 1],
      [-3, -3, 9, -3],
    ]);
    const batches = floats([4, 1, 2, 1], [0, 2, 1, 3, 4, 6, 5, 7]);
    const cropped = await resultOf("BATCH_TO_SPACE_ND", [batches, list(2, 2), pads(0, 1, 1, 2)]);
    expect(cropped).toEqual([[1, 1, 1, 1], [1]]);
  });

  it("refuse blocks, paddings and crops that do not fit", async () => {
    const image = floats([2, 3, 1]);
    const spread = (block: ReturnType<typeof list>, ...crops: readonly number[]) =>
      resultOf("BATCH_TO_SPACE_ND", [image, block, pads(...crops)]);
    await expect(resultOf("SPACE_TO_BATCH_ND", [image, list(2), pads(0, 0)])).rejects.toThrow(
      "the padded extent of axis 1, 3, is not a multiple of 2",
    );
    await expect(resultOf("SPACE_TO_BATCH_ND", [image, list(0), pads(0, 0)])).rejects.toThrow(
      "the block: expected extents of at least 1, got 0",
    );
    await expect(resultOf("SPACE_TO_BATCH_ND", [image, list(1), pads(0, -1)])).rejects.toThrow(
      "the paddings, [0,-1], have a number of less than 0",
    );
    await expect(resultOf("SPACE_TO_BATCH_ND", [image, list(1, 1), pads(0, 0)])).rejects.toThrow(
      "the shape of the block: expected 1, got 2",
    );
    await expect(resultOf("SPACE_TO_BATCH_ND", [image, list(1), pads(0, 0, 0, 0)])).rejects.toThrow(
      "the shape of the paddings: expected 1x2, got 2x2",
    );
    expect(await spread(list(2), 3, 3)).toEqual([[1, 0, 1], []]);
    await expect(spread(list(2), 3, 4)).rejects.toThrow("crops 3 and 4 of axis 1 are more than its extent of 6");
    await expect(spread(list(3), 0, 0)).rejects.toThrow("the number of batches, 2, is not a multiple of 3");
    await expect(spread(list(2), -1, 0)).rejects.toThrow("the crops, [-1,0], have a number of less than 0");
  });
});

describe("SPACE_TO_DEPTH and DEPTH_TO_SPACE", () => {
  it("are each the reverse of the other for every type", async () => {
    for (const type of depthTypes) {
      const [dimensions, deep] = await resultOf("SPACE_TO_DEPTH", [
        tensorOf(type, [1, 2, 2, 2], [0, 1, 2, 3, 4, 5, 6, 7]),
        int32(2),
      ]);
      expect([dimensions, deep]).toEqual([
        [1, 1, 1, 8],
        [0, 1, 2, 3, 4, 5, 6, 7],
      ]);
      expect(await resultOf("DEPTH_TO_SPACE", [tensorOf(type, [1, 1, 1, 8], deep), int32(2)])).toEqual([
        [1, 2, 2, 2],
        deep,
      ]);
    }
  });
});
