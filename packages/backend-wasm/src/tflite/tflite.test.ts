/**
 * Operators of `nnhal.tflite` on random elements, held against the kernels of the extension: integers and quantised elements are equal. The networks of the
 * corpus are not part of this repository: NNHAL_CORPUS names their folder.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type BackendSession, type GraphView, viewModel } from "@nnhal/backend";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { tfliteExtension, tfliteTypes } from "@nnhal/extension-tflite";
import {
  type AnyOperandType,
  type AnyTensorData,
  byteLength,
  decodeTensorData,
  elementCount,
  encodeTensorData,
  isFloat,
} from "@nnhal/operations";
import { corpusFolder } from "@nnhal/test-kit/folders";
import {
  byte,
  createNumbers,
  difference,
  elementsOf,
  flag,
  flags,
  float,
  type Given,
  int,
  list,
  number,
  operatorModel,
  real,
  short,
  type Tensor,
} from "@nnhal/test-kit/operators";
import { everyWay } from "@nnhal/test-kit/samples";
import { importTflite } from "@nnhal/tflite";
import { ErrorStatus, ExecutionPreference, type Model, Priority } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backend } from "../wasm-backend.ts";

const extensions = [tfliteExtension];

async function sessionOf(over: typeof backend): Promise<BackendSession> {
  const session = await over.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}

const wasm = await sessionOf(backend.withExtensions?.(extensions) ?? backend);
const reference = await sessionOf(createReferenceBackend({ extensions }));

function viewOf(model: Model): GraphView {
  const pools = model.pools.map(({ handle, size }) => {
    if (handle === null || !("buffer" in handle)) throw new Error("the pools of a model are buffers here");
    return new Uint8Array(handle.buffer, handle.byteOffset, size);
  });
  return viewModel({ model, pools, extensions });
}

function refusalsOf(graph: GraphView): string[] {
  return graph.operations.flatMap((view) => {
    const support = wasm.supports(view);
    return support.supported ? [] : [support.reason];
  });
}

function tensorAt({ operands }: GraphView, index: number): Tensor {
  const { type, dimensions } = operands[index] ?? { type: "TENSOR_FLOAT32", dimensions: [] };
  return { type, dimensions: dimensions.map((extent) => extent || 3) };
}

function bytesOf({ type, dimensions }: Tensor, data: AnyTensorData): Uint8Array {
  const bytes = new Uint8Array(byteLength(type, elementCount(dimensions)));
  encodeTensorData(type, data, bytes);
  return bytes;
}

const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };
const context = { now: () => 0n, loopTimeoutDuration: 10n ** 12n, measure: false, random: () => 0.5 };
const mostBytes = 1 << 20;

interface Output {
  readonly type: AnyOperandType;
  readonly numbers: readonly (number | bigint)[];
}

async function outputsOn(
  session: BackendSession,
  graph: GraphView,
  given: readonly AnyTensorData[],
): Promise<readonly Output[] | string> {
  const executable = await session.compile(graph, options);
  const inputs = graph.inputs.map((index, place) => {
    const tensor = tensorAt(graph, index);
    return { bytes: bytesOf(tensor, given[place] ?? new Float32Array()), dimensions: tensor.dimensions };
  });
  const lengths = graph.outputs.map((index) => ({
    bytes: new Uint8Array(mostBytes),
    dimensions: graph.operands[index]?.dimensions ?? [],
  }));
  const { status, message = "", outputShapes } = await executable.run(inputs, lengths, context);
  executable.close();
  if (status !== ErrorStatus.NONE) return message;
  return graph.outputs.map((index, place): Output => {
    const { type } = tensorAt(graph, index);
    const count = elementCount(outputShapes[place]?.dimensions ?? []);
    const bytes = lengths[place]?.bytes.slice(0, byteLength(type, count)) ?? new Uint8Array();
    return { type, numbers: Array.from<number | bigint>(decodeTensorData(type, bytes, count)) };
  });
}

/** Expects results within `allowed` of the reference's, where they are floats; all others are equal. */
async function expectSame(model: Model, given: readonly AnyTensorData[], allowed: number): Promise<void> {
  const graph = viewOf(model);
  expect(refusalsOf(graph)).toEqual([]);
  const [actual, right] = [await outputsOn(wasm, graph, given), await outputsOn(reference, graph, given)];
  if (typeof right === "string" || typeof actual === "string") {
    expect({ actual: typeof actual, right: typeof right }).toEqual({ actual: "string", right: "string" });
    return;
  }
  for (const [place, { type, numbers }] of right.entries()) {
    const mayDiffer = (typeof type === "string" && isFloat(type)) || type === tfliteTypes.TENSOR_COMPLEX64;
    expect(difference(actual[place]?.numbers ?? [], numbers), `output ${place}`).toBeLessThanOrEqual(
      mayDiffer ? allowed : 0,
    );
  }
}

const { TENSOR_INT64, TENSOR_COMPLEX64 } = tfliteTypes;
const long = (...dimensions: number[]): Tensor => ({ type: TENSOR_INT64, dimensions });
const complex = (...dimensions: number[]): Tensor => ({ type: TENSOR_COMPLEX64, dimensions });
const longs = (...numbers: number[]): Given => ({
  ...long(numbers.length),
  value: BigInt64Array.from(numbers, BigInt),
});
const bytes = (scale: number, zeroPoint: number, ...dimensions: number[]): Tensor => ({
  type: "TENSOR_QUANT8_ASYMM",
  dimensions,
  scale,
  zeroPoint,
});
const halves = (...dimensions: number[]): Given => ({
  ...list(...dimensions),
  dimensions: [dimensions.length / 2, 2],
});

/** `allowed`: the difference that floats may have. */
type Case = readonly [name: string, inputs: readonly Given[], outputs: readonly Tensor[], allowed?: number];

/** Constants whose elements are drawn. */
const weights = (tensor: Tensor): Given => ({ ...tensor, value: elementsOf(tensor, createNumbers()) });
const channels = (channelDim: number, ...dimensions: number[]): Given => {
  const count = dimensions[channelDim] ?? 1;
  const scales = Array.from({ length: count }, (_, place) => 0.001 * (1 + (place % 3)));
  return weights({ type: "TENSOR_QUANT8_SYMM_PER_CHANNEL", dimensions, channelQuant: { channelDim, scales } });
};
const omit = (tensor: Tensor): Given => ({ ...tensor, dimensions: [], isOmitted: true });
const same = [number(1), number(1), number(1)];

const none = number(0);

const corners = [list(0, 1, -1), list(1, 5, 0), list(1, 2, -2)];
const cases: readonly Case[] = [
  ["ADD", [float(2, 1, 2, 1, 3), float(2, 3), number(1)], [float(2, 1, 2, 2, 3)]],
  ["ADD", [short(0.5, 2, 50), short(0.25, 2, 50), none], [short(1, 2, 50)]],
  ["ADD", [short(1, 2, 50), short(1, 50), none], [short(1, 2, 50)]],
  ["ADD", [short(1, 90), short(1, 90), number(1)], [short(1, 90)]],
  ["ADD", [int(60), int(60), number(3)], [int(60)]],
  ["SUB", [short(0.5, 100), short(0.25, 1), number(3)], [short(1, 100)]],
  ["SUB", [short(1, 100), short(1, 100), none], [short(1, 100)]],
  ["SUB", [bytes(0.5, 3, 100), bytes(0.25, 9, 100), none], [bytes(0.3, 100, 100)]],
  ["MUL", [short(0.5, 100), short(0.002, 100), none], [short(0.75, 100)]],
  ["MUL", [short(1, 100), short(1, 100), none], [short(1, 100)]],
  ["MUL", [short(0.5, 100), short(0.002, 100), number(1)], [byte(4, 5, 100)]],
  ["CAST", [long(40)], [int(40)]],
  ["CAST", [long(40)], [float(40)]],
  ["CAST", [int(40)], [long(40)]],
  ["CAST", [flags(9)], [float(9)]],
  ["CAST", [int(40)], [short(1, 40)]],
  ["CAST", [int(40)], [bytes(1, 0, 40)]],
  ["CAST", [{ ...float(6), value: Float32Array.of(Number.NaN, 3e9, -3e9, 2.9, -2.9, 0) }], [int(6)]],
  ["CAST", [{ ...float(6), value: Float32Array.of(Number.NaN, 3e9, -3e9, 2.9, -2.9, 0) }], [flags(6)]],
  ["ARGMAX", [byte(0.5, 3, 2, 3, 5), number(-1)], [long(2, 3)]],
  ["ARGMAX", [float(2, 3, 5), list(1)], [int(2, 5)]],
  ["ARGMIN", [int(4, 3), longs(0)], [long(3)]],
  ["ARGMAX", [flags(6), number(0)], [long(1)]],
  ["STRIDED_SLICE", [short(1, 1, 5, 6), ...corners, none, none, none], [short(1, 1, 2, 3)]],
  ["STRIDED_SLICE", [long(4, 3), list(1, 0), list(2, 9), list(1, 1), number(2), number(2), number(1)], [long(3)]],
  ["STRIDED_SLICE", [int(4, 3), list(-1), list(0), list(1), none, none, number(1)], [int(3)]],
  [
    "STRIDED_SLICE",
    [float(2, 3, 4), list(0, 0, 1), list(0, 0, 9), list(1, 1, 2), none, none, none, number(1), number(2)],
    [float(2, 3, 1, 2)],
  ],
  ["PAD", [short(0.5, 2, 3), halves(0, 1, 2, 0)], [short(0.5, 3, 5)]],
  ["PAD", [long(3), { ...longs(1, 2), dimensions: [1, 2] }], [long(6)]],
  ["GATHER", [short(1, 4, 3), number(0), list(3, 0, 3)], [short(1, 3, 3)]],
  ["GATHER_ND", [float(4, 3, 2), { ...list(3, 0, 1, 2), dimensions: [2, 2] }], [float(2, 2)]],
  ["GATHER_ND", [float(4, 3), { ...list(3, 3), dimensions: [1, 2] }], [float(1)]],
  ["SCATTER_ND", [{ ...list(1, 0, 1), dimensions: [3, 1] }, float(3, 2), list(3, 2)], [float(3, 2)]],
  ["SCATTER_ND", [{ ...list(2), dimensions: [1, 1] }, flags(1), list(4)], [flags(4)]],
  ["TOPK_V2", [short(1, 3, 40), list(5)], [short(1, 3, 5), int(3, 5)]],
  ["TOPK_V2", [float(2, 60), list(60)], [float(2, 60), int(2, 60)]],
  ["CONCATENATION", [long(1, 2), long(2, 2), none], [long(3, 2)]],
  ["RESHAPE", [complex(2, 3), list(6)], [complex(6)]],
  ["SQUEEZE", [long(1, 3, 1), list(0)], [long(3, 1)]],
  ["EXPAND_DIMS", [long(3), number(0)], [long(1, 3)]],
  ["TRANSPOSE", [short(1, 2, 3, 4), list(2, 0, 1)], [short(1, 4, 2, 3)]],
  ["SLICE", [long(4, 4), longs(1, 2), longs(2, -1)], [long(2, 2)]],
  ["TILE", [long(2, 1), list(1, 3)], [long(2, 3)]],
  ["SPLIT", [long(4, 2), number(-2), number(2)], [long(2, 2), long(2, 2)]],
  ["SELECT_V2", [flags(2, 1), short(0.5, 3), short(0.5, 2, 3)], [short(0.5, 2, 3)]],
  ["SELECT_V2", [flags(2, 3), float(2, 3), float(1)], [float(2, 3)]],
  ["COS", [float(50)], [float(50)], 1e-6],
  ["LEAKY_RELU", [float(50), real(0.25)], [float(50)]],
  ["LEAKY_RELU", [short(0.5, 100), real(0.3)], [short(0.75, 100)]],
  ["TANH", [short(2 ** -12, 99)], [short(2 ** -15, 99)]],
  ["LOGISTIC", [short(1 / 900, 99)], [short(2 ** -15, 99)]],
  ["ABS", [byte(0.5, 3, 99)], [byte(0.25, -128, 99)]],
  ["QUANTIZE", [short(0.5, 99)], [byte(200, 3, 99)]],
  ["QUANTIZE", [short(0.5, 99)], [{ ...int(99), scale: 0.01 }]],
  ["QUANTIZE", [byte(0.5, 3, 99)], [short(0.002, 99)]],
  ["QUANTIZE", [float(99)], [short(0.0007, 99)]],
  ["SOFTMAX", [byte(0.1, 3, 2, 40), real(1), number(-1)], [short(2 ** -15, 2, 40)]],
  ["SOFTMAX", [byte(0.1, 3, 2, 3, 2), real(0.5), number(1)], [byte(0.005, -100, 2, 3, 2)]],
  [
    "CONV_2D",
    [short(0.01, 2, 5, 6, 3), channels(0, 5, 3, 2, 3), longs(9, -4000, 0, 7, 1), ...same, number(1)],
    [short(0.02, 2, 5, 6, 5)],
  ],
  [
    "CONV_2D",
    [short(1, 1, 4, 4, 8), weights(byte(0.01, 0, 3, 1, 1, 8)), omit(long()), ...same, none],
    [short(0.3, 1, 4, 4, 3)],
  ],
  ["CONV_2D", [float(2, 5, 6, 3), channels(0, 5, 3, 2, 3), float(5), ...same, number(1)], [float(2, 5, 6, 5)], 1e-4],
  [
    "CONV_2D",
    [float(1, 4, 4, 2), weights(byte(0.01, 0, 3, 2, 2, 2)), omit(float()), number(2), number(2), number(1), none],
    [float(1, 3, 2, 3)],
    1e-4,
  ],
  ["CONV_2D", [float(1, 4, 4, 2), float(3, 2, 2, 2), omit(float()), ...same, number(3)], [float(1, 4, 4, 3)], 1e-4],
  [
    "TRANSPOSE_CONV_2D",
    [
      short(0.01, 1, 3, 4, 2),
      channels(0, 3, 3, 3, 2),
      longs(1, 2, 3),
      list(1, 6, 8, 3),
      number(1),
      number(2),
      number(2),
      none,
      { ...none, type: "BOOL", value: Uint8Array.of(0) },
    ],
    [short(0.02, 1, 6, 8, 3)],
  ],
  ["FULLY_CONNECTED", [short(0.01, 7, 9), channels(0, 4, 9), list(1, 2, -3, 4), none], [short(0.02, 7, 4)]],
  [
    "CONV_2D",
    [short(0.01, 2, 5, 6, 3), channels(0, 5, 3, 2, 3), list(9, -4000, 0, 7, 1), ...same, number(1)],
    [short(0.02, 2, 5, 6, 5)],
  ],
  [
    "TRANSPOSE_CONV_2D",
    [
      short(0.01, 1, 3, 4, 2),
      channels(0, 3, 3, 3, 2),
      list(1, -2, 3),
      list(1, 6, 8, 3),
      number(1),
      number(2),
      number(2),
      none,
      { ...none, type: "BOOL", value: Uint8Array.of(0) },
    ],
    [short(0.02, 1, 6, 8, 3)],
  ],
  ["FULLY_CONNECTED", [short(0.01, 7, 9), channels(0, 4, 9), longs(1, 2, 3, 4), none], [short(0.02, 7, 4)]],
  [
    "FULLY_CONNECTED",
    [float(7, 9), weights(byte(0.01, 0, 4, 9)), float(4), none, flag(false), flag(true)],
    [float(7, 4)],
    1e-4,
  ],
  [
    "FULLY_CONNECTED",
    [float(7, 9), weights(bytes(0.01, 128, 4, 9)), omit(float()), number(1), flag(false), flag(false)],
    [float(7, 4)],
    1e-4,
  ],
  [
    "FULLY_CONNECTED",
    [float(2, 3, 5), weights(byte(0.01, 0, 4, 5)), float(4), none, flag(true), flag(true)],
    [float(2, 3, 4)],
    1e-4,
  ],
  [
    "FULLY_CONNECTED",
    [
      { ...float(2, 3), value: new Float32Array(6) },
      weights(byte(0.01, 0, 4, 3)),
      float(4),
      none,
      flag(true),
      flag(true),
    ],
    [float(2, 4)],
  ],
  ["BATCH_MATMUL", [float(2, 3, 4), float(4, 5), flag(false), flag(false), flag(false)], [float(2, 3, 5)], 1e-4],
  ["BATCH_MATMUL", [float(2, 4, 3), float(2, 5, 4), flag(true), flag(true), flag(false)], [float(2, 3, 5)], 1e-4],
  [
    "BATCH_MATMUL",
    [float(3, 1, 2, 4), float(2, 4, 2), flag(false), flag(false), flag(false)],
    [float(3, 2, 2, 2)],
    1e-4,
  ],
  [
    "BATCH_MATMUL",
    [short(0.01, 2, 3, 4), channels(2, 2, 4, 5), flag(false), flag(false), flag(false)],
    [short(0.02, 2, 3, 5)],
  ],
  [
    "SVDF",
    [
      byte(0.1, 3, 2, 7),
      weights(byte(0.02, 0, 6, 7)),
      weights(short(0.001, 6, 4)),
      { ...list(5, -9, 100) },
      short(0.01, 2, 24),
      number(2),
      none,
      flag(false),
    ],
    [byte(0.1, -5, 2, 3), short(0.01, 2, 24)],
  ],
  [
    "SVDF",
    [
      byte(0.1, 3, 2, 7),
      weights(byte(0.02, 0, 6, 7)),
      weights(byte(0.01, 0, 6, 4)),
      omit(int()),
      byte(0.2, 9, 2, 24),
      number(1),
      none,
      flag(false),
    ],
    [byte(0.1, -5, 2, 6), byte(0.2, 9, 2, 24)],
  ],
  ["RFFT2D", [float(2, 1, 16), list(1, 16)], [complex(2, 1, 9)], 1e-5],
  ["RFFT2D", [float(3, 5), list(4, 8)], [complex(4, 5)], 1e-5],
  ["RFFT2D", [float(9, 9), list(4, 4)], [complex(4, 3)], 1e-5],
  ["RFFT2D", [float(2, 3), list(1, 1)], [complex(1, 1)], 1e-5],
  ["COMPLEX_ABS", [complex(3, 4)], [float(3, 4)], 1e-6],
  ["REAL", [complex(3, 4)], [float(3, 4)]],
  ["IMAG", [complex(3, 4)], [float(3, 4)]],
];

describe("operators of nnhal.tflite", () => {
  it.each(cases.map((one, place) => [`${place} ${one[0]}`, one] as const))("%s", async (_, one) => {
    const [name, inputs, outputs, allowed = 0] = one;
    const next = createNumbers();
    const given = inputs.filter(({ value }) => value === undefined).map((input) => elementsOf(input, next));
    await expectSame(operatorModel(tfliteExtension, name, inputs, outputs), given, allowed);
  });

  it("have the bits of the reference in convolutions of 16 bits with weights of 8", { timeout: 120_000 }, async () => {
    const from = (min: number, max: number) => fc.integer({ min, max });
    const drawn = fc.record({
      isDepthwise: fc.boolean(),
      depth: from(1, 11),
      /** Of each channel of a depthwise convolution, and in all of others. */
      count: from(1, 6),
      extents: fc.tuple(from(1, 9), from(1, 9)),
      filter: fc.tuple(from(1, 3), from(1, 3)),
      strides: fc.tuple(from(1, 3), from(1, 3)),
      dilations: fc.tuple(from(1, 2), from(1, 2)),
      isPadded: fc.boolean(),
      isPerChannel: fc.boolean(),
      bias: fc.constantFrom("none", "int32", "int64"),
      activation: from(0, 3),
      scale: fc.constantFrom(0.001, 0.02, 0.7),
    });
    const property = fc.asyncProperty(drawn, async (each) => {
      const { isDepthwise, depth, count, extents, filter, strides, dilations, isPadded } = each;
      const columns = isDepthwise ? depth * count : count;
      const result = extents.map((extent, axis) => {
        const window = ((filter[axis] ?? 1) - 1) * (dilations[axis] ?? 1) + 1;
        return Math.ceil((isPadded ? extent : extent - window + 1) / (strides[axis] ?? 1));
      });
      fc.pre(result.every((extent) => extent > 0));
      const shape = isDepthwise ? [1, ...filter, columns] : [columns, ...filter, depth];
      const factors = each.isPerChannel ? channels(isDepthwise ? 3 : 0, ...shape) : weights(byte(0.002, 0, ...shape));
      const terms = Array.from({ length: columns }, (_, place) => 99_991 * (place % 7) - 300_000);
      const bias = each.bias === "none" ? omit(long()) : each.bias === "int32" ? list(...terms) : longs(...terms);
      const [down, across] = dilations;
      const settings = [
        number(isPadded ? 1 : 2),
        number(strides[1]),
        number(strides[0]),
        ...(isDepthwise ? [number(count)] : []),
        number(each.activation),
        flag(false),
        number(across),
        number(down),
      ];
      const input = short(0.01, 2, ...extents, depth);
      const output = short(each.scale, 2, ...result, columns);
      const name = isDepthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D";
      const model = operatorModel(tfliteExtension, name, [input, factors, bias, ...settings], [output]);
      await expectSame(model, [elementsOf(input, createNumbers())], 0);
    });
    await fc.assert(property, { numRuns: everyWay ? 1000 : 80 });
  });

  it.each<readonly [name: string, inputs: readonly Given[], outputs: readonly Tensor[], reason: string]>([
    ["CAST", [float(2)], [long(2)], "CAST: TENSOR_FLOAT32 is not available"],
    [
      "FULLY_CONNECTED",
      [byte(0.5, 3, 2, 4), byte(0.1, 0, 3, 4), int(3), none],
      [byte(1, 0, 2, 3)],
      "FULLY_CONNECTED: elements of 8 bits with these scales are not available",
    ],
    [
      "CONV_2D",
      [short(1, 1, 1, 1, 9999), weights(byte(1, 0, 1, 1, 1, 9999)), longs(2), ...same, none],
      [short(1, 1, 1, 1, 1)],
      "CONV_2D: its sums may need more than 32 bits",
    ],
    ["UNIQUE", [float(3), none], [float(3), int(3)], "UNIQUE: wasm does not have this operation"],
    ["SELECT_V2", [flags(3), long(3), long(1)], [long(3)], "SELECT_V2: nnhal.tflite TENSOR_INT64 is not available"],
  ])("%s is refused with the reason", (name, inputs, outputs, reason) => {
    expect(refusalsOf(viewOf(operatorModel(tfliteExtension, name, inputs, outputs)))).toEqual([reason]);
  });

  it("are unknown to a backend without the extension", async () => {
    const plain = await sessionOf(backend);
    const [view] = viewOf(operatorModel(tfliteExtension, "COS", [float(2)], [float(2)])).operations;
    expect(view && plain.supports(view)).toEqual({
      supported: false,
      reason: "COS: wasm does not have this operation",
    });
  });
});

/** Networks of at most so many bytes run here; with NNHAL_VECTOR_WAYS=all every one. */
const mostOfFile = everyWay ? Number.POSITIVE_INFINITY : 8000;

describe("networks of the corpus with operators of nnhal.tflite", () => {
  const names = existsSync(corpusFolder) ? readdirSync(corpusFolder).filter((name) => name.endsWith(".tflite")) : [];
  const small = names.filter((name) => statSync(join(corpusFolder, name)).size <= mostOfFile);

  it("have the results of the reference", async ({ skip }) => {
    skip(names.length === 0, `there are no networks at ${corpusFolder}; set NNHAL_CORPUS to their folder`);
    let taken = 0;
    for (const name of small) {
      const { model } = importTflite(new Uint8Array(readFileSync(join(corpusFolder, name))));
      const graph = viewOf(model);
      const isExtended = graph.operations.some(({ definition }) => definition.extension !== undefined);
      if (!isExtended || refusalsOf(graph).length > 0) continue;
      const next = createNumbers();
      const given = graph.inputs.map((index) => elementsOf(tensorAt(graph, index), next));
      await expectSame(model, given, 1e-4);
      taken++;
    }
    expect(taken).toBeGreaterThanOrEqual(everyWay ? 80 : 55);
  }, 60_000);
});
