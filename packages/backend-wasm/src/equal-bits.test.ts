/**
 * Quantised operations have the bits of the reference: random shapes, windows, strides, zero points and extreme values, and whole networks. The
 * networks are not part of this repository: NNHAL_MODELS and NNHAL_CORPUS name their folders.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Executable, type GraphView, viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { findTrainedExamples } from "@nnhal/conformance";
import { corpusFolder as corpus, modelsFolder as folder } from "@nnhal/test-kit/folders";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import { importTflite } from "@nnhal/tflite";
import {
  ErrorStatus,
  ExecutionPreference,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  Priority,
} from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backend } from "./wasm-backend.ts";

const { TENSOR_QUANT8_ASYMM, TENSOR_QUANT8_ASYMM_SIGNED, TENSOR_QUANT8_SYMM_PER_CHANNEL, TENSOR_INT32 } = OperandType;
const { INT32, FLOAT32, BOOL } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY } = OperandLifeTime;
const count = (dimensions: readonly number[]) => dimensions.reduce((product, extent) => product * extent, 1);

const everyWay = process.env.NNHAL_VECTOR_WAYS === "all";

/** A model of one operation, while it is built. */
function createModel() {
  const operands: Operand[] = [];
  const bytes: number[] = [];
  const add = (facts: Partial<Operand>) => operands.push(operand(facts)) - 1;
  return {
    input: (type: number, dimensions: number[], scale: number, zeroPoint: number) =>
      add({ type, dimensions, scale, zeroPoint, lifetime: SUBGRAPH_INPUT }),
    output: (type: number, dimensions: number[], scale: number, zeroPoint: number) =>
      add({ type, dimensions, scale, zeroPoint, lifetime: SUBGRAPH_OUTPUT }),
    constant(facts: Partial<Operand>, data: Uint8Array | Int8Array | Int32Array | Float32Array) {
      while (bytes.length % 4 > 0) bytes.push(0);
      const offset = bytes.length;
      bytes.push(...new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      const location = { poolIndex: 0, offset, length: data.byteLength };
      return add({ lifetime: CONSTANT_COPY, dimensions: [], ...facts, location });
    },
    int32(value: number) {
      return this.constant({ type: INT32 }, Int32Array.of(value));
    },
    float32(value: number) {
      return this.constant({ type: FLOAT32 }, Float32Array.of(value));
    },
    bool(value: boolean) {
      return this.constant({ type: BOOL }, Uint8Array.of(value ? 1 : 0));
    },
    of(type: number, inputs: number[], outputs: number[]): Model {
      const subgraph = subgraphOf(operands, [{ type, inputs, outputs }]);
      return modelOf(subgraph, { operandValues: Uint8Array.from(bytes) });
    },
  };
}

async function sessionsOf(graph: GraphView): Promise<{ reference: Executable; wasm: Executable } | undefined> {
  const [reference, wasm] = await Promise.all([referenceBackend.open(), backend.open()]);
  if ("unavailable" in reference || "unavailable" in wasm) throw new Error("an engine is unavailable");
  if (graph.operations.some((each) => !wasm.supports(each).supported)) return undefined;
  const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };
  return { reference: await reference.compile(graph, options), wasm: await wasm.compile(graph, options) };
}

async function resultOf(executable: Executable, graph: GraphView, inputs: readonly Uint8Array[]): Promise<number[][]> {
  const given = inputs.map((bytes, place) => ({ bytes, dimensions: shapeOf(graph, graph.inputs[place]) }));
  const outputs = graph.outputs.map((index) => {
    const dimensions = shapeOf(graph, index);
    return { bytes: new Uint8Array(count(dimensions)), dimensions };
  });
  const context = { now: () => 0n, loopTimeoutDuration: 1n, measure: false, random: () => 0 };
  const { status, message } = await executable.run(given, outputs, context);
  expect(message).toBeUndefined();
  expect(status).toBe(ErrorStatus.NONE);
  return outputs.map(({ bytes }) => [...bytes]);
}

function shapeOf({ operands }: GraphView, index: number | undefined): readonly number[] {
  return operands[index ?? -1]?.dimensions ?? [];
}

/** Number of drawn models that the wasm backend supports. */
async function expectEqual(model: Model, inputs: readonly Uint8Array[]): Promise<number> {
  const graph = viewModel({ model, pools: [] });
  const both = await sessionsOf(graph);
  if (both === undefined) return 0;
  expect(await resultOf(both.wasm, graph, inputs)).toEqual(await resultOf(both.reference, graph, inputs));
  both.reference.close();
  both.wasm.close();
  return 1;
}

/** Bytes, of which many are extreme. */
const bytesOf = (length: number) =>
  fc.tuple(fc.integer(), fc.constantFrom("noise", "extreme")).map(([seed, kind]) => {
    let state = seed >>> 0;
    return Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const byte = state >>> 24;
      return kind === "noise" ? byte : byte < 128 ? 0 : byte < 200 ? 255 : 127;
    });
  });

const kinds = fc.constantFrom<"unsigned" | "signed" | "perChannel">("unsigned", "signed", "perChannel");
const extent = (most: number) => fc.integer({ min: 1, max: most });
const scaleOf = fc.double({ min: 0.001, max: 0.5, noNaN: true }).map(Math.fround);
const least = (type: number) => (type === TENSOR_QUANT8_ASYMM_SIGNED ? -128 : 0);

interface Drawn {
  readonly model: Model;
  readonly inputs: readonly Uint8Array[];
}

const windows = fc
  .record({
    kind: kinds,
    isDepthwise: fc.boolean(),
    isNchw: fc.boolean(),
    batches: extent(2),
    height: extent(9),
    width: extent(9),
    inputs: extent(19),
    outputs: extent(21),
    filterHeight: extent(4),
    filterWidth: extent(4),
    strideHeight: extent(3),
    strideWidth: extent(3),
    dilation: extent(2),
    padding: fc.tuple(...[1, 2, 3, 4].map(() => fc.integer({ min: 0, max: 3 }))),
    zeroPoints: fc.tuple(...[1, 2, 3].map(() => fc.integer({ min: 0, max: 255 }))),
    scales: fc.tuple(scaleOf, scaleOf, scaleOf),
    activation: fc.integer({ min: 0, max: 3 }),
    bias: fc.integer({ min: 0, max: 20_000 }),
  })
  .filter(
    ({ filterHeight, filterWidth, dilation, height, width, padding: [left = 0, right = 0, top = 0, bottom = 0] }) => {
      const [tall, wide] = [(filterHeight - 1) * dilation + 1, (filterWidth - 1) * dilation + 1];
      const isLess = left < wide && right < wide && top < tall && bottom < tall;
      return isLess && height + top + bottom >= tall && width + left + right >= wide;
    },
  )
  .chain((drawn) => {
    const { isDepthwise, inputs, outputs, filterHeight, filterWidth, batches, height, width } = drawn;
    const depth = isDepthwise ? inputs : inputs * outputs;
    return fc.record({
      drawn: fc.constant(drawn),
      image: bytesOf(batches * height * width * inputs),
      filter: bytesOf(filterHeight * filterWidth * depth),
    });
  })
  .map(({ drawn, image, filter }): Drawn => {
    const {
      isDepthwise,
      isNchw,
      batches,
      height,
      width,
      inputs,
      filterHeight,
      filterWidth,
      strideHeight,
      strideWidth,
    } = drawn;
    const { dilation, padding, zeroPoints, scales, activation, kind } = drawn;
    const [left = 0, right = 0, top = 0, bottom = 0] = padding;
    const outputs = isDepthwise ? inputs : drawn.outputs;
    const type = kind === "unsigned" ? TENSOR_QUANT8_ASYMM : TENSOR_QUANT8_ASYMM_SIGNED;
    const [zeroIn = 0, zeroFilter = 0, zeroOut = 0] = zeroPoints.map((zeroPoint) => zeroPoint + least(type));
    const [scaleIn, scaleFilter, scaleOut] = scales;
    const model = createModel();
    const image4 = isNchw ? [batches, inputs, height, width] : [batches, height, width, inputs];
    const input = model.input(type, image4, scaleIn, zeroIn);
    const dimensions = isDepthwise
      ? [1, filterHeight, filterWidth, outputs]
      : [outputs, filterHeight, filterWidth, inputs];
    const channelDim = isDepthwise ? 3 : 0;
    const filterIndex =
      kind === "perChannel"
        ? model.constant(
            {
              type: TENSOR_QUANT8_SYMM_PER_CHANNEL,
              dimensions,
              extraParams: {
                kind: "channelQuant",
                channelQuant: {
                  scales: Array.from({ length: outputs }, (_, at) => Math.fround(scaleFilter * (1 + at / 7))),
                  channelDim,
                },
              },
            },
            filter,
          )
        : model.constant({ type, dimensions, scale: scaleFilter, zeroPoint: zeroFilter }, filter);
    const bias = Int32Array.from({ length: outputs }, (_, at) => (at % 2 === 0 ? drawn.bias : -drawn.bias) * (at + 1));
    const biasScale = kind === "perChannel" ? 0 : Math.fround(scaleIn * scaleFilter);
    const biasIndex = model.constant({ type: TENSOR_INT32, dimensions: [outputs], scale: biasScale }, bias);
    const along = (size: number, cells: number, stride: number, before: number, after: number) =>
      Math.floor((size - ((cells - 1) * dilation + 1) + stride + before + after) / stride);
    const rows = along(height, filterHeight, strideHeight, top, bottom);
    const columns = along(width, filterWidth, strideWidth, left, right);
    const result = isNchw ? [batches, outputs, rows, columns] : [batches, rows, columns, outputs];
    const output = model.output(type, result, scaleOut, zeroOut);
    const numbers = [left, right, top, bottom, strideWidth, strideHeight, ...(isDepthwise ? [1] : []), activation];
    const settings = [
      ...numbers.map((each) => model.int32(each)),
      model.bool(isNchw),
      model.int32(dilation),
      model.int32(dilation),
    ];
    const operation = isDepthwise ? OperationType.DEPTHWISE_CONV_2D : OperationType.CONV_2D;
    return { model: model.of(operation, [input, filterIndex, biasIndex, ...settings], [output]), inputs: [image] };
  });

const connected = fc
  .record({
    isSigned: fc.boolean(),
    rows: extent(6),
    depth: extent(70),
    columns: extent(40),
    zeroPoints: fc.tuple(...[1, 2, 3].map(() => fc.integer({ min: 0, max: 255 }))),
    scales: fc.tuple(scaleOf, scaleOf, scaleOf),
  })
  .chain((drawn) =>
    fc.record({
      drawn: fc.constant(drawn),
      image: bytesOf(drawn.rows * drawn.depth),
      filter: bytesOf(drawn.columns * drawn.depth),
    }),
  )
  .map(({ drawn: { isSigned, rows, depth, columns, zeroPoints, scales }, image, filter }): Drawn => {
    const type = isSigned ? TENSOR_QUANT8_ASYMM_SIGNED : TENSOR_QUANT8_ASYMM;
    const [zeroIn = 0, zeroFilter = 0, zeroOut = 0] = zeroPoints.map((zeroPoint) => zeroPoint + least(type));
    const [scaleIn, scaleFilter, scaleOut] = scales;
    const model = createModel();
    const input = model.input(type, [rows, depth], scaleIn, zeroIn);
    const weights = model.constant(
      { type, dimensions: [columns, depth], scale: scaleFilter, zeroPoint: zeroFilter },
      filter,
    );
    const scale = Math.fround(scaleIn * scaleFilter);
    const bias = model.constant({ type: TENSOR_INT32, dimensions: [columns], scale }, new Int32Array(columns).fill(77));
    const output = model.output(type, [rows, columns], scaleOut, zeroOut);
    return {
      model: model.of(OperationType.FULLY_CONNECTED, [input, weights, bias, model.int32(0)], [output]),
      inputs: [image],
    };
  });

const sums = fc
  .record({
    operation: fc.constantFrom<"ADD" | "SUB" | "MUL">("ADD", "SUB", "MUL"),
    isSigned: fc.boolean(),
    shape: fc.array(extent(6), { minLength: 1, maxLength: 4 }),
    repeated: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    zeroPoints: fc.tuple(...[1, 2, 3].map(() => fc.integer({ min: 0, max: 255 }))),
    scales: fc.tuple(scaleOf, scaleOf, scaleOf),
    activation: fc.integer({ min: 0, max: 3 }),
  })
  .chain((drawn) => {
    const right = drawn.shape.map((each, axis) => (drawn.repeated[axis] ? 1 : each));
    return fc.record({
      drawn: fc.constant(drawn),
      right: fc.constant(right),
      a: bytesOf(count(drawn.shape)),
      b: bytesOf(count(right)),
    });
  })
  .map(({ drawn, right, a, b }): Drawn => {
    const type = drawn.isSigned ? TENSOR_QUANT8_ASYMM_SIGNED : TENSOR_QUANT8_ASYMM;
    const [zeroA = 0, zeroB = 0, zeroOut = 0] = drawn.zeroPoints.map((zeroPoint) => zeroPoint + least(type));
    const [scaleA, scaleB, scaleOut] = drawn.scales;
    const model = createModel();
    const inputs = [model.input(type, drawn.shape, scaleA, zeroA), model.input(type, right, scaleB, zeroB)];
    const output = model.output(type, drawn.shape, scaleOut, zeroOut);
    const operation = OperationType[drawn.operation];
    return { model: model.of(operation, [...inputs, model.int32(drawn.activation)], [output]), inputs: [a, b] };
  });

const functions = fc
  .record({
    operation: fc.constantFrom<"LOGISTIC" | "TANH" | "SOFTMAX" | "RELU6" | "HARD_SWISH">(
      "LOGISTIC",
      "TANH",
      "SOFTMAX",
      "RELU6",
      "HARD_SWISH",
    ),
    isSigned: fc.boolean(),
    shape: fc.tuple(extent(5), extent(300)),
    scale: scaleOf,
    zeroPoint: fc.integer({ min: 0, max: 255 }),
    beta: fc.double({ min: 0.1, max: 4, noNaN: true }),
  })
  .chain((drawn) => fc.record({ drawn: fc.constant(drawn), bytes: bytesOf(count(drawn.shape)) }))
  .map(({ drawn: { operation, isSigned, shape, scale, zeroPoint, beta }, bytes }): Drawn => {
    const type = isSigned ? TENSOR_QUANT8_ASYMM_SIGNED : TENSOR_QUANT8_ASYMM;
    const fixed = { LOGISTIC: [1 / 256, 0], SOFTMAX: [1 / 256, 0], TANH: [1 / 128, 128] } as const;
    const model = createModel();
    const input = model.input(type, [...shape], scale, zeroPoint + least(type));
    const [scaleOut, zeroOut] =
      operation === "RELU6" || operation === "HARD_SWISH" ? [scale, zeroPoint] : fixed[operation];
    const output = model.output(type, [...shape], scaleOut, zeroOut + least(type));
    const settings = operation === "SOFTMAX" ? [model.float32(beta)] : [];
    return { model: model.of(OperationType[operation], [input, ...settings], [output]), inputs: [bytes] };
  });

describe("quantised operations have the bits of the reference", { timeout: 120_000 }, () => {
  it.each([
    ["convolutions", windows, 120],
    ["fully connected layers", connected, 60],
    ["sums and products", sums, 80],
    ["functions", functions, 60],
  ] as const)("%s", async (_, models, runs) => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty<[Drawn]>(models, async ({ model, inputs }) => {
        taken += await expectEqual(model, inputs);
      }),
      { numRuns: runs },
    );
    expect(taken).toBeGreaterThan(runs / 3);
  });
});

describe("quantised networks have the bits of the reference", { timeout: 120_000 }, () => {
  const examples = findTrainedExamples(folder).filter(({ model }) => /quant$|person/.test(model));

  it("are available", ({ skip }) => {
    skip(examples.length === 0, `there are no models at ${folder}; set NNHAL_MODELS to their folder`);
    expect(examples.length).toBeGreaterThanOrEqual(6);
  });

  it.each(examples.map((example) => [`${example.model} on ${example.input}`, example] as const))(
    "%s",
    async (_, example) => {
      const graph = networkOf(example.path);
      const both = await sessionsOf(graph);
      if (both === undefined) throw new Error("it is refused");
      const inputs = example.inputs.map(({ path }) => new Uint8Array(readFileSync(path)));
      expect(await resultOf(both.wasm, graph, inputs)).toEqual(await resultOf(both.reference, graph, inputs));
    },
  );

  // By default one of eight, and with NNHAL_VECTOR_WAYS=all each. Those with operators that the HAL lacks cannot run here.
  it("of the corpus, where the engine has all of one", async ({ skip }) => {
    skip(!existsSync(corpus), `there are no networks at ${corpus}; set NNHAL_CORPUS to their folder`);
    const files = readdirSync(corpus).filter((name) => name.endsWith(".tflite"));
    const chosen = files.filter((_, place) => everyWay || place % 8 === 0);
    let equal = 0;
    for (const file of chosen) {
      const graph = quantisedNetwork(join(corpus, file));
      if (graph === undefined) continue;
      const names = graph.inputs.map((_, place) => join(corpus, `${file}.in${place}.bin`));
      const both = names.every((name) => existsSync(name)) ? await sessionsOf(graph) : undefined;
      if (both === undefined) continue;
      const inputs = names.map((name) => new Uint8Array(readFileSync(name)));
      const [actual, expected] = [
        await resultOf(both.wasm, graph, inputs),
        await resultOf(both.reference, graph, inputs),
      ];
      expect(actual, file).toEqual(expected);
      equal++;
    }
    expect(equal).toBeGreaterThan(everyWay ? 17 : 1);
  });
});

function networkOf(path: string): GraphView {
  const { model } = importTflite(new Uint8Array(readFileSync(path)));
  const pools = model.pools.map(({ handle, size }) => {
    if (handle === null || !("buffer" in handle)) throw new Error("the pools of an imported model are buffers");
    return new Uint8Array(handle.buffer, handle.byteOffset, size);
  });
  return viewModel({ model, pools });
}

/** A network whose values all have 8 bits, of operations of the HAL; undefined for another one. */
function quantisedNetwork(path: string): GraphView | undefined {
  try {
    const graph = networkOf(path);
    const isBytes = [...graph.inputs, ...graph.outputs].every((index) =>
      String(graph.operands[index]?.type).startsWith("TENSOR_QUANT8"),
    );
    return isBytes ? graph : undefined;
  } catch {
    return undefined;
  }
}
