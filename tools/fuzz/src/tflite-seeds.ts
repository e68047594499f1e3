/** Small .tflite files: one operator each, and a few with several parts. */
import { litertlm } from "@nnhal/test-kit/litertlm";
import { withFiles } from "@nnhal/test-kit/packed-files";
import {
  builtinOperators,
  importTflite,
  TfliteError,
  type TfliteModel,
  type TfliteOperator,
  type TfliteTensor,
  writeTflite,
} from "@nnhal/tflite";
import type { Case } from "./cases.ts";

type TensorTypeName = TfliteTensor["type"];

interface Given extends Partial<TfliteTensor> {
  /** Values of a constant of type INT32 or FLOAT32. */
  readonly values?: readonly number[];
}

function tensor({ values, ...given }: Given): TfliteTensor {
  const array = given.type === "INT32" ? Int32Array.from(values ?? []) : Float32Array.from(values ?? []);
  return {
    ...{ name: "t", shape: [1, 2, 2, 1], type: "FLOAT32", isVariable: false },
    ...given,
    ...(values && { data: new Uint8Array(array.buffer) }),
  };
}

function fileOf(
  tensors: readonly Given[],
  operators: readonly Partial<TfliteOperator>[],
  outputs: readonly number[],
): TfliteModel {
  const all = tensors.map(tensor);
  const written = new Set(operators.flatMap((operator) => operator.outputs ?? []));
  const inputs = all.flatMap(({ data, external, isVariable }, index) =>
    data === undefined && external === undefined && !isVariable && !written.has(index) ? [index] : [],
  );
  const operator = { name: "ADD", version: 1, inputs: [], outputs: [], options: {} };
  const subgraph = {
    name: "",
    tensors: all,
    operators: operators.map((one) => ({ ...operator, ...one })),
    inputs,
    outputs,
  };
  return { version: 3, description: "", subgraphs: [subgraph], metadata: [], signatures: [] };
}

const quantised = { type: "INT8", quantization: { scale: [0.5], zeroPoint: [1], quantizedDimension: 0 } } as const;
const filter = {
  shape: [2, 1, 1, 1],
  quantization: { scale: [0.5, 1], zeroPoint: [0, 0], quantizedDimension: 0 },
} as const;

/** The other file that a seed has constants in. */
export const otherFile = { group: "w", offset: 0, bytes: new Uint8Array(64) };

/** Files with the parts that operators of one tensor do not have. */
const several: Readonly<Record<string, TfliteModel>> = {
  outside: fileOf(
    [
      {},
      { external: { group: otherFile.group, offset: 16, length: 16 } },
      { external: { group: otherFile.group, offset: 24, length: 16 } },
      {},
      {},
    ],
    [
      { name: "ADD", inputs: [0, 1], outputs: [3] },
      { name: "MUL", inputs: [3, 2], outputs: [4] },
    ],
    [4],
  ),
  convolution: fileOf(
    [
      quantised,
      { type: "INT8", ...filter, data: Uint8Array.of(1, 2) },
      { ...quantised, shape: [1, 2, 2, 2] },
      { shape: [1, 2, 2, 2] },
    ],
    [
      {
        name: "CONV_2D",
        inputs: [0, 1],
        outputs: [2],
        version: 3,
        options: { padding: "SAME", strideW: 1, strideH: 1 },
      },
      { name: "DEQUANTIZE", inputs: [2], outputs: [3], version: 2 },
    ],
    [3],
  ),
  layer: fileOf(
    [{ shape: [1, 2] }, { shape: [3, 2], values: [1, 2, 3, 4, 5, 6] }, { shape: [1, 3] }],
    [{ name: "FULLY_CONNECTED", inputs: [0, 1, -1], outputs: [2], options: { keepNumDims: false } }],
    [2],
  ),
  state: fileOf(
    [
      { shape: [1, 1] },
      { shape: [1, 1], values: [0.5] },
      { shape: [1], values: [1] },
      { shape: [1, 1], isVariable: true },
      { shape: [1, 1] },
    ],
    [{ name: "RNN", inputs: [0, 1, 1, 2, 3], outputs: [4], options: { fusedActivationFunction: "RELU" } }],
    [4],
  ),
  slices: fileOf(
    [
      {},
      ...[
        [0, 0, 0, 0],
        [1, 1, 2, 1],
        [1, 1, 1, 1],
      ].map((values) => ({ type: "INT32" as const, shape: [4], values })),
      { shape: [1, 2] },
    ],
    [{ name: "STRIDED_SLICE", inputs: [0, 1, 2, 3], outputs: [4], options: { shrinkAxisMask: 9 } }],
    [4],
  ),
  pad: fileOf(
    [
      {},
      { type: "INT32", shape: [4, 2], values: [0, 0, 1, 1, 1, 1, 0, 0] },
      { shape: [1, 4, 4, 1] },
      { shape: [1, 2, 2, 1] },
    ],
    [
      { name: "PAD", inputs: [0, 1], outputs: [2] },
      {
        name: "MAX_POOL_2D",
        inputs: [2],
        outputs: [3],
        options: { padding: "VALID", strideW: 2, strideH: 2, filterWidth: 2, filterHeight: 2 },
      },
    ],
    [3],
  ),
  sparse: fileOf(
    [
      { shape: [1, 2] },
      {
        shape: [1, 2],
        values: [2],
        sparsity: {
          traversalOrder: [0, 1],
          blockMap: [],
          dimensions: [{ size: 1 }, { segments: [0, 1], indexes: [1] }],
        },
      },
      { shape: [1, 1] },
    ],
    [{ name: "FULLY_CONNECTED", inputs: [0, 1, -1], outputs: [2], options: { keepNumDims: false } }],
    [2],
  ),
  custom: fileOf(
    [{ shape: [1, 4, 4] }, { shape: [1, 4, 2] }, { shape: [4, 4], values: new Array(16).fill(1) }, {}, {}, {}, {}],
    [
      {
        name: "CUSTOM",
        customCode: "TFLite_Detection_PostProcess",
        // The map { "max_detections": 2 } as a FlexBuffer.
        customOptions: Uint8Array.of(...Buffer.from("max_detections\0"), 1, 15 + 1, 1, 1, 1, 2, 4, 4, 36, 1),
        inputs: [0, 1, 2],
        outputs: [3, 4, 5, 6],
      },
    ],
    [3, 4, 5, 6],
  ),
};

/** A model with a second subgraph of one operator on scalars, and `inputs` inputs. */
function withSubgraph(main: TfliteModel, name: string, inputs: readonly number[]): TfliteModel {
  const tensors = [...inputs, inputs.length].map(() => ({ shape: [] }));
  const { subgraphs } = fileOf(tensors, [{ name, inputs, outputs: [inputs.length] }], [inputs.length]);
  return { ...main, subgraphs: [...main.subgraphs, ...subgraphs] };
}

const vector = { shape: [2] };

/** Operators of StableHLO with options and bodies. */
const stablehlo: Readonly<Record<string, TfliteModel>> = {
  composite: withSubgraph(
    fileOf(
      [vector, vector],
      [
        {
          ...{ name: "STABLEHLO_COMPOSITE", inputs: [0], outputs: [1] },
          options: { name: "norm", decompositionSubgraphIndex: 1, compositeAttributes: [1, 2] },
        },
      ],
      [1],
    ),
    "ABS",
    [0],
  ),
  case: withSubgraph(
    fileOf(
      [{ type: "INT32", shape: [] }, vector, vector],
      [
        {
          ...{ name: "STABLEHLO_CASE", inputs: [0, 1], outputs: [2] },
          options: { branchSubgraphIndices: [1, 1, 1] },
        },
      ],
      [2],
    ),
    "ABS",
    [0],
  ),
  gather: fileOf(
    [{ shape: [3, 2] }, { type: "INT32", shape: [2] }, { shape: [2, 2] }],
    [
      {
        ...{ name: "STABLEHLO_GATHER", inputs: [0, 1], outputs: [2] },
        options: {
          ...{ offsetDims: [1], collapsedSliceDims: [0], startIndexMap: [0] },
          ...{ indexVectorDim: 1, sliceSizes: [1, 2] },
        },
      },
    ],
    [2],
  ),
  scatter: withSubgraph(
    fileOf(
      [{ shape: [3] }, { type: "INT32", shape: [2] }, vector, { shape: [3] }],
      [
        {
          ...{ name: "STABLEHLO_SCATTER", inputs: [0, 1, 2], outputs: [3] },
          options: {
            ...{ insertedWindowDims: [0], scatterDimsToOperandDims: [0], indexVectorDim: 1 },
            updateComputationSubgraphIndex: 1,
          },
        },
      ],
      [3],
    ),
    "STABLEHLO_ADD",
    [0, 1],
  ),
  reduceWindow: withSubgraph(
    fileOf(
      [{ shape: [3] }, { shape: [] }, { shape: [4] }],
      [
        {
          ...{ name: "STABLEHLO_REDUCE_WINDOW", inputs: [0, 1], outputs: [2] },
          options: {
            ...{ windowDimensions: [2], windowStrides: [1], baseDilations: [1], windowDilations: [1] },
            ...{ padding: [1, 1], bodySubgraphIndex: 1 },
          },
        },
      ],
      [2],
    ),
    "MAXIMUM",
    [0, 1],
  ),
  interior: fileOf(
    [vector, { shape: [] }, { shape: [4] }],
    [
      {
        ...{ name: "STABLEHLO_PAD", inputs: [0, 1], outputs: [2] },
        options: { edgePaddingLow: [1], edgePaddingHigh: [-1], interiorPadding: [2] },
      },
    ],
    [2],
  ),
};

/** Types and numbers of inputs that the import is tried with, for each operator. */
const types: readonly TensorTypeName[] = ["FLOAT32", "INT32", "INT8", "BOOL", "INT64", "COMPLEX64", "STRING"];
const shapes: readonly (readonly number[])[] = [[1, 2, 2, 1], [2], [], [1, 1, 2, 2, 1]];

export function tfliteSeeds(): Case[] {
  return [
    ...Object.entries({ ...several, ...stablehlo }).map(([name, model]) => ({ name, bytes: writeTflite(model) })),
    { name: "container", bytes: container() },
    { name: "litertlm", bytes: languageModel() },
    ...operators(false),
  ];
}

/** An archive with a model, and another archive with one. */
function container(): Uint8Array {
  const model = writeTflite(several.layer ?? fileOf([], [], []));
  const nothing = new Uint8Array(0);
  return withFiles(nothing, { "model.tflite": model, "inner.task": withFiles(nothing, { "model.tflite": model }) });
}

/** A model with weights of its own, and a tokeniser. */
function languageModel(): Uint8Array {
  return litertlm(
    [
      { type: 3, content: writeTflite(several.layer ?? fileOf([], [], [])), model: "prefill" },
      { type: 7, content: otherFile.bytes, model: "prefill" },
      { type: 4, content: Uint8Array.of(1, 2) },
    ],
    { block: 512 },
  );
}

export function extensionSeeds(): Case[] {
  const models = { custom: several.custom ?? fileOf([], [], []), ...stablehlo };
  return [...Object.entries(models).map(([name, model]) => ({ name, bytes: writeTflite(model) })), ...operators(true)];
}

/** Of each operator the first file that is imported, with operations of the HAL alone or with those of the extension. */
function operators(isExtended: boolean): Case[] {
  const cases: Case[] = [];
  for (const { name } of builtinOperators) {
    const bytes = firstImported(name, isExtended);
    if (bytes !== undefined) cases.push({ name, bytes });
  }
  return cases;
}

function firstImported(name: string, isExtended: boolean): Uint8Array | undefined {
  for (const type of types) {
    for (const shape of shapes) {
      for (const count of [1, 2, 3]) {
        for (const outputs of [1, 2]) {
          const tensors = Array.from({ length: count + outputs }, () => ({ type, shape }));
          const all = tensors.map((_, index) => index);
          const operator = { name, inputs: all.slice(0, count), outputs: all.slice(count) };
          const bytes = importSeed(() => writeTflite(fileOf(tensors, [operator], operator.outputs)), isExtended);
          if (bytes !== undefined) return bytes;
        }
      }
    }
  }
  return undefined;
}

function importSeed(write: () => Uint8Array, isExtended: boolean): Uint8Array | undefined {
  try {
    const bytes = write();
    const { model } = importTflite(bytes, isExtended ? {} : { extensions: false });
    return !isExtended || model.extensionNameToPrefix.length > 0 ? bytes : undefined;
  } catch (error) {
    if (error instanceof TfliteError) return undefined;
    throw error;
  }
}
