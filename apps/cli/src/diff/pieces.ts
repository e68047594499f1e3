/**
 * Wrong operations as files of their own: the operator of the .tflite file with its constants, its inputs and the judge's outputs as raw
 * tensors, so that `nnhal run` and others can run it.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { OnOperation } from "@nnhal/diff";
import { elementAt } from "@nnhal/operations";
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

/** A writer of wrong operations. */
export interface Saver {
  readonly take: OnOperation;
  readonly files: () => readonly SavedPiece[];
}

/**
 * Makes a writer of wrong operations into a folder, which is made when the first is written. `shrink`: makes each smaller, if it can. Default:
 * they are written as they are.
 */
export function createSaver(
  folder: string,
  model: LoadedModel,
  cwd: string,
  shrink: (piece: Piece) => Promise<Piece> = async (piece) => piece,
): Saver {
  const saved: SavedPiece[] = [];
  const take: OnOperation = async (operation, values) => {
    if (operation.verdict !== "wrong") return;
    const origin = elementAt(model.operators, operation.index);
    const piece = pieceOf(model, origin.index);
    const [run] = values.runs;
    if (piece === undefined || run === undefined) return;
    const byName = new Map<string, Uint8Array>();
    const put = (operands: readonly number[], of: readonly { readonly bytes: Uint8Array }[]) => {
      for (const [place, operand] of operands.entries()) {
        const name = model.operandNames[operand];
        if (name !== undefined) byName.set(name, elementAt(of, place).bytes);
      }
    };
    const outputs = operation.outputs.map(({ operand }) => operand);
    put(values.operands, run.inputs);
    // Weights that other operators compute from constants, as DEQUANTIZE does, are constants of the model.
    for (const [operand, name] of model.operandNames.entries()) {
      const bytes = name !== undefined && !byName.has(name) ? constantOf(model, operand) : undefined;
      if (name !== undefined && bytes !== undefined) byName.set(name, bytes);
    }
    const named = (tensors: readonly TfliteTensor[]) => tensors.map(({ name }) => byName.get(name));
    const inputs = named(piece.inputs);
    put(outputs, run.expected);
    const expected = named(piece.outputs);
    put(outputs, run.actual);
    const actual = named(piece.outputs);
    const known = (values: readonly (Uint8Array | undefined)[]) => values.filter((bytes) => bytes !== undefined);
    const whole = { model: piece.model, inputs: known(inputs), expected: known(expected), actual: known(actual) };
    // An operator that became several operations has values that only some of these know.
    if (whole.inputs.length < inputs.length || whole.expected.length < expected.length) return;
    const smallest = await shrink(whole);
    const base = `${String(operation.index + 1).padStart(4, "0")}-${origin.name.toLowerCase()}`;
    await mkdir(pathFrom(cwd, folder), { recursive: true });
    const write = async (name: string, bytes: Uint8Array) => {
      const file = join(folder, name);
      await writeUserFile(file, bytes, cwd);
      return file;
    };
    const writeAll = (kind: string, all: readonly Uint8Array[]) =>
      Promise.all(all.map((bytes, place) => write(`${base}.${kind}${place}.bin`, bytes)));
    saved.push({
      operation: operation.index,
      model: await write(`${base}.tflite`, writeTflite(smallest.model)),
      inputs: await writeAll("input", smallest.inputs),
      expected: await writeAll("expected", smallest.expected),
      actual: await writeAll("actual", smallest.actual),
    });
  };
  return { take, files: () => saved };
}

function constantOf({ model }: LoadedModel, operand: number): Uint8Array | undefined {
  return constantBytes(elementAt(model.main.operands, operand), model);
}

/**
 * The model of one operator of a file, and its tensors without a stored value. Subgraphs that it calls come with it. Undefined: an import added
 * it, or it calls subgraphs and is not in the first one, which is the place of the operator in its own file.
 */
export function pieceOf(
  { content, importing }: Pick<LoadedModel, "content" | "importing">,
  index: number,
):
  | { readonly model: TfliteModel; readonly inputs: readonly TfliteTensor[]; readonly outputs: readonly TfliteTensor[] }
  | undefined {
  const { signature: key } = importing;
  const place = content.signatures.find((signature) => signature.key === key)?.subgraph ?? 0;
  const subgraph = elementAt(content.subgraphs, place);
  const operator = subgraph.operators[index];
  if (operator === undefined) return undefined;
  const calls = callsSubgraphs.has(operator.name);
  if (calls && place !== 0) return undefined;
  const used = [...new Set([...operator.inputs, ...operator.outputs, ...(operator.intermediates ?? [])])].filter(
    (tensor) => tensor >= 0,
  );
  const placeOf = new Map(used.map((tensor, at) => [tensor, at]));
  const moved = (tensors: readonly number[]) => tensors.map((tensor) => placeOf.get(tensor) ?? -1);
  const tensors = used.map((tensor) => elementAt(subgraph.tensors, tensor));
  const isGiven = (tensor: number) => {
    const { data, external, isVariable } = elementAt(subgraph.tensors, tensor);
    return data === undefined && external === undefined && !isVariable;
  };
  const given = [...new Set(operator.inputs)].filter((tensor) => tensor >= 0 && isGiven(tensor));
  const own = {
    ...operator,
    inputs: moved(operator.inputs),
    outputs: moved(operator.outputs),
    ...(operator.intermediates && { intermediates: moved(operator.intermediates) }),
  };
  const model: TfliteModel = {
    ...content,
    subgraphs: [
      { ...subgraph, tensors, operators: [own], inputs: moved(given), outputs: own.outputs },
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
