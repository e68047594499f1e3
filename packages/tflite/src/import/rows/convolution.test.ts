import { elementAt } from "@nnhal/operations";
import { describe, expect, test } from "vitest";
import {
  changeModel,
  execute,
  firstOperator,
  importLines,
  oneOperator,
  type TensorGiven,
} from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const valid = { padding: "VALID", strideW: 1, strideH: 1 };
const image = { type: "FLOAT32", shape: [1, 2, 2, 1] } as const;
const filter = { type: "FLOAT32", shape: [1, 2, 2, 1], data: [1, 2, 3, 4] } as const;
const bias = { type: "FLOAT32", shape: [1], data: [0.5] } as const;
const pixel = { type: "FLOAT32", shape: [1, 1, 1, 1] } as const;

const q8 = { type: "UINT8", shape: [1, 2, 2, 1], scale: 0.5, zeroPoint: 128 } as const;
const q8s = { type: "INT8", shape: [1, 2, 2, 1], scale: 0.5, zeroPoint: 0 } as const;
const perChannel = {
  type: "INT8",
  shape: [2, 1, 1, 1],
  data: [1, 2],
  scale: [0.5, 0.25],
  zeroPoint: [0, 0],
} as const;

describe("CONV_2D", () => {
  const conv = (more: Readonly<Record<string, TensorGiven>>, options = {}) =>
    oneOperator("CONV_2D", { x: image, w: filter, ...more }, { y: pixel }, { ...valid, ...options });

  test("with padding VALID and SAME", async () => {
    expect(importLines(conv({ bias }))).toEqual([
      "CONV_2D(in0, FLOAT32[1,2,2,1](1,2,3,4), FLOAT32[1](0.5), 2, 1, 1, 0) -> out0",
    ]);
    expect(await execute(importTflite(conv({ bias })), [[1, 10, 100, 1000]])).toEqual([[4321.5]]);
    const same = oneOperator(
      "CONV_2D",
      { x: image, w: filter, bias },
      { y: image },
      { padding: "SAME", strideW: 1, strideH: 1, fusedActivationFunction: "RELU" },
    );
    expect(importLines(same)).toEqual(["CONV_2D(in0, FLOAT32[1,2,2,1](1,2,3,4), FLOAT32[1](0.5), 1, 1, 1, 1) -> out0"]);
  });

  test("strides and dilations are width first", () => {
    const x = { ...image, shape: [1, 9, 8, 1] };
    const y = { ...pixel, shape: [1, 2, 1, 1] };
    const model = oneOperator(
      "CONV_2D",
      { x, w: filter, bias },
      { y },
      {
        ...{ padding: "VALID", strideW: 7, strideH: 5 },
        ...{ dilationWFactor: 2, dilationHFactor: 3 },
      },
    );
    expect(importLines(model)).toEqual([
      "CONV_2D(in0, FLOAT32[1,2,2,1](1,2,3,4), FLOAT32[1](0.5), 2, 7, 5, 0, 0, 2, 3) -> out0",
    ]);
  });

  test.each([
    ["without a third input", {}],
    ["with an omitted one", { "": {} }],
  ])("a missing bias becomes zeros: %s", (_, more) => {
    expect(importLines(conv(more))).toEqual([
      "CONV_2D(in0, FLOAT32[1,2,2,1](1,2,3,4), FLOAT32[1](0), 2, 1, 1, 0) -> out0",
    ]);
  });

  test("a stride of 0 is refused", () => {
    expect(() => importTflite(conv({ bias }, { strideW: 0 }), { extensions: false })).toThrow(
      "option strideW: expected at least 1, got 0",
    );
  });

  test("a filter without four dimensions is refused", () => {
    const model = oneOperator("CONV_2D", { x: image, w: { ...filter, shape: [4] }, bias }, { y: pixel }, valid);
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "the HAL needs 4 dimensions here, the filter has 1",
    );
  });

  test("more input channels than the filter's make it grouped", async () => {
    const x = { type: "FLOAT32", shape: [1, 1, 1, 4] } as const;
    const w = { type: "FLOAT32", shape: [2, 1, 1, 2], data: [1, 2, 3, 4] } as const;
    const y = { type: "FLOAT32", shape: [1, 1, 1, 2] } as const;
    const model = oneOperator("CONV_2D", { x, w }, { y }, valid);
    expect(importLines(model)).toEqual([
      "GROUPED_CONV_2D(in0, FLOAT32[2,1,1,2](1,2,3,4), FLOAT32[2](0,0), 2, 1, 1, 2, 0, 0) -> out0",
    ]);
    expect(await execute(importTflite(model), [[1, 10, 100, 1000]])).toEqual([[21, 4300]]);
    const dilated = oneOperator("CONV_2D", { x, w }, { y }, { ...valid, dilationWFactor: 2 });
    expect(() => importTflite(dilated, { extensions: false })).toThrow("no grouped convolution with dilation");
    expect(await execute(importTflite(dilated), [[1, 10, 100, 1000]])).toEqual([[21, 4300]]);
    const short = { type: "INT16", scale: 0.5, zeroPoint: 0 } as const;
    const integer = oneOperator(
      "CONV_2D",
      { x: { ...x, ...short }, w: { ...w, type: "INT8", scale: 1, zeroPoint: 0 } },
      { y: { ...y, ...short } },
      valid,
    );
    expect(await execute(importTflite(integer), [[1, 10, 100, 1000]])).toEqual([[21, 4300]]);
    expect(() => importTflite(integer, { extensions: false })).toThrow("got TENSOR_QUANT16_SYMM");
    const odd = oneOperator("CONV_2D", { x: { ...x, shape: [1, 1, 1, 3] }, w }, { y }, valid);
    expect(() => importTflite(odd, { extensions: false })).toThrow(
      "3 input channels are not a multiple of the filters' 2",
    );
  });

  describe("quantised", () => {
    const y = { ...q8, shape: [1, 1, 1, 1], scale: 1, zeroPoint: 0 } as const;
    const w = { ...q8, scale: 0.1, data: [129, 128, 128, 128] } as const;
    const product = Math.fround(0.5 * Math.fround(0.1));
    const quantise = (biasScale?: number, x: TensorGiven = q8) =>
      oneOperator(
        "CONV_2D",
        { x, w, bias: { type: "INT32", shape: [1], data: [7], ...(biasScale !== undefined && { scale: biasScale }) } },
        { y },
        valid,
      );

    test("the bias scale is the product of the other two, in float32", () => {
      const lines = [
        `CONV_2D(in0, QUANT8_ASYMM[1,2,2,1]*${Math.fround(0.1)}@128(129,128,128,128), INT32[1]*${product}(7), 2, 1, 1, 0) -> out0`,
      ];
      expect(importLines(quantise(product))).toEqual(lines);
      expect(importLines(quantise())).toEqual(lines);
      // Within what .tflite lets it be off, a fiftieth of a step of the result.
      expect(importLines(quantise(product + 0.019))).toEqual(lines);
    });

    test("a bias scale that is far off is refused", () => {
      expect(() => importTflite(quantise(product + 0.021), { extensions: false })).toThrow(
        `is not input scale * filter scale, ${product}`,
      );
    });

    test("a missing bias becomes zeros with that scale", () => {
      const [line] = importLines(oneOperator("CONV_2D", { x: q8, w }, { y }, valid));
      expect(line).toContain(`INT32[1]*${product}(0), 2,`);
    });

    test("a bias of another type is refused", () => {
      const model = oneOperator("CONV_2D", { x: q8, w, bias }, { y }, valid);
      expect(() => importTflite(model, { extensions: false })).toThrow(
        "the HAL needs an INT32 bias here, the file has FLOAT32",
      );
    });

    test("one bias of two layers with different scales has each layer's scale", () => {
      const b = { type: "INT32", shape: [1], data: [7] } as const;
      const model = oneOperator("CONV_2D", { x: q8, w, b }, { y }, valid);
      const first = firstOperator(model);
      const both = changeModel(model, ({ tensors }) => {
        const [input, result] = [elementAt(tensors, 0), elementAt(tensors, 3)];
        const quantization = { scale: [0.25], zeroPoint: [0], quantizedDimension: 0 };
        const others = [{ ...input, name: "x2", quantization }, result, { ...result, name: "y2" }];
        const second = { ...first, inputs: [3, 1, 2], outputs: [4] };
        return {
          tensors: [...tensors.slice(0, 3), ...others],
          operators: [{ ...first, outputs: [5] }, second],
          inputs: [0, 3],
          outputs: [5, 4],
        };
      });
      const scales = importLines(both).map((line) => /INT32\[1\]\*([^(]*)/.exec(line)?.[1]);
      expect(scales).toEqual([`${product}`, `${Math.fround(0.25 * Math.fround(0.1))}`]);
    });
  });

  describe("with a scale per channel", () => {
    const x = { ...q8s, shape: [1, 1, 1, 1] } as const;
    const y = { ...q8s, shape: [1, 1, 1, 2] } as const;
    const b = { type: "INT32", shape: [2], data: [4, 8], scale: [0.25, 0.125], zeroPoint: [0, 0] } as const;

    test("the filter keeps its scales and the bias scale is 0", async () => {
      const model = oneOperator("CONV_2D", { x, w: perChannel, b }, { y }, valid);
      expect(importLines(model)).toEqual([
        "CONV_2D(in0, QUANT8_SYMM_PER_CHANNEL[2,1,1,1]*{0.5,0.25}d0(1,2), INT32[2](4,8), 2, 1, 1, 0) -> out0",
      ]);
      // 4 is 2; 2 * 0.5 + 4 * 0.25 = 2, and 2 * 0.5 + 8 * 0.125 = 2.
      expect(await execute(importTflite(model), [[4]])).toEqual([[4, 4]]);
    });

    test.each([
      [{ zeroPoint: [0, 1] }, "with a scale per channel the HAL needs zero points of 0, that of channel 1 is 1"],
      [{ quantizedDimension: 3 }, "2 scales do not match dimension 3 of [2, 1, 1, 1]"],
      [{ quantizedDimension: -1 }, "2 scales do not match dimension -1 of [2, 1, 1, 1]"],
      [{ scale: [0.5, -0.1] }, "expected a finite scale of channel 1 that is not below 0, got -0.1"],
      [
        { scale: [Number.POSITIVE_INFINITY, 1] },
        "expected a finite scale of channel 0 that is not below 0, got Infinity",
      ],
      [{ type: "UINT8" }, "UINT8 has 2 scales; the HAL has a scale per channel for INT8 only"],
    ] as const)("broken scales are refused (%#)", (more, message) => {
      const model = oneOperator("CONV_2D", { x, w: { ...perChannel, ...more }, b }, { y }, valid);
      expect(() => importTflite(model, { extensions: false })).toThrow(`subgraphs[0].tensors[1] "w": ${message}`);
    });

    test("results of a channel of scale 0 are 0", async () => {
      const model = oneOperator("CONV_2D", { x, w: { ...perChannel, scale: [0.5, 0] }, b }, { y }, valid);
      // 4 is 2; 2 * 0.5 + 4 * 0.25 = 2.
      expect(await execute(importTflite(model), [[4]])).toEqual([[4, 0]]);
    });

    test("one scale is one for the tensor", () => {
      const w = { ...perChannel, scale: [0.5], zeroPoint: [0] };
      const [line] = importLines(oneOperator("CONV_2D", { x, w, b }, { y }, valid));
      expect(line).toContain("QUANT8_ASYMM_SIGNED[2,1,1,1]*0.5(1,2), INT32[2]*0.25(4,8)");
    });
  });

  test.each(["CONV_2D", "DEPTHWISE_CONV_2D"])("%s quantises a float input of a quantised filter", async (name) => {
    const x = { type: "FLOAT32", shape: [1, 1, 1, 2] } as const;
    const y = { type: "FLOAT32", shape: [1, 1, 1, 2] } as const;
    const isDepthwise = name === "DEPTHWISE_CONV_2D";
    const w = {
      ...perChannel,
      ...(isDepthwise
        ? { shape: [1, 1, 1, 2], data: [2, 2], quantizedDimension: 3 }
        : { shape: [2, 1, 1, 2], data: [2, 0, 0, 2] }),
    };
    const model = oneOperator(name, { x, w }, { y }, valid);
    expect(importLines(model)[0]).toMatch(new RegExp(`^nnhal.tflite ${name}\\(in0, QUANT8_SYMM_PER_CHANNEL`));
    const [result] = await execute(importTflite(model), [[10, -3]]);
    // The step is 13 / 255, and the zero point -69: 10 becomes 196 steps, and -3 becomes -59.
    expect(result?.[0]).toBeCloseTo((196 * 13) / 255, 4);
    expect(result?.[1]).toBeCloseTo((-59 * 13 * 0.5) / 255, 4);
    const [widened] = await execute(importTflite(model, { hybrid: "widened" }), [[10, -3]]);
    expect(widened).toEqual([10, -1.5]);
  });

  test("with widened hybrid layers the filter is widened once", async () => {
    const x = { type: "FLOAT32", shape: [1, 1, 1, 1] } as const;
    const y = { type: "FLOAT32", shape: [1, 1, 1, 2] } as const;
    const model = oneOperator("CONV_2D", { x, w: perChannel }, { y }, valid);
    expect(importLines(model, { extensions: false })).toEqual(importLines(model, { hybrid: "widened" }));
    expect(importLines(model, { hybrid: "widened" })).toEqual([
      "DEQUANTIZE(QUANT8_SYMM_PER_CHANNEL[2,1,1,1]*{0.5,0.25}d0(1,2)) -> t0:FLOAT32[2,1,1,1]",
      "CONV_2D(in0, t0, FLOAT32[2](0,0), 2, 1, 1, 0) -> out0",
    ]);
    expect(await execute(importTflite(model, { hybrid: "widened" }), [[8]])).toEqual([[4, 4]]);
  });

  test("a bias with more dimensions is flattened, one of another length refused", () => {
    const shaped = (shape: readonly number[], data: readonly number[]) =>
      conv({ bias: { type: "INT32", shape, data } });
    expect(() => importTflite(shaped([1], [1]), { extensions: false })).toThrow(
      "the HAL's CONV_2D cannot compute it: input 2 (bias)",
    );
    const quantised = (shape: readonly number[], data: readonly number[]) =>
      oneOperator(
        "CONV_2D",
        { x: { ...q8s, shape: [1, 1, 1, 1] }, w: perChannel, b: { type: "INT32", shape, data } },
        { y: { ...q8s, shape: [1, 1, 1, 2] } },
        valid,
      );
    expect(importLines(quantised([1, 1, 1, 2], [4, 8]))[0]).toContain("INT32[2](4,8)");
    expect(() => importTflite(quantised([3], [1, 2, 3]), { extensions: false })).toThrow(
      "the bias has 3 elements for 2 filters",
    );
  });

  test("a missing bias of very many filters is refused", () => {
    const w = { type: "FLOAT32", shape: [0x2000_0000, 1, 1, 1] } as const;
    const model = oneOperator("CONV_2D", { x: image, w }, { y: pixel }, valid);
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "the file has no bias, and zeros for 536870912 filters take more than 16777216 bytes",
    );
  });
});

describe("DEPTHWISE_CONV_2D", () => {
  test("the depth multiplier follows from the shapes, for any value of the option", () => {
    const x = { type: "FLOAT32", shape: [1, 1, 1, 2] } as const;
    const w = { type: "FLOAT32", shape: [1, 1, 1, 6], data: [1, 2, 3, 4, 5, 6] } as const;
    const y = { type: "FLOAT32", shape: [1, 1, 1, 6] } as const;
    const model = (given: TensorGiven) =>
      oneOperator("DEPTHWISE_CONV_2D", { x, w: given }, { y }, { ...valid, depthMultiplier: 0 });
    expect(importLines(model(w))).toEqual([
      "DEPTHWISE_CONV_2D(in0, FLOAT32[1,1,1,6](1,2,3,4,5,6), FLOAT32[6](0,0,0,0,0,0), 2, 1, 1, 3, 0) -> out0",
    ]);
    expect(() =>
      importTflite(model({ ...w, shape: [1, 1, 1, 5], data: [1, 2, 3, 4, 5] }), { extensions: false }),
    ).toThrow("5 output channels are not a multiple of 2 input channels");
  });

  test("dilations and scales per channel along dimension 3", () => {
    const x = { ...q8s, shape: [1, 3, 3, 1] };
    const w = { ...perChannel, shape: [1, 1, 1, 2], quantizedDimension: 3 };
    const options = { ...valid, dilationWFactor: 1, dilationHFactor: 2 };
    const model = oneOperator("DEPTHWISE_CONV_2D", { x, w }, { y: { ...q8s, shape: [1, 3, 3, 2] } }, options);
    expect(importLines(model)).toEqual([
      "DEPTHWISE_CONV_2D(in0, QUANT8_SYMM_PER_CHANNEL[1,1,1,2]*{0.5,0.25}d3(1,2), INT32[2](0,0), 2, 1, 1, 2, 0, 0, 1, 2) -> out0",
    ]);
  });
});
