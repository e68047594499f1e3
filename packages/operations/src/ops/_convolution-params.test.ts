/**
 * The rules that the four convolutions share, each broken alone.
 */
import { describe, expect, it } from "vitest";
import type { Operation } from "../define.ts";
import { fillTensor } from "./_image.test-helper.ts";
import {
  boolScalar,
  declareOutput,
  f16,
  f32,
  type Given,
  i32,
  i32Scalar,
  mismatchOf,
  q8PerChannel,
  runForOne,
  versionOf,
} from "./_run.test-helper.ts";
import { conv2d } from "./conv-2d.ts";
import { depthwiseConv2d } from "./depthwise-conv-2d.ts";
import { groupedConv2d } from "./grouped-conv-2d.ts";
import { transposeConv2d } from "./transpose-conv-2d.ts";

const ints = (...values: number[]) => values.map(i32Scalar);

describe("what convolutions refuse", () => {
  interface Case {
    readonly operation: Operation;
    readonly filter: readonly number[];
    readonly channelDim: number;
    readonly extra: readonly number[];
    readonly layout: boolean;
  }
  const cases: Record<string, Case> = {
    CONV_2D: { operation: conv2d, filter: [2, 3, 3, 4], channelDim: 0, extra: [], layout: false },
    DEPTHWISE_CONV_2D: { operation: depthwiseConv2d, filter: [1, 3, 3, 4], channelDim: 3, extra: [1], layout: false },
    GROUPED_CONV_2D: { operation: groupedConv2d, filter: [2, 3, 3, 2], channelDim: 0, extra: [2], layout: true },
    TRANSPOSE_CONV_2D: { operation: transposeConv2d, filter: [2, 3, 3, 4], channelDim: 0, extra: [], layout: true },
  };
  const window = (
    values: Partial<
      Record<"left" | "right" | "top" | "bottom" | "strideWidth" | "strideHeight" | "activation", number>
    >,
  ) => ({
    ...{ left: 0, right: 0, top: 0, bottom: 0, strideWidth: 1, strideHeight: 1, activation: 0 },
    ...values,
  });

  describe.each(Object.entries(cases))("%s", (_, { operation, filter, channelDim, extra, layout }) => {
    const channels = filter[channelDim];
    const listOf = (values: Parameters<typeof window>[0], given: readonly Given[]) => {
      const { left, right, top, bottom, strideWidth, strideHeight, activation } = window(values);
      const scalars = ints(left, right, top, bottom, strideWidth, strideHeight, ...extra, activation);
      return [...given, ...scalars, ...(layout ? [boolScalar(false)] : [])];
    };
    const floats = (input = [1, 5, 5, 4], weights: readonly number[] = filter, bias = [channels]) => [
      f32(input),
      f32(weights),
      f32(bias),
    ];
    const run = (values: Parameters<typeof window>[0], given: readonly Given[] = floats()) =>
      runForOne(operation, listOf(values, given));

    it("computes the control case", () => {
      expect(run({}).data).toHaveLength(channels * (operation === transposeConv2d ? 49 : 9));
    });

    it("wants extents of at least 1, but takes no batches", () => {
      expect(run({}, floats([0, 5, 5, 4])).data).toHaveLength(0);
      expect(() => run({}, floats([1, 0, 5, 4]))).toThrow(/height is 0/);
      expect(() => run({}, floats([1, 5, 0, 4]))).toThrow(/width is 0/);
      expect(() => run({}, floats([1, 5, 5, 4], filter.with(1, 0)))).toThrow(/height is 0/);
      expect(() => run({}, floats([1, 5, 5, 4], filter.with(2, 0)))).toThrow(/width is 0/);
    });

    it("wants strides of at least 1", () => {
      expect(() => run({ strideWidth: 0 })).toThrow("the stride along the width is 0, less than 1");
      expect(() => run({ strideHeight: -1 })).toThrow("the stride along the height is -1, less than 1");
    });

    it("wants padding that is not negative", () => {
      expect(() => run({ left: -1 })).toThrow(/padding.* -1/);
      expect(() => run({ top: -1 })).toThrow(/padding.* -1/);
    });

    it("knows four activations", () => {
      expect(run({ activation: 3 }).data.length).toBeGreaterThan(0);
      expect(() => run({ activation: 4 })).toThrow("activation 4 is none of");
      expect(() => run({ activation: -1 })).toThrow("activation -1 is none of");
    });

    it("wants a bias for each output channel", () => {
      expect(() => run({}, floats([1, 5, 5, 4], filter, [channels + 1]))).toThrow(/the shape of the bias: expected/);
    });

    it("wants rank 4", () => {
      expect(() => run({}, floats([5, 5, 4]))).toThrow("input: expected rank 4, got 3");
      expect(() => run({}, floats([1, 5, 5, 4], filter.slice(1)))).toThrow("filter: expected rank 4, got 3");
      expect(() => run({}, floats([1, 5, 5, 4], filter, [channels, 1]))).toThrow("bias: expected rank 1, got 2");
    });

    const quantise = (biasScale: number, scales?: number[], dimension = channelDim): Given[] => [
      fillTensor("TENSOR_QUANT8_ASYMM", [1, 5, 5, 4], () => 0, { scale: 0.5 }),
      scales
        ? q8PerChannel(filter, scales, dimension)
        : fillTensor("TENSOR_QUANT8_ASYMM", filter, () => 0, { scale: 0.25 }),
      i32([channels], undefined, biasScale),
    ];
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1 });
    const runQuantised = (given: Given[]) => runForOne(operation, listOf({}, given), output);

    it("wants the bias in units of the products", () => {
      expect(runQuantised(quantise(0.125)).data.length).toBeGreaterThan(0);
      expect(runQuantised(quantise(0.125 * (1 + 9e-7))).data.length).toBeGreaterThan(0);
      expect(() => runQuantised(quantise(0.125 * (1 + 12e-7)))).toThrow(/expected input scale \* filter scale = 0.125/);
      expect(() => runQuantised(quantise(0))).toThrow(
        /the scale of the bias: expected input scale \* filter scale = .*, got 0$/,
      );
    });

    it("wants one filter scale for each output channel", () => {
      const scales = Array.from({ length: channels }, () => 0.25);
      expect(runQuantised(quantise(0, scales)).data.length).toBeGreaterThan(0);
      expect(() => runQuantised(quantise(0, [...scales, 1]))).toThrow(
        `${channels + 1} scales for ${channels} channels`,
      );
      expect(() => runQuantised(quantise(0, scales, 1))).toThrow(
        `the filter's scales: expected dimension ${channelDim}, got 1`,
      );
    });

    it("takes the HAL's types, each from its version on", () => {
      const since = operation === conv2d || operation === depthwiseConv2d ? "1.0" : "1.2";
      expect(versionOf(operation, listOf({}, floats()))).toBe(since);
      expect(versionOf(operation, listOf({}, [f16([1, 5, 5, 4]), f16(filter), f16([channels])]))).toBe("1.2");
      expect(versionOf(operation, listOf({}, quantise(0.125)), { outputs: [output] })).toBe(since);
      expect(versionOf(operation, listOf({}, quantise(0, [1])), { outputs: [output] })).toBe("1.2");
      const sign = (given: Given): Given => ({ ...given, type: "TENSOR_QUANT8_ASYMM_SIGNED" });
      const [input, weights, bias] = quantise(0.125);
      const outputs = [declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: 1 })];
      expect(versionOf(operation, listOf({}, [sign(input), sign(weights), bias]), { outputs })).toBe("1.3");
      expect(versionOf(operation, listOf({}, [sign(input), quantise(0, [1])[1], bias]), { outputs })).toBe("1.3");
    });

    it("takes no mixture of types", () => {
      const [input, weights, bias] = floats();
      expect(mismatchOf(operation, listOf({}, [input, f16(filter), bias]))).toContain("(filter)");
      expect(mismatchOf(operation, listOf({}, [input, weights, i32([channels])]))).toContain("(bias)");
      const outputs = [declareOutput("TENSOR_FLOAT16")];
      expect(mismatchOf(operation, listOf({}, floats()), { outputs })).toContain("(output)");
    });

    if (since10(operation)) {
      it("needs HAL 1.2 if the output's scale is not above the products'", () => {
        const version = (scale: number) =>
          versionOf(operation, listOf({}, quantise(0.125)), {
            outputs: [declareOutput("TENSOR_QUANT8_ASYMM", { scale })],
          });
        expect(version(0.1251)).toBe("1.0");
        expect(version(0.125)).toBe("1.2");
        expect(version(0.1)).toBe("1.2");
      });
    }
  });

  it.each([
    ["CONV_2D", conv2d, [2, 3, 3, 4], []],
    ["DEPTHWISE_CONV_2D", depthwiseConv2d, [1, 3, 3, 4], [1]],
    ["GROUPED_CONV_2D", groupedConv2d, [2, 3, 3, 2], [2]],
  ] as const)("%s: padding is less than the window", (_, operation, filter, extra) => {
    const layout = operation === groupedConv2d ? [boolScalar(false)] : [];
    const bias = f32([operation === depthwiseConv2d ? 4 : 2]);
    const run = (left: number, right: number, top: number, bottom: number) =>
      runForOne(operation, [
        f32([1, 5, 5, 4]),
        f32(filter),
        bias,
        ...ints(left, right, top, bottom, 1, 1, ...extra, 0),
        ...layout,
      ]);
    expect(run(2, 2, 2, 2).dimensions.slice(1, 3)).toEqual([7, 7]);
    expect(() => run(3, 0, 0, 0)).toThrow("padding 3 and 0 along the width is not within 0 to 2");
    expect(() => run(0, 3, 0, 0)).toThrow("padding 0 and 3 along the width is not within 0 to 2");
    expect(() => run(0, 0, 3, 0)).toThrow("padding 3 and 0 along the height is not within 0 to 2");
    expect(() => run(0, 0, 0, 3)).toThrow("padding 0 and 3 along the height is not within 0 to 2");
  });
});

function since10(operation: Operation): boolean {
  return operation === conv2d || operation === depthwiseConv2d;
}
