/**
 * Wrong operations as files of their own: the operator of the .tflite file with its constants, its inputs and the judge's outputs as raw
 * tensors, so that `nnhal run` and others can run it.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { OnOperation, OperationDiff, OperationValues, TensorValue } from "@nnhal/diff";
import { elementAt, elementCount } from "@nnhal/operations";
import { type TfliteModel, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { constantBytes } from "@nnhal/utils";
import { pathFrom, writeUserFile } from "../files.ts";
import type { LoadedModel } from "../model/load.ts";
import type { Piece } from "./shrink-piece.ts";

/** A wrong operation that was written. */
export interface SavedPiece {
  /** Index of the operation. */
  readonly operation: number;
  /** The .tflite file, as the user named the folder. */
  readonly model: string;
  /** Raw tensors in the order of the file's inputs and outputs: little-endian elements. */
  readonly inputs: readonly string[];
  readonly expected: readonly string[];
  readonly actual: readonly string[];
}

/** A wrong operation that could not be written. */
export interface UnsavedPiece {
  /** Index of the operation. */
  readonly operation: number;
  readonly reason: string;
}

/** A writer of wrong operations. */
export interface Saver {
  readonly take: OnOperation;
  readonly listSaved: () => readonly SavedPiece[];
  readonly listUnsaved: () => readonly UnsavedPiece[];
}

/** Options of a writer of wrong operations. */
export interface SaverOptions {
  readonly cwd: string;
  /**
   * Runs an operator by itself on both sides, with its inputs. Undefined: it is right by itself, or it cannot be imported. Absent: the judge
   * computes nothing.
   */
  readonly reproduce?: ((piece: Omit<Piece, "expected" | "actual">) => Promise<Piece | undefined>) | undefined;
  /** Makes a piece smaller, if it can. Default: pieces are written as they are. */
  readonly shrink?: ((piece: Piece) => Promise<Piece>) | undefined;
}

/** An operator whose operations are being compared. */
interface Pending {
  readonly operator: number;
  /** The judge's values by the name of the tensor. */
  readonly values: NamedValues;
  /** The first of its operations that is wrong. */
  wrong?: { readonly operation: OperationDiff; readonly values: OperationValues };
}

type NamedValues = Map<string, TensorValue>;

/** Makes a writer of wrong operations into a folder, which is made when the first is written. */
export function createSaver(folder: string, model: LoadedModel, options: SaverOptions): Saver {
  const { cwd, reproduce, shrink = async (piece) => piece } = options;
  const saved: SavedPiece[] = [];
  const reasons = new Map<number, string>();
  const nameOf = (operand: number) => model.operandNames[operand];
  let pending: Pending | undefined;

  const take: OnOperation = async (operation, values) => {
    const { index: operator } = elementAt(model.operators, operation.index);
    if (pending?.operator !== operator) pending = { operator, values: new Map() };
    const [run] = values.runs;
    if (run === undefined) return;
    putValues(pending.values, values.operands.map(nameOf), run.inputs);
    if (operation.verdict === "wrong") pending.wrong ??= { operation, values };
    // A later operation of the operator may read the input that is still missing.
    if (pending.wrong !== undefined) await save(pending, pending.wrong);
  };

  /** Writes the operator of a wrong operation, unless that was done. */
  async function save({ operator, values }: Pending, { operation, values: own }: NonNullable<Pending["wrong"]>) {
    if (saved.some((piece) => piece.operation === operation.index)) return;
    const piece = await completePiece(operator, values, operation, own);
    if (typeof piece === "string") {
      reasons.set(operation.index, piece);
      return;
    }
    reasons.delete(operation.index);
    saved.push(await write(operation.index, await shrink(piece)));
  }

  /** The operator by itself, with its inputs and results; a text: why it cannot be had. */
  async function completePiece(
    operator: number,
    values: NamedValues,
    operation: OperationDiff,
    { runs: [run] }: OperationValues,
  ): Promise<Piece | string> {
    const cut = pieceOf(model, operator);
    if (typeof cut === "string") return cut;
    const known = new Map(values);
    // Weights that other operators compute from constants, as DEQUANTIZE does, are constants of the model.
    for (const [operand, { dimensions }] of model.model.main.operands.entries()) {
      const bytes = constantOf(model, operand);
      if (bytes !== undefined) putValues(known, [nameOf(operand)], [{ bytes, dimensions }]);
    }
    const bytesOf = (tensors: readonly TfliteTensor[], from: NamedValues) =>
      tensors.flatMap(({ name }) => from.get(name)?.bytes ?? []);
    const missing = cut.inputs.find(({ name }) => !known.has(name));
    if (missing !== undefined) return `the value of its input ${missing.name} is not known`;
    const outputNames = operation.outputs.map(({ operand }) => nameOf(operand));
    const resultsOf = (all: readonly TensorValue[] = []) => putValues(new Map(), outputNames, all);
    const [expected, actual] = [resultsOf(run?.expected), resultsOf(run?.actual)];
    const inputs = bytesOf(cut.inputs, known);
    const piece = { model: withShapesOf(withShapesOf(cut.model, known), expected), inputs };
    if (cut.outputs.every(({ name }) => expected.has(name)))
      return { ...piece, expected: bytesOf(cut.outputs, expected), actual: bytesOf(cut.outputs, actual) };
    // The operator became several operations, of which this one does not compute all results.
    if (reproduce === undefined) return "it became several operations, and the judge does not compute";
    return (await reproduce(piece)) ?? "it became several operations, which are right by themselves";
  }

  async function write(operation: number, piece: Piece): Promise<SavedPiece> {
    const { name } = elementAt(model.operators, operation);
    const base = `${String(operation + 1).padStart(4, "0")}-${name.toLowerCase()}`;
    await mkdir(pathFrom(cwd, folder), { recursive: true });
    const writeOne = async (suffix: string, bytes: Uint8Array) => {
      const file = join(folder, `${base}.${suffix}`);
      await writeUserFile(file, bytes, cwd);
      return file;
    };
    const writeAll = (kind: string, all: readonly Uint8Array[]) =>
      Promise.all(all.map((bytes, place) => writeOne(`${kind}${place}.bin`, bytes)));
    return {
      operation,
      model: await writeOne("tflite", writeTflite(piece.model)),
      inputs: await writeAll("input", piece.inputs),
      expected: await writeAll("expected", piece.expected),
      actual: await writeAll("actual", piece.actual),
    };
  }

  return {
    take,
    listSaved: () => saved,
    listUnsaved: () => [...reasons].map(([operation, reason]) => ({ operation, reason })),
  };
}

/** Puts values under their names, where no value is yet. Returns the map. */
function putValues(
  map: NamedValues,
  names: readonly (string | undefined)[],
  values: readonly TensorValue[],
): NamedValues {
  for (const [place, value] of values.entries()) {
    const name = names[place];
    if (name !== undefined && !map.has(name)) map.set(name, value);
  }
  return map;
}

/** A model of one operator with the shapes that values have, where the file has shapes of another size. */
function withShapesOf(model: TfliteModel, values: NamedValues): TfliteModel {
  const [main, ...others] = model.subgraphs;
  if (main === undefined) return model;
  const tensors = main.tensors.map((tensor) => {
    const dimensions = tensor.data === undefined ? values.get(tensor.name)?.dimensions : undefined;
    return dimensions === undefined || elementCount(dimensions) === elementCount(tensor.shape)
      ? tensor
      : { ...tensor, shape: [...dimensions] };
  });
  return { ...model, subgraphs: [{ ...main, tensors }, ...others] };
}

function constantOf({ model }: LoadedModel, operand: number): Uint8Array | undefined {
  return constantBytes(elementAt(model.main.operands, operand), model);
}

/**
 * The model of one operator of a file, and its tensors without a stored value. Subgraphs that it calls come with it. A text: why it cannot be
 * by itself. An operator that calls subgraphs must be in the first one, which is its place in its own file.
 */
export function pieceOf(
  { content, importing }: Pick<LoadedModel, "content" | "importing">,
  index: number,
):
  | { readonly model: TfliteModel; readonly inputs: readonly TfliteTensor[]; readonly outputs: readonly TfliteTensor[] }
  | string {
  const { signature: key } = importing;
  const place = content.signatures.find((signature) => signature.key === key)?.subgraph ?? 0;
  const subgraph = elementAt(content.subgraphs, place);
  const operator = subgraph.operators[index];
  if (operator === undefined) return "the import added it: the file has no such operator";
  const calls = callsSubgraphs.has(operator.name);
  if (calls && place !== 0) return `it calls subgraphs, and is in subgraph ${place}; expected the first one`;
  const used = [...new Set([...operator.inputs, ...operator.outputs, ...(operator.intermediates ?? [])])].filter(
    (tensor) => tensor >= 0,
  );
  const placeOf = new Map(used.map((tensor, at) => [tensor, at]));
  const move = (tensors: readonly number[]) => tensors.map((tensor) => placeOf.get(tensor) ?? -1);
  const tensors = used.map((tensor) => elementAt(subgraph.tensors, tensor));
  const isGiven = (tensor: number) => {
    const { data, external, isVariable } = elementAt(subgraph.tensors, tensor);
    return data === undefined && external === undefined && !isVariable;
  };
  const given = [...new Set(operator.inputs)].filter((tensor) => tensor >= 0 && isGiven(tensor));
  const own = {
    ...operator,
    inputs: move(operator.inputs),
    outputs: move(operator.outputs),
    ...(operator.intermediates && { intermediates: move(operator.intermediates) }),
  };
  const model: TfliteModel = {
    ...content,
    subgraphs: [
      { ...subgraph, tensors, operators: [own], inputs: move(given), outputs: own.outputs },
      ...(calls ? content.subgraphs.slice(1) : []),
    ],
    signatures: [],
    metadata: [],
  };
  const named = (all: readonly number[]) => all.map((tensor) => elementAt(subgraph.tensors, tensor));
  return { model, inputs: named(given), outputs: named(operator.outputs) };
}

/** Operators whose work is in other subgraphs. */
const callsSubgraphs: ReadonlySet<string> = new Set([
  "IF",
  "WHILE",
  "CALL",
  "CALL_ONCE",
  "STABLEHLO_COMPOSITE",
  "STABLEHLO_CASE",
  "STABLEHLO_WHILE",
  "STABLEHLO_REDUCE_WINDOW",
  "STABLEHLO_SCATTER",
]);
