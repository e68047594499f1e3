/**
 * Networks of words and pieces, with TFLite Metadata and packed files, for tests. Each sums the rows of a table that its ids choose.
 */
import { flatbuffer, type Table, withFiles } from "@nnhal/test-kit/packed-files";
import { readTflite, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { modelOf, tensor } from "../models.test-helper.ts";

const fileNamed = (name: string): Table => ({ fields: [name] });
const unit = (type: number, options: Table): Table => ({ fields: [{ byte: type }, options] });

/** The process units of tokenisers, by the names of their files. */
export const tokenizerUnits = {
  bert: (vocabulary: string) => unit(4, { fields: [[fileNamed(vocabulary)]] }),
  sentencePiece: (model: string) => unit(5, { fields: [[fileNamed(model)]] }),
  regex: (pattern: string, vocabulary: string) => unit(6, { fields: [pattern, [fileNamed(vocabulary)]] }),
};

/** Properties of a model of text. */
export interface GivenTextModel {
  /** The names of the inputs in the metadata: the first is that of the ids. */
  readonly inputs: readonly string[];
  /** Ids of an input; 0: any number. */
  readonly length: number;
  /** A row for each token. */
  readonly table: readonly (readonly [number, number])[];
  /** The tokeniser, of the first input or of all together. */
  readonly unit: Table;
  readonly isOfAll?: boolean;
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly output?: string;
  readonly labels?: string;
}

/** A model that sums the rows of the ids; of several inputs, row times mask, and 100 for each segment that is not 0. */
export function textModel(given: GivenTextModel): Uint8Array {
  const { inputs, length, table, output = "scores" } = given;
  const size = length === 0 ? 1 : length;
  const row = (name: string, more: Partial<TfliteTensor> = {}) =>
    tensor(name, { shape: [1, size], ...(length === 0 && { shapeSignature: [1, -1] }), ...more });
  const wide = (name: string, last: number) =>
    tensor(name, { shape: [1, size, last], ...(length === 0 && { shapeSignature: [1, -1, last] }) });
  const floats = new Uint8Array(Float32Array.from(table.flat()).buffer);
  const constant = (name: string, ...values: number[]) =>
    tensor(name, { type: "INT32", shape: [values.length], data: new Uint8Array(Int32Array.from(values).buffer) });
  const tensors = [
    ...inputs.map((_, place) => row(`in${place}`, { type: "INT32" })),
    tensor("table", { shape: [table.length, 2], data: floats }),
    constant("axis", 1),
    wide("rows", 2),
    tensor("out", { shape: [1, 2] }),
  ];
  const [rows, axis, looked, out] = [0, 1, 2, 3].map((place) => inputs.length + place);
  const one = (name: string, from: (number | undefined)[], to: number | undefined, options = {}) => ({
    ...{ name, version: 1, options, outputs: [to ?? -1] },
    inputs: from.map((each) => each ?? -1),
  });
  const operators = [one("GATHER", [rows, 0], looked, { axis: 0, batchDims: 0 })];
  if (inputs.length === 1) operators.push(one("SUM", [looked, axis], out, { keepDims: false }));
  else {
    const first = tensors.length;
    const mask = inputs.findIndex((name) => name.includes("mask"));
    const segments = inputs.findIndex((name) => name.includes("segment"));
    tensors.push(row("mask float"), constant("shape", 1, size, 1), wide("mask wide", 1), wide("masked", 2));
    tensors.push(tensor("sum", { shape: [1, 2] }), row("segment float"), tensor("segment sum", { shape: [1, 1] }));
    operators.push(
      one("CAST", [mask], first),
      one("RESHAPE", [first, first + 1], first + 2, { newShape: [1, size, 1] }),
      one("MUL", [looked, first + 2], first + 3, { fusedActivationFunction: "NONE" }),
      one("SUM", [first + 3, axis], first + 4, { keepDims: false }),
      one("CAST", [segments < 0 ? mask : segments], first + 5),
      one("SUM", [first + 5, axis], first + 6, { keepDims: true }),
      one(segments < 0 ? "ADD" : "SUB", [first + 4, first + 6], out, { fusedActivationFunction: "NONE" }),
    );
  }
  const model = modelOf({ tensors, inputs: inputs.map((_, place) => place), outputs: [out ?? 0], operators });
  const described = inputs.map(
    (name, place): Table => ({
      fields: [name, undefined, undefined, undefined, place === 0 && !given.isOfAll ? [given.unit] : undefined],
    }),
  );
  const labels = given.labels === undefined ? [] : [{ fields: [given.labels, undefined, { byte: 2 }] }];
  const outputs = [{ fields: [output, undefined, undefined, undefined, undefined, undefined, labels] }];
  const subgraph = {
    fields: [undefined, undefined, described, outputs, undefined, given.isOfAll ? [given.unit] : undefined],
  };
  const metadata = flatbuffer({ fields: ["texts", undefined, undefined, [subgraph]] }, "M001");
  const whole = writeTflite({ ...readTflite(model), metadata: [{ name: "TFLITE_METADATA", data: metadata }] });
  return withFiles(whole, given.files);
}
