import { describe, expect, it } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { int32 } from "./_run.tflite.test-helper.ts";
import { complexTypes, movedTypes, packTypes, realTypes, unpackTypes } from "./_types.tflite.ts";
import {
  bools,
  floats,
  ints,
  list,
  longList,
  longs,
  resultOf,
  resultsOf,
  tensorOf,
  upTo,
} from "./_values.tflite.test-helper.ts";

const { TENSOR_COMPLEX64, TENSOR_INT64, TENSOR_UINT32 } = tfliteTypes;

describe("RESHAPE, SQUEEZE and EXPAND_DIMS", () => {
  it("keep elements of every type", async () => {
    for (const type of [...realTypes, ...complexTypes]) {
      const numbers = complexTypes.some((complex) => complex === type) ? [1, 0, 0, 1] : [1, 0];
      const input = { ...tensorOf(type, [1, 2], []), data: tensorOf(type, [], numbers).data };
      if (numbers.length === 4) {
        Object.assign(input, {
          data: type === TENSOR_COMPLEX64 ? Float32Array.from(numbers) : Float64Array.from(numbers),
        });
      }
      expect(await resultOf("RESHAPE", [input, list(-1)])).toEqual([[2], numbers]);
      expect(await resultOf("SQUEEZE", [input, undefined])).toEqual([[2], numbers]);
      expect(await resultOf("EXPAND_DIMS", [input, int32(-1)])).toEqual([[1, 2, 1], numbers]);
    }
  });

  it("take more than 4 axes", async () => {
    expect(await resultOf("RESHAPE", [floats([1, 1, 1, 1, 2]), list(2, 1, 1, 1, 1, 1)])).toEqual([
      [2, 1, 1, 1, 1, 1],
      [0, 1],
    ]);
    expect(await resultOf("SQUEEZE", [floats([1, 1, 2, 1, 1, 1]), list(0, -1)])).toEqual([
      [1, 2, 1, 1],
      [0, 1],
    ]);
  });

  it("take a computed axis of 32 or 64 bits, which is one number", async () => {
    expect(await resultOf("EXPAND_DIMS", [floats([2]), list(0)])).toEqual([
      [1, 2],
      [0, 1],
    ]);
    expect(await resultOf("EXPAND_DIMS", [floats([2]), longList(-1)])).toEqual([
      [2, 1],
      [0, 1],
    ]);
    expect(await resultOf("EXPAND_DIMS", [floats([2]), { ...longList(1), isConstant: true }])).toEqual([
      [2, 1],
      [0, 1],
    ]);
    await expect(resultOf("EXPAND_DIMS", [floats([2]), list(0, 1)])).rejects.toThrow("axis: expected 1 element, got 2");
    await expect(resultOf("EXPAND_DIMS", [floats([2]), longList(2)])).rejects.toThrow("axis 2 is outside [-2, 2)");
  });
});

describe("SHAPE and RANK", () => {
  it("return the extents, and how many they are, of every type", async () => {
    for (const type of realTypes) {
      const input = tensorOf(type, [2, 0, 3], []);
      expect(await resultOf("SHAPE", [input, int32(2)], "TENSOR_INT32")).toEqual([[3], [2, 0, 3]]);
      expect(await resultOf("SHAPE", [input, int32(4)], TENSOR_INT64)).toEqual([[3], [2, 0, 3]]);
      expect(await resultOf("RANK", [input], "TENSOR_INT32")).toEqual([[1], [3]]);
    }
  });
});

describe("TILE, BROADCAST_TO and BROADCAST_ARGS", () => {
  it("repeat elements of every type", async () => {
    for (const type of realTypes) {
      const input = tensorOf(type, [2, 1], [1, 0]);
      expect(await resultOf("TILE", [input, longList(1, 2)])).toEqual([
        [2, 2],
        [1, 1, 0, 0],
      ]);
      expect(await resultOf("BROADCAST_TO", [input, list(1, 2, 2)])).toEqual([
        [1, 2, 2],
        [1, 1, 0, 0],
      ]);
      expect(await resultOf("BROADCAST_TO", [input, longList(2, 0)])).toEqual([[2, 0], []]);
    }
    expect(await resultOf("BROADCAST_TO", [floats([1]), list()])).toEqual([[1], [0]]);
  });

  it("refuse shapes that do not broadcast, and multiples that are not for each axis", async () => {
    await expect(resultOf("BROADCAST_TO", [floats([2, 1]), list(2)])).rejects.toThrow(
      "shape 2x1 does not broadcast to 2",
    );
    await expect(resultOf("BROADCAST_TO", [floats([2]), list(1)])).rejects.toThrow("shape 2 does not broadcast to 1");
    await expect(resultOf("BROADCAST_TO", [floats([2]), list(3)])).rejects.toThrow("shapes 2 and 3 do not broadcast");
    await expect(resultOf("BROADCAST_TO", [floats([1]), list(-1)])).rejects.toThrow("shape 1 does not broadcast to -1");
    await expect(resultOf("TILE", [floats([2]), longList(1, 1)])).rejects.toThrow(
      "expected 1 multiples (the rank), got 2",
    );
  });

  it("return the shape that two shapes broadcast to", async () => {
    expect(await resultOf("BROADCAST_ARGS", [list(3, 1), list(2, 1, 4)])).toEqual([[3], [2, 3, 4]]);
    expect(await resultOf("BROADCAST_ARGS", [longList(), longList(5)])).toEqual([[1], [5]]);
    await expect(resultOf("BROADCAST_ARGS", [list(3), list(2)])).rejects.toThrow("shapes 3 and 2 do not broadcast");
    await expect(resultOf("BROADCAST_ARGS", [list(-3), list(1)])).rejects.toThrow(
      "the shape [-3] has an extent of less than 0",
    );
    await expect(resultOf("BROADCAST_ARGS", [list(3), longList(3)])).rejects.toThrow("input 1 (shape2)");
  });
});

describe("REVERSE_V2 and REVERSE_SEQUENCE", () => {
  it("turn elements of every type around", async () => {
    for (const type of movedTypes) {
      const input = tensorOf(type, [2, 3], [1, 0, 0, 1, 1, 0]);
      expect(await resultOf("REVERSE_V2", [input, list(1)])).toEqual([
        [2, 3],
        [0, 0, 1, 0, 1, 1],
      ]);
      expect(await resultOf("REVERSE_V2", [input, list(0, -1)])).toEqual([
        [2, 3],
        [0, 1, 1, 0, 0, 1],
      ]);
      expect(await resultOf("REVERSE_V2", [input, list()])).toEqual([
        [2, 3],
        [1, 0, 0, 1, 1, 0],
      ]);
    }
  });

  it("refuse axes that are not there, or twice", async () => {
    await expect(resultOf("REVERSE_V2", [floats([2]), list(1)])).rejects.toThrow("axis 1 is outside [-1, 1)");
    await expect(resultOf("REVERSE_V2", [floats([2]), list(0, -1)])).rejects.toThrow(
      "the axes [0,-1] name one axis twice",
    );
  });

  const reverse = (lengths: ReturnType<typeof list>, seqDim: number, batchDim: number) =>
    resultOf("REVERSE_SEQUENCE", [ints([2, 3]), lengths, int32(seqDim), int32(batchDim)]);
  it("turn the first elements of each sequence around", async () => {
    expect(await reverse(list(2, 3), 1, 0)).toEqual([
      [2, 3],
      [1, 0, 2, 5, 4, 3],
    ]);
    expect(await reverse(longList(0, 2, 1), 0, 1)).toEqual([
      [2, 3],
      [0, 4, 2, 3, 1, 5],
    ]);
    const input = longs([2, 1, 2, 2]);
    expect(await resultOf("REVERSE_SEQUENCE", [input, list(2, 1), int32(0), int32(2)])).toEqual([
      [2, 1, 2, 2],
      [4, 5, 2, 3, 0, 1, 6, 7],
    ]);
  });

  it("refuse axes and lengths that do not fit", async () => {
    await expect(reverse(list(2, 4), 1, 0)).rejects.toThrow("length 4 of sequence 1 is outside [0, 3]");
    await expect(reverse(list(-1, 0), 1, 0)).rejects.toThrow("length -1 of sequence 0 is outside [0, 3]");
    await expect(reverse(list(1), 1, 0)).rejects.toThrow("expected 2 lengths (the extent of axis 0), got 1");
    await expect(reverse(list(1, 1), 1, 1)).rejects.toThrow("seqDim and batchDim are both 1");
    await expect(reverse(list(1, 1), 2, 0)).rejects.toThrow("seqDim is 2, outside [0, 2)");
    await expect(reverse(list(1, 1), 1, -1)).rejects.toThrow("batchDim is -1, outside [0, 2)");
  });
});

describe("CONCATENATION, PACK and UNPACK", () => {
  it("join and divide elements of every type", async () => {
    for (const type of packTypes) {
      const [a, b] = [tensorOf(type, [2], [1, 2]), tensorOf(type, [2], [3, 4])];
      expect(await resultOf("PACK", [a, b, int32(2), int32(0)])).toEqual([
        [2, 2],
        [1, 2, 3, 4],
      ]);
      expect(await resultOf("PACK", [a, b, int32(2), int32(-1)])).toEqual([
        [2, 2],
        [1, 3, 2, 4],
      ]);
      expect(await resultOf("CONCATENATION", [a, b, int32(0)])).toEqual([[4], [1, 2, 3, 4]]);
    }
    expect(await resultOf("CONCATENATION", [bools([1], [1]), bools([1], [0]), int32(0)])).toEqual([[2], [1, 0]]);
    const five = ints([1, 1, 1, 1, 1], [7]);
    expect(await resultOf("CONCATENATION", [five, five, int32(4)])).toEqual([
      [1, 1, 1, 1, 2],
      [7, 7],
    ]);
    for (const type of unpackTypes) {
      const output = { type, ...(type.includes("QUANT") && { scale: 1 }) };
      const parts = await resultsOf(
        "UNPACK",
        [tensorOf(type, [2, 2], [1, 0, 0, 1]), int32(2), int32(-1)],
        [output, output],
      );
      expect(parts).toEqual([
        [[2], [1, 0]],
        [[2], [0, 1]],
      ]);
    }
  });

  it("join scalars to a list if the result is declared as one, and divide a list into scalars", async () => {
    const scalars = [ints([1], [5]), ints([1], [6]), int32(2), int32(0)];
    expect(await resultOf("PACK", scalars)).toEqual([
      [2, 1],
      [5, 6],
    ]);
    expect(await resultOf("PACK", scalars, "TENSOR_INT32", { dimensions: [2] })).toEqual([[2], [5, 6]]);
    const one = { type: "TENSOR_INT32" } as const;
    expect(await resultsOf("UNPACK", [ints([2]), int32(2), int32(0)], [one, one])).toEqual([
      [[1], [0]],
      [[1], [1]],
    ]);
  });

  it("refuse values that differ, and other numbers of them", async () => {
    const pack = (...operands: Parameters<typeof resultOf>[1]) => resultOf("PACK", operands);
    await expect(pack(ints([2]), ints([3]), int32(2), int32(0))).rejects.toThrow(
      "value 1: expected value 0's shape 2, got 3",
    );
    await expect(pack(ints([2]), int32(2), int32(0))).rejects.toThrow("valuesCount is 2, but there are 1 values");
    await expect(pack(ints([2]), int32(1), int32(2))).rejects.toThrow("axis 2 is outside [-2, 2)");
    const byte = tensorOf("TENSOR_QUANT8_ASYMM", [1], [1]);
    await expect(pack(byte, { ...byte, scale: 2 }, int32(2), int32(0))).rejects.toThrow(
      "value 1: expected value 0's scale 1 and zero point 0, got 2 and 0",
    );
    const one = { type: "TENSOR_INT32" } as const;
    const unpack = (num: number, axis: number) =>
      resultsOf("UNPACK", [ints([2, 3]), int32(num), int32(axis)], [one, one]);
    await expect(unpack(3, 0)).rejects.toThrow("num is 3, but there are 2 outputs");
    await expect(unpack(2, 1)).rejects.toThrow("axis 1: expected extent 2 (num), got 3");
    await expect(unpack(2, 2)).rejects.toThrow("axis 2 is outside [-2, 2)");
  });
});

describe("BITCAST", () => {
  it("changes the type, and adds or removes an axis", async () => {
    expect(await resultOf("BITCAST", [floats([1], [1])], TENSOR_UINT32)).toEqual([[1], [0x3f80_0000]]);
    expect(await resultOf("BITCAST", [longs([1, 1], [258])], "TENSOR_QUANT8_ASYMM")).toEqual([
      [1, 1, 8],
      [2, 1, 0, 0, 0, 0, 0, 0],
    ]);
    expect(await resultOf("BITCAST", [longs([1], [258])], "TENSOR_QUANT8_ASYMM", { dimensions: [8] })).toEqual([
      [8],
      [2, 1, 0, 0, 0, 0, 0, 0],
    ]);
    expect(await resultOf("BITCAST", [tensorOf("TENSOR_FLOAT16", [2], [1, -2])], "TENSOR_QUANT16_ASYMM")).toEqual([
      [2],
      [0x3c00, 0xc000],
    ]);
    expect(await resultOf("BITCAST", [ints([2, 2], [0, 0x3ff0_0000, 1, 0])], tfliteTypes.TENSOR_FLOAT64)).toEqual([
      [2],
      [1, 2 ** -1074],
    ]);
    expect(await resultOf("BITCAST", [ints([2])], TENSOR_INT64)).toEqual([[1], [2 ** 32]]);
  });

  it("converts long tensors in parts", async () => {
    const count = (1 << 16) + 3;
    const bytes = tensorOf(
      "TENSOR_QUANT8_ASYMM",
      [count, 2],
      upTo([count, 2]).map((value) => value % 256),
    );
    const [dimensions, elements] = await resultOf("BITCAST", [bytes], "TENSOR_QUANT16_ASYMM");
    expect(dimensions).toEqual([count]);
    expect(elements.every((element, index) => element === ((2 * index) % 256) + 256 * ((2 * index + 1) % 256))).toBe(
      true,
    );
  });

  it("refuses a last extent that is not one element of the result", async () => {
    await expect(resultOf("BITCAST", [ints([2, 3])], TENSOR_INT64)).rejects.toThrow(
      "the last extent: expected 2 elements for each of the result, got 3",
    );
  });
});
