/**
 * Public .tflite files with what TensorFlow Lite makes of them: each is imported, run on the reference device, and compared. The
 * files are not part of the repository: NNHAL_CORPUS names their folder.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { byteLength, elementAt, elementCount } from "@nnhal/operations";
import { corpusFolder as folder } from "@nnhal/test-kit/folders";
import { describe, expect, test } from "vitest";
import { type Elements, executeBytes } from "./_model.test-helper.ts";
import { inspectTflite } from "./describe/inspect.ts";
import { importTflite } from "./import/import.ts";
import type { ImportedModel, TensorDescription } from "./import/imported-model.ts";

const micro = (name: string, numbers: readonly number[]) => numbers.map((number) => `tflite-micro__${name}${number}`);

/**
 * The models that HAL 1.3 alone cannot express, by the operators that block them. A model that is listed and can be imported fails: the
 * list only ever shrinks. With the extension all of them run.
 */
const blocked: readonly (readonly [operators: string, models: readonly string[]])[] = [
  ["ADD of INT16", micro("add", [0, 3, 5, 7, 9, 10, 12, 14, 16])],
  ["CONV_2D of INT16", micro("conv", [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 20])],
  ["LEAKY_RELU of INT16", micro("leaky_relu", [1, 4, 6, 8, 11, 13, 15, 17, 19, 20, 22])],
  ["PAD of INT16", micro("pad", [0, 3, 5, 7, 9, 10, 12, 14, 16, 18])],
  ["QUANTIZE of INT16", micro("quantize", [1])],
  ["STRIDED_SLICE of INT16", micro("strided_slice", [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 20, 22, 24, 26, 28, 31, 33])],
  ["SUB of INT16", micro("sub", [1, 3])],
  ["TRANSPOSE_CONV of INT32 and INT16", micro("transpose_conv", [0, 2, 4])],
  // An INT16 input, INT8 layers with an INT16 memory, and an INT16 result.
  ["QUANTIZE of INT16, SVDF of INT8, SOFTMAX of INT8", ["tflite-micro__keyword_scrambled_8bit"]],
  [
    "RFFT2D of FLOAT32, RESHAPE of COMPLEX64, COMPLEX_ABS of COMPLEX64",
    ["tflite-support__yamnet_audio_classifier_with_metadata"],
  ],
  ["WHILE of FLOAT32, RESHAPE of INT32, CONCATENATION of INT32", ["DTLN__model_1_old"]],
  ["SCATTER_ND of FLOAT32", ["LiteRT__fallback_model"]],
  ["BATCH_MATMUL of FLOAT32", ["LiteRT__ff"]],
  [
    "SLICE of BOOL, RESHAPE of BOOL, SELECT_V2 of BOOL and FLOAT32, CONCATENATION of BOOL, CAST of BOOL, RFFT2D of FLOAT32, RESHAPE of COMPLEX64, COMPLEX_ABS of COMPLEX64",
    ["LiteRT__frontend_sl_v1"],
  ],
  ["GATHER_ND of FLOAT32", ["LiteRT__gather_nd"]],
  ["RESHAPE of INT32, CAST of BOOL", ["LiteRT__recommendation_cnn_i10o100"]],
  ["RESHAPE of INT32, COS of FLOAT32", ["LiteRT__rope"]],
  ["ATAN2 of FLOAT32", ["LiteRT__simple_atan2_op"]],
  ["MUL of INT16, ADD of INT16", ["LiteRT__simple_quantized_ops"]],
  // The number of elements is an input.
  ["TOPK_V2 of FLOAT32 and INT32", ["LiteRT__simple_topk_op_runtime_k"]],
  [
    "RESHAPE of INT16, BATCH_MATMUL of INT16",
    ["LiteRT__static_w8_a16_quantized_k_einsum", "LiteRT__static_w8_a16_quantized_v_einsum"],
  ],
  ["TILE of BOOL and INT32", ["LiteRT__tile_with_bool_input"]],
  ["UNIDIRECTIONAL_SEQUENCE_LSTM of INT8 and INT16", ["LiteRT__unidirectional_sequence_lstm_quantized"]],
  // Five dimensions.
  ["CONCATENATION of FLOAT32", ["tflite2onnx__concat.float32"]],
  ["STABLEHLO_COMPOSITE of FLOAT32, BATCH_MATMUL of FLOAT32", ["LiteRT__odml_sdpa_composite_mha"]],
];

/**
 * Files that TensorFlow Lite does not compute: its results in the folder are zeros. Ours are products of 16-bit elements and 8-bit ones with a
 * scale for each column, which the tests of BATCH_MATMUL check.
 */
const notComputed: ReadonlySet<string> = new Set([
  "LiteRT__static_w8_a16_quantized_k_einsum",
  "LiteRT__static_w8_a16_quantized_v_einsum",
]);

/** A file whose result has no stored shape: the folder has this part of it only. */
const partial: Readonly<Record<string, number>> = { LiteRT__tile_with_bool_input: 1 };

/** Files of the folder; with fewer, a part of them is missing. */
const LEAST_FILES = 182;

const reasons = new Map(blocked.flatMap(([operators, models]) => models.map((model) => [model, operators] as const)));

const names = existsSync(folder)
  ? readdirSync(folder)
      .filter((file) => file.endsWith(".tflite"))
      .map((file) => file.slice(0, -".tflite".length))
  : [];

function readFile(name: string): Uint8Array {
  return new Uint8Array(readFileSync(join(folder, name)));
}

/** The elements of a tensor in the file's own type. */
function elementsOf(tensorType: TensorDescription["tensorType"], { buffer }: Uint8Array): number[] {
  const arrays: { readonly [Name in typeof tensorType]?: ArrayLike<number | bigint> } = {
    get FLOAT32() {
      return new Float32Array(buffer);
    },
    get INT32() {
      return new Int32Array(buffer);
    },
    get INT64() {
      return new BigInt64Array(buffer);
    },
    get INT16() {
      return new Int16Array(buffer);
    },
    get INT8() {
      return new Int8Array(buffer);
    },
    get UINT8() {
      return new Uint8Array(buffer);
    },
    get BOOL() {
      return new Uint8Array(buffer);
    },
  };
  return Array.from(arrays[tensorType] ?? [], Number);
}

/** The greatest difference of an element, and the part of the elements that must have it at most (the folder's README). */
function tolerance(tensorType: TensorDescription["tensorType"], wanted: readonly number[]) {
  const largest = wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
  switch (tensorType) {
    case "FLOAT32":
      return { most: 1e-3 * largest, part: 0.999 };
    case "UINT8":
    case "INT8":
      return { most: 3, part: 0.999 };
    case "INT16":
      return { most: 1, part: 0.999 };
    default:
      return { most: 0, part: 0.99 };
  }
}

function expectNear(
  { name, tensorType }: TensorDescription,
  actual: readonly number[],
  wanted: readonly number[],
): void {
  expect({ name, elements: actual.length }).toEqual({ name, elements: wanted.length });
  const { most, part } = tolerance(tensorType, wanted);
  // A difference that is not a number is not near.
  const near = actual.filter((value, i) => Math.abs(value - elementAt(wanted, i)) <= most).length;
  expect(near / wanted.length, `${name}: elements that differ by ${most} at most`).toBeGreaterThanOrEqual(part);
}

/** The inputs of an execution: those of the file have values beside it, and each state has its first value. */
function givenInputs(file: string, { inputs, states }: ImportedModel): readonly Elements[] {
  const stateOf = new Map(states.map((state) => [state.input, state]));
  let place = 0;
  return inputs.map(({ type, shape, zeroPoint }, input): Elements => {
    const state = stateOf.get(input);
    if (state === undefined) return { bytes: readFile(`${file}.in${place++}.bin`), dimensions: shape };
    const { initial, initialShape = shape } = state;
    const zeros = new Uint8Array(byteLength(type, elementCount(shape))).fill(zeroPoint);
    return { bytes: initial ?? zeros, dimensions: initialShape };
  });
}

/** The operators that block a model, each once, with the types of the inputs that are not constants. */
function blockersOf({ model, operators }: ReturnType<typeof inspectTflite>): string {
  const kinds = operators
    .filter(({ status }) => status === "blocked")
    .map(({ subgraph, index, name }) => {
      const { tensors, operators: own } = elementAt(model.subgraphs, subgraph);
      const inputs = elementAt(own, index).inputs.map((tensor) => tensors[tensor]);
      const types = inputs.flatMap((tensor) => (tensor === undefined || tensor.data ? [] : [tensor.type]));
      return `${name} of ${[...new Set(types)].join(" and ")}`;
    });
  return [...new Set(kinds)].join(", ");
}

describe("public models", { timeout: 120_000 }, () => {
  if (names.length === 0)
    test(`no .tflite files in ${folder}: set NNHAL_CORPUS to a folder that has some`, () => expect(names).toEqual([]));
  else
    test("that need the extension are all there", () => {
      expect([...reasons.keys()].filter((name) => !names.includes(name))).toEqual([]);
      expect(names.length).toBeGreaterThanOrEqual(LEAST_FILES);
    });

  test.each(names)("%s", async (name) => {
    await expectAgreement(name);
  });
});

/** Expects that a file needs the extension if the table says so, and that its results are those of TensorFlow Lite. */
async function expectAgreement(name: string): Promise<void> {
  const file = `${name}.tflite`;
  expect(blockersOf(inspectTflite(readFile(file), { extensions: false }))).toBe(reasons.get(name) ?? "");
  const imported = importTflite(readFile(file));
  const results = await executeBytes(imported, givenInputs(file, imported));
  const stateOutputs = new Set(imported.states.map(({ output }) => output));
  const own = imported.outputs.flatMap((info, place) => (stateOutputs.has(place) ? [] : [{ info, place }]));
  for (const [order, { info, place }] of own.entries()) {
    const wanted = elementsOf(info.tensorType, readFile(`${file}.out${order}.bin`));
    const elements = elementsOf(info.tensorType, elementAt(results, place).bytes);
    if (notComputed.has(name)) {
      expect(wanted.some((element) => element !== 0)).toBe(false);
      expect(elements.some((element) => element !== 0)).toBe(true);
      continue;
    }
    expectNear(info, elements.slice(0, partial[name]), wanted);
  }
}
