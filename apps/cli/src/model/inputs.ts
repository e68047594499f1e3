/**
 * The user's inputs: which files belong to which run, and the bytes of the model's input tensors.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { randomTensor } from "@nnhal/diff/noise";
import { NetworkError } from "@nnhal/network";
import { byteSize, type Normalisation, tensorText, textValues } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import type { TensorDescription } from "@nnhal/tflite";
import { usageError } from "../failure.ts";
import { pathFrom, readUserFile, reasonOf } from "../files.ts";
import { convertInput, inputEndings, type PreparedInput, standardInput } from "./input-file.ts";
import type { LoadedModel } from "./load.ts";

export type { PreparedInput } from "./input-file.ts";

/** The user's inputs of one run. */
export interface GivenInputs {
  /** One file for each input, in order; `-` is the standard input. */
  readonly files: readonly string[];
  /** Noise instead of files. */
  readonly seed?: number;
  /** A text for all inputs instead of files. */
  readonly text?: string | undefined;
  readonly normalisation?: Normalisation;
  /** Samples of a sound in a second. Default: 16000. */
  readonly rate?: number | undefined;
}

/** Normalisation that `--mean` and `--std` describe. */
export function normalisationOf({
  mean,
  std,
}: {
  readonly mean?: readonly number[] | undefined;
  readonly std?: readonly number[] | undefined;
}): { normalisation?: Normalisation } {
  return mean === undefined && std === undefined ? {} : { normalisation: { mean: mean ?? [128], std: std ?? [128] } };
}

/** Where files are found. */
export interface InputPlace {
  readonly cwd: string;
  /** Reads the standard input to its end. Absent: there is none. */
  readonly stdin?: (() => Promise<Uint8Array>) | undefined;
}

/** A few hundred megabytes hold any picture within the limit of pixels. */
const MOST_FILE_BYTES = 2 ** 29;

/**
 * The files of each run. A model of one input runs once for each file, and a folder stands for the inputs in it, in the order of their
 * names; a model of several inputs runs once. Rejects with a usage error.
 */
export async function filesOfRuns(
  model: LoadedModel,
  files: readonly string[],
  cwd: string,
): Promise<readonly (readonly string[])[]> {
  if (model.givenInputs.length !== 1 || files.length === 0) return [files];
  const all: string[][] = [];
  for (const file of files) {
    const status = await stat(pathFrom(cwd, file)).catch(() => undefined);
    if (status?.isDirectory()) for (const inside of await inputsIn(file, cwd)) all.push([inside]);
    else all.push([file]);
  }
  const twice = all.filter(([file]) => file === standardInput).length > 1;
  if (twice) throw usageError("the standard input can be read only once");
  return all;
}

async function inputsIn(folder: string, cwd: string): Promise<readonly string[]> {
  let names: readonly string[];
  try {
    names = await readdir(pathFrom(cwd, folder));
  } catch (error) {
    throw usageError(`cannot read the folder ${folder}: ${reasonOf(error)}`, error);
  }
  const inputs = names.filter((name) => inputEndings.test(name)).sort();
  if (inputs.length === 0) throw usageError(`there are no pictures, .npy, WAV or .bin files in the folder ${folder}`);
  return inputs.map((name) => join(folder, name));
}

/** The inputs of a run. Rejects with a usage error that names the input and its type. */
export async function prepareInputs(
  model: LoadedModel,
  given: GivenInputs,
  place: InputPlace,
): Promise<PreparedInput[]> {
  const tensors = model.givenInputs.map((index) => elementAt(model.inputs, index));
  const { files, seed, text, ...conversion } = given;
  if (seed !== undefined) {
    return tensors.map((info, index) => ({ info, bytes: randomTensor(info, seed, index), source: `seed ${seed}` }));
  }
  if (text !== undefined) {
    const values = await textValuesOf(model, text);
    return tensors.map((info, index) => ({ info, bytes: elementAt(values, index).bytes, source: "text" }));
  }
  if (files.length !== tensors.length) throw usageError(wrongCount(tensors, files.length));
  const inputs: PreparedInput[] = [];
  for (const [index, info] of tensors.entries()) {
    const file = elementAt(files, index);
    inputs.push(await convertInput(file, await readInput(file, info, place), info, conversion));
  }
  return inputs;
}

async function textValuesOf(model: LoadedModel, text: string) {
  try {
    return await textValues(model, model, text);
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    throw usageError(`--${error.message}`, error);
  }
}

function wrongCount(tensors: readonly TensorDescription[], count: number): string {
  const takes = `the model takes ${tensors.length} input${tensors.length === 1 ? "" : "s"}`;
  const list = tensors.map(tensorText).join(", ");
  return count === 0
    ? `${takes}: ${list}; pass each with --input FILE, or noise with --random SEED`
    : `${takes}: ${list}; there ${count === 1 ? "is 1 --input" : `are ${count} --input`}`;
}

async function readInput(file: string, info: TensorDescription, { cwd, stdin }: InputPlace): Promise<Uint8Array> {
  if (file === standardInput) {
    if (stdin === undefined) throw usageError("there is no standard input");
    return stdin();
  }
  const size = byteSize(info);
  const most =
    /\.bin$/i.test(file) && !info.shape.includes(0)
      ? { bytes: size, reason: `but the input ${tensorText(info)} takes ${size}` }
      : { bytes: MOST_FILE_BYTES, reason: "more than any input needs" };
  return readUserFile(file, { what: "input", cwd, most });
}

/** Throws a usage error for an input without elements. `work`: what such an input leaves nothing for. */
export function expectElements(work: "measure" | "compare", inputs: readonly PreparedInput[]): void {
  const empty = inputs.find(({ bytes }) => bytes.length === 0);
  if (empty === undefined) return;
  const what = `the input ${tensorText(empty.info)} has no elements, which leaves nothing to ${work}`;
  throw usageError(`${what}: give it a file with elements, or a shape by --input-shape`);
}
