import { elementAt, elementCount } from "@nnhal/operations";
import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { sessionOptions } from "../engine.ts";
import { type OnnxGraph, writeModel } from "../onnx/write.ts";
import { addWholeNumber, createBuilder, real, type Value } from "./builder.ts";
import { convolutionOf } from "./convolution-8.ts";
import { withSymmetricWeights } from "./symmetric.ts";

/** Numbers from 0 to 1, the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Layer {
  readonly outputs: number;
  readonly kernel?: number;
  readonly stride?: number;
  readonly isDepthwise?: boolean;
  readonly zeroPoint?: number;
  /** True if each output has its own scale. */
  readonly isPerChannel?: boolean;
  /** Number of weights that do not fit 8 bits without their zero point. */
  readonly beyond?: number;
}

/** A network over one image, and its convolutions. */
function network(dims: readonly number[]) {
  const builder = createBuilder();
  const next = numbers(7);
  const input = builder.input({ type: "uint8", dims });
  const quantisation = () => [real(builder, 0.02), addWholeNumber(builder, "uint8", 117)] as const;
  const convolution = (from: Value, layer: Layer): Value => {
    const { outputs, kernel = 1, stride = 1, isDepthwise = false, zeroPoint = 9, beyond = 1, isPerChannel } = layer;
    const [batches = 0, height = 0, width = 0, channels = 0] = from.dims;
    const extents = [outputs, isDepthwise ? 1 : channels, kernel, kernel];
    const weights = Int8Array.from({ length: elementCount(extents) }, () => Math.floor(next() * 200) - 100);
    for (let count = 0; count < beyond; count++)
      weights[Math.floor(next() * weights.length)] = zeroPoint > 0 ? -128 : 127;
    const scales = Float32Array.from({ length: isPerChannel ? outputs : 1 }, () => 0.002 + next() * 0.002);
    const bias = Int32Array.from({ length: outputs }, () => Math.floor(next() * 8000) - 4000);
    const rows = Math.ceil(height / stride);
    const columns = Math.ceil(width / stride);
    const pad = Math.max(0, (rows - 1) * stride + kernel - height);
    const pads = [Math.floor(pad / 2), Math.floor(pad / 2), Math.ceil(pad / 2), Math.ceil(pad / 2)];
    const inputs = [
      from,
      ...quantisation(),
      builder.constant("int8", extents, () => weights),
      builder.constant("float32", isPerChannel ? [outputs] : [], () => scales),
      addWholeNumber(builder, "int8", zeroPoint),
      ...quantisation(),
      builder.constant("int32", [outputs], () => bias),
    ];
    const result = { type: "uint8", dims: [batches, rows, columns, outputs] } as const;
    return builder.node("QLinearConv", inputs, result, {
      domain: "com.microsoft",
      attributes: {
        kernel_shape: { ints: [kernel, kernel] },
        strides: { ints: [stride, stride] },
        pads: { ints: pads },
        dilations: { ints: [1, 1] },
        group: { int: isDepthwise ? channels : 1 },
        channels_last: { int: 1 },
      },
    });
  };
  const sum = (left: Value, right: Value): Value => {
    const inputs = [left, ...quantisation(), right, ...quantisation(), ...quantisation()];
    return builder.node("QLinearAdd", inputs, left, { domain: "com.microsoft" });
  };
  const pool = (from: Value): Value => {
    const [batches = 0, height = 0, width = 0, channels = 0] = from.dims;
    const result = { type: "uint8", dims: [batches, 1, 1, channels] } as const;
    return builder.node("QLinearAveragePool", [from, ...quantisation(), ...quantisation()], result, {
      domain: "com.microsoft",
      attributes: { kernel_shape: { ints: [height, width] }, channels_last: { int: 1 } },
    });
  };
  return { builder, input, convolution, sum, pool };
}

async function run(graph: OnnxGraph): Promise<readonly (readonly number[])[]> {
  const session = await ort.InferenceSession.create(writeModel(graph), sessionOptions(1));
  const next = numbers(3);
  const feeds = Object.fromEntries(
    graph.inputs.map(({ name, dims }) => {
      const data = Uint8Array.from({ length: elementCount(dims) }, () => Math.floor(next() * 256));
      return [name, new ort.Tensor("uint8", data, [...dims])];
    }),
  );
  const results = await session.run(feeds);
  await session.release();
  return graph.outputs.map(({ name }) => Array.from(elementAt([results[name]], 0)?.data ?? [], Number));
}

/** The zero points of the weights of convolutions, in order. */
function zeroPoints({ nodes, initializers }: OnnxGraph): readonly number[] {
  const constants = new Map(initializers.map((each) => [each.name, each]));
  return nodes.flatMap((node) => convolutionOf(node, constants)?.zeroPoint ?? []);
}

async function expectSame(graph: OnnxGraph): Promise<OnnxGraph> {
  const changed = withSymmetricWeights(graph);
  const [expected, actual] = [await run(graph), await run(changed)];
  expect(actual).toEqual(expected);
  // A result of one number would not depend on the weights.
  for (const output of expected) expect(new Set(output).size).toBeGreaterThan(20);
  return changed;
}

describe("8-bit convolutions", () => {
  it("have symmetric weights if they fit", async () => {
    const { builder, input, convolution } = network([1, 6, 6, 8]);
    builder.output(convolution(input, { outputs: 16, beyond: 0 }));
    expect(zeroPoints(await expectSame(builder.graph()))).toEqual([0]);
  });

  it("keep their zero point if one does not, and the image cannot have copies", async () => {
    const { builder, input, convolution } = network([1, 6, 6, 8]);
    builder.output(convolution(input, { outputs: 16, beyond: 1 }));
    expect(zeroPoints(await expectSame(builder.graph()))).toEqual([9]);
  });

  it.each([9, -20])("divide weights that do not fit, with the zero point %d", async (zeroPoint) => {
    const { builder, input, convolution, sum, pool } = network([1, 8, 8, 8]);
    const first = convolution(input, { outputs: 32, beyond: 0, isPerChannel: true });
    const second = convolution(first, { outputs: 32, beyond: 2, zeroPoint });
    const third = convolution(sum(first, second), { outputs: 32, beyond: 1, zeroPoint });
    builder.output(convolution(pool(third), { outputs: 64, beyond: 1, zeroPoint }));
    expect(zeroPoints(await expectSame(builder.graph()))).toEqual([0, 0, 0, 0]);
  });

  it.each([9, -20])("have narrow depthwise ones beside them, with the zero point %d", async (zeroPoint) => {
    const { builder, input, convolution, sum } = network([1, 12, 12, 16]);
    const block = (from: Value, stride: number): Value => {
      const wide = convolution(from, { outputs: 64, beyond: 2, zeroPoint, isPerChannel: true });
      const depthwise = { outputs: 64, kernel: 3, stride, isDepthwise: true, beyond: 2, zeroPoint, isPerChannel: true };
      return convolution(convolution(wide, depthwise), { outputs: 16, beyond: 2, zeroPoint });
    };
    const first = block(input, 2);
    builder.output(convolution(sum(first, block(first, 1)), { outputs: 32, beyond: 1, zeroPoint }));
    const changed = await expectSame(builder.graph());
    // The first image is an input: what makes the channels for its narrow convolution keeps its zero point.
    expect(zeroPoints(changed)).toEqual([0, zeroPoint, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(changed.nodes.filter(({ operator }) => operator === "Concat")).toHaveLength(2);
  });

  it("are as they were in images that something else reads", async () => {
    const { builder, input, convolution } = network([1, 6, 6, 8]);
    const wide = convolution(input, { outputs: 64, beyond: 0 });
    const depthwise = convolution(wide, { outputs: 64, kernel: 3, isDepthwise: true, beyond: 1 });
    builder.output(depthwise);
    builder.output(convolution(depthwise, { outputs: 16, beyond: 1 }));
    expect(zeroPoints(await expectSame(builder.graph()))).toEqual([0, 9, 9]);
  });

  it.each([
    [24, [9, 0, 0]],
    [32, [9, 0, 9]],
    [48, [9, 0, 0]],
    [64, [9, 0, 0]],
  ])("get copies if they add a third of the %d channels at most", async (outputs, expected) => {
    const { builder, input, convolution } = network([1, 6, 6, 8]);
    const wide = convolution(input, { outputs, beyond: 1 });
    const first = convolution(wide, { outputs, kernel: 3, isDepthwise: true, beyond: 0 });
    // A depthwise convolution that reads or makes the image of another one has no narrow one.
    const depthwise = convolution(first, { outputs, kernel: 3, isDepthwise: true, beyond: 0 });
    builder.output(convolution(depthwise, { outputs: 16, beyond: 1 }));
    const [a, , b, c] = zeroPoints(await expectSame(builder.graph()));
    expect([a, b, c]).toEqual(expected);
  });

  it("get copies through a depthwise one that keeps its zero point", async () => {
    const { builder, input, convolution } = network([1, 6, 6, 8]);
    const wide = convolution(input, { outputs: 24, beyond: 0 });
    const depthwise = convolution(wide, { outputs: 24, kernel: 3, isDepthwise: true, beyond: 2, isPerChannel: true });
    builder.output(convolution(depthwise, { outputs: 16, beyond: 1 }));
    const changed = await expectSame(builder.graph());
    expect(zeroPoints(changed)).toEqual([0, 9, 0]);
  });

  it("are as they were if too many weights do not fit", async () => {
    const { builder, input, convolution } = network([1, 6, 6, 8]);
    const wide = convolution(input, { outputs: 64, beyond: 0 });
    const depthwise = convolution(wide, { outputs: 64, kernel: 3, isDepthwise: true, beyond: 30 });
    builder.output(convolution(depthwise, { outputs: 16, beyond: 0 }));
    expect(zeroPoints(await expectSame(builder.graph()))).toEqual([0, 9, 0]);
  });
});

describe("convolutions of images with few channels", () => {
  it.each([
    { channels: 3, width: 16, kernel: 3, stride: 2, beyond: 0 },
    { channels: 3, width: 16, kernel: 3, stride: 2, beyond: 2 },
    { channels: 1, width: 12, kernel: 5, stride: 1, beyond: 1 },
    { channels: 2, width: 16, kernel: 7, stride: 2, beyond: 1 },
  ])("read several pixels as one: %o", async ({ channels, width, kernel, stride, beyond }) => {
    const { builder, input, convolution } = network([2, 9, width, channels]);
    builder.output(convolution(input, { outputs: 8, kernel, stride, beyond, isPerChannel: true }));
    const changed = await expectSame(builder.graph());
    expect(zeroPoints(changed)).toEqual([0]);
    expect(changed.nodes.map(({ operator }) => operator)).toContain("Reshape");
  });

  it("are as they were if the width is not a multiple of these pixels", async () => {
    const { builder, input, convolution } = network([1, 9, 15, 3]);
    builder.output(convolution(input, { outputs: 8, kernel: 3, stride: 2, beyond: 0 }));
    const changed = await expectSame(builder.graph());
    expect(changed.nodes.map(({ operator }) => operator)).toEqual(["QLinearConv", "Identity"]);
  });
});
