import { describe, expect, it } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { type GivenInput, int32, runOperation } from "./_run.tflite.test-helper.ts";
import { longList, tensorOf } from "./_values.tflite.test-helper.ts";

const [ADD, MUL, MINIMUM, MAXIMUM, ALL, ANY] = [1, 2, 3, 4, 5, 6];

interface Case {
  readonly input?: GivenInput;
  readonly init?: GivenInput;
  readonly shape?: readonly number[];
  readonly strides?: readonly number[];
  readonly dilations?: readonly number[];
}

const floats = (dimensions: readonly number[], ...values: readonly number[]) =>
  tensorOf("TENSOR_FLOAT32", dimensions, values);

/** 1 2 3 4, 5 6 7 8, 9 10 11 12 */
const grid = floats([3, 4], ...Array.from({ length: 12 }, (_, index) => index + 1));

async function reduce(code: number | undefined, given: Case = {}) {
  const { input = grid, init = floats([1], 0), shape = [2, 2], strides = [1, 1], dilations = [1, 1] } = given;
  const { type, scale } = input;
  const [result] = await runOperation(
    "REDUCE_WINDOW",
    [input, init, longList(...shape), longList(...strides), longList(...dilations), int32(code ?? 0)],
    [{ type, ...(scale !== undefined && { scale }) }],
  );
  return { shape: result?.dimensions, values: Array.from<number | bigint, number>(result?.data ?? [], Number) };
}

describe("REDUCE_WINDOW", () => {
  it.each([
    ["ADD", ADD, [14, 18, 22, 30, 34, 38]],
    ["MUL", MUL, [60, 252, 672, 2700, 4620, 7392]],
    ["MINIMUM", MINIMUM, [1, 2, 3, 5, 6, 7]],
    ["MAXIMUM", MAXIMUM, [6, 7, 8, 10, 11, 12]],
  ])("%s", async (_, code, values) => {
    const init = floats([1], code === MUL ? 1 : code === MINIMUM ? 99 : 0);
    expect(await reduce(code, { init })).toEqual({ shape: [2, 3], values });
  });

  it("ALL and ANY", async () => {
    const input = floats([4], 0, 2, 3, 0);
    const line = { input, shape: [2], strides: [1], dilations: [1] };
    expect((await reduce(ALL, { ...line, init: floats([1], 1) })).values).toEqual([0, 1, 0]);
    expect((await reduce(ANY, line)).values).toEqual([1, 1, 1]);
    expect((await reduce(ANY, { ...line, shape: [1] })).values).toEqual([0, 1, 1, 0]);
  });

  it("reduces truth values", async () => {
    const input = tensorOf("TENSOR_BOOL8", [4], [0, 1, 1, 0]);
    const line = { input, shape: [2], strides: [1], dilations: [1] };
    const init = (value: number) => tensorOf("TENSOR_BOOL8", [1], [value]);
    expect((await reduce(ALL, { ...line, init: init(1) })).values).toEqual([0, 1, 0]);
    expect((await reduce(MUL, { ...line, init: init(1) })).values).toEqual([0, 1, 0]);
    expect((await reduce(ANY, { ...line, init: init(0) })).values).toEqual([1, 1, 1]);
    expect((await reduce(ADD, { ...line, shape: [1], init: init(0) })).values).toEqual([0, 1, 1, 0]);
    expect((await reduce(ANY, { ...line, init: init(1), shape: [1] })).values).toEqual([1, 1, 1, 1]);
  });

  it("begins with the initial value", async () => {
    expect((await reduce(MAXIMUM, { init: floats([1], 7.5) })).values).toEqual([7.5, 7.5, 8, 10, 11, 12]);
  });

  it("moves by strides, and spreads by dilations", async () => {
    expect(await reduce(ADD, { strides: [2, 2] })).toEqual({ shape: [1, 2], values: [14, 22] });
    expect(await reduce(ADD, { dilations: [2, 3] })).toEqual({ shape: [1, 1], values: [1 + 4 + 9 + 12] });
    // Elements after the last complete stride are left out.
    expect((await reduce(ADD, { strides: [1, 3] })).shape).toEqual([2, 1]);
  });

  it("wraps integers at the size of their type", async () => {
    const { TENSOR_INT64, TENSOR_UINT32 } = tfliteTypes;
    const line = { shape: [2], strides: [1], dilations: [1] };
    const of = (type: GivenInput["type"], data: GivenInput["data"], init: GivenInput["data"], more = {}) =>
      [
        { type, dimensions: [2], data, ...more },
        { type, dimensions: [1], data: init, ...more },
      ] as const;
    const run = async (code: number | undefined, [input, init]: readonly [GivenInput, GivenInput]) =>
      (await reduce(code, { ...line, input, init })).values;
    expect(await run(ADD, of("TENSOR_INT32", Int32Array.of(2 ** 31 - 1, 1), Int32Array.of(0)))).toEqual([-(2 ** 31)]);
    expect(await run(MUL, of("TENSOR_INT32", Int32Array.of(123_456_789, 987_654_321), Int32Array.of(1)))).toEqual([
      Math.imul(123_456_789, 987_654_321),
    ]);
    expect(await run(MUL, of(TENSOR_UINT32, Uint32Array.of(2 ** 31 + 1, 3), Uint32Array.of(1)))).toEqual([2 ** 31 + 3]);
    expect(await run(ADD, of(TENSOR_INT64, BigInt64Array.of(2n ** 63n - 1n, 1n), BigInt64Array.of(0n)))).toEqual([
      -(2 ** 63),
    ]);
    expect(await run(ALL, of(TENSOR_INT64, BigInt64Array.of(5n, 6n), BigInt64Array.of(1n)))).toEqual([1]);
    const bytes = of("TENSOR_QUANT8_ASYMM_SIGNED", Int8Array.of(100, 100), Int8Array.of(0), { scale: 0.5 });
    expect(await run(ADD, bytes)).toEqual([-56]);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ["no function", () => reduce(0), "the function: expected ADD 1 to ANY 6, got 0"],
    ["an unknown function", () => reduce(7), "the function: expected ADD 1 to ANY 6, got 7"],
    [
      "a window of another rank",
      () => reduce(ADD, { shape: [2] }),
      "windowShape: expected 2 integers of at least 1, got [2]",
    ],
    [
      "a stride of 0",
      () => reduce(ADD, { strides: [0, 1] }),
      "windowStrides: expected 2 integers of at least 1, got [0, 1]",
    ],
    [
      "a dilation of 0",
      () => reduce(ADD, { dilations: [1, 0] }),
      "windowDilations: expected 2 integers of at least 1, got [1, 0]",
    ],
    [
      "a window that is too long",
      () => reduce(ADD, { shape: [4, 1] }),
      "the window spans 4 of the 3 elements of axis 0",
    ],
    [
      "a window that is too wide",
      () => reduce(ADD, { dilations: [1, 4] }),
      "the window spans 5 of the 4 elements of axis 1",
    ],
    [
      "two initial values",
      () => reduce(ADD, { init: floats([2], 0, 0) }),
      "the initial value: expected 1 element, got 2",
    ],
  ])("refuses %s", async (_, run, message) => {
    await expect(run()).rejects.toThrow(message);
  });
});
