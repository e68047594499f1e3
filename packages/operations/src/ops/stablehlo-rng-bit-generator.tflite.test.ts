import { describe, expect, it } from "vitest";
import type { ExtensionOperandType } from "../operand-type.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { int32, runOperation } from "./_run.tflite.test-helper.ts";
import { list } from "./_values.tflite.test-helper.ts";

const { TENSOR_INT64, TENSOR_UINT32, TENSOR_UINT64 } = tfliteTypes;
const [DEFAULT, PHILOX, THREEFRY] = [0, 1, 2];

async function bits(
  algorithm: number | undefined,
  state: readonly bigint[],
  type: "TENSOR_INT32" | ExtensionOperandType,
  shape: readonly number[] = [2, 3],
) {
  const given = { type: TENSOR_UINT64, dimensions: [state.length], data: BigUint64Array.from(state) };
  const inputs = [given, int32(algorithm ?? 0), list(...shape)];
  const [next, output] = await runOperation("STABLEHLO_RNG_BIT_GENERATOR", inputs, [{ type: TENSOR_UINT64 }, { type }]);
  return { state: [...(next?.data ?? [])], shape: output?.dimensions, bits: [...(output?.data ?? [])] };
}

describe("STABLEHLO_RNG_BIT_GENERATOR", () => {
  it("has the example of StableHLO's specification", async () => {
    expect(await bits(THREEFRY, [1n, 2n], TENSOR_UINT64, [2, 2])).toEqual({
      state: [1n, 6n],
      shape: [2, 2],
      bits: [9236835810183407956n, 16087790271692313299n, 18212823393184779219n, 2658481902456610144n],
    });
  });

  // Results of XLA for these states.
  const philox = [4031113034, 1366700262, 495645701, 3051723414, 89414891, 1917262711];
  const threefry = [43444564, 2150618427, 3979645651, 3745730563, 1672743891, 4240503393];

  it.each([
    ["PHILOX", PHILOX, [1n, 2n, 3n], [1n, 4n, 3n], philox],
    ["DEFAULT, which is PHILOX,", DEFAULT, [1n, 2n, 3n], [1n, 4n, 3n], philox],
    ["THREEFRY", THREEFRY, [1n, 2n], [1n, 5n], threefry],
  ])("%s in 32 bits", async (_, algorithm, state, next, words) => {
    expect(await bits(algorithm, state, TENSOR_UINT32)).toEqual({ state: next, shape: [2, 3], bits: words });
    expect((await bits(algorithm, state, "TENSOR_INT32")).bits).toEqual(words.map((word) => word | 0));
  });

  it("PHILOX in 64 bits", async () => {
    const words = [
      ...[5869932932755744586n, 13107052260063114245n, 8234580641674714347n],
      ...[2641225993340350124n, 1962472297844690804n, 14865887844143937481n],
    ];
    expect(await bits(PHILOX, [1n, 2n, 3n], TENSOR_UINT64)).toEqual({
      state: [1n, 5n, 3n],
      shape: [2, 3],
      bits: words,
    });
    const signed = words.map((word) => BigInt.asIntN(64, word));
    expect((await bits(PHILOX, [1n, 2n, 3n], TENSOR_INT64)).bits).toEqual(signed);
  });

  it("without a third element, the key is the upper half of PHILOX's counter", async () => {
    expect(await bits(PHILOX, [7n, 2n], TENSOR_UINT64)).toEqual({
      ...(await bits(PHILOX, [7n, 2n, 7n], TENSOR_UINT64)),
      state: [7n, 5n],
    });
  });

  it("the counter has 64 bits", async () => {
    expect((await bits(THREEFRY, [1n, 0xffff_ffffn], TENSOR_UINT64, [1])).state).toEqual([1n, 0x1_0000_0000n]);
    expect((await bits(THREEFRY, [1n, 2n ** 64n - 1n], TENSOR_UINT64, [1])).state).toEqual([1n, 0n]);
  });

  it.each([
    [3, [1n, 2n], "the algorithm: expected 0 to 2, got 3"],
    [-1, [1n, 2n], "the algorithm: expected 0 to 2, got -1"],
    [PHILOX, [1n], "the state: expected 2 or 3 elements, got 1"],
    [PHILOX, [1n, 2n, 3n, 4n], "the state: expected 2 or 3 elements, got 4"],
    [THREEFRY, [1n, 2n, 3n], "the state: expected 2 elements, got 3"],
  ])("refuses algorithm %d with state %s", async (algorithm, state, message) => {
    await expect(bits(algorithm, state, TENSOR_UINT64)).rejects.toThrow(message);
  });
});
