/**
 * Converts the user's inputs to the bytes of the model's input tensors.
 */

import {
  byteSize,
  decodePicture,
  type Normalisation,
  type Picture,
  pictureLayoutOf,
  pictureToTensor,
  tensorText,
  whyNoPicture,
} from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import type { TensorDescription } from "@nnhal/tflite";
import { messageOf, usageError } from "../failure.ts";
import { readUserFile } from "../files.ts";
import type { LoadedModel } from "./load.ts";
import { randomTensor } from "./random.ts";

/** The user's inputs. */
export interface GivenInputs {
  /** One file for each input, in order. */
  readonly files: readonly string[];
  /** Noise instead of files. */
  readonly seed?: number;
  readonly normalisation?: Normalisation;
}

/** An input of a run. */
export interface PreparedInput {
  readonly info: TensorDescription;
  readonly bytes: Uint8Array;
  /** Where it came from, for the report. */
  readonly source: string;
}

/** A few hundred megabytes hold any picture within the limit of pixels. */
const MOST_PICTURE_BYTES = 2 ** 29;

/** The inputs of a model. Rejects with a usage error that names the input and its type. */
export async function prepareInputs(model: LoadedModel, given: GivenInputs, cwd: string): Promise<PreparedInput[]> {
  const tensors = model.givenInputs.map((index) => elementAt(model.inputs, index));
  const { files, seed, normalisation } = given;
  if (seed !== undefined) {
    return tensors.map((info, place) => ({ info, bytes: randomTensor(info, seed, place), source: `seed ${seed}` }));
  }
  if (files.length !== tensors.length) throw usageError(wrongCount(tensors, files.length));
  const inputs: PreparedInput[] = [];
  for (const [place, info] of tensors.entries())
    inputs.push(await readInput(elementAt(files, place), info, normalisation, cwd));
  return inputs;
}

function wrongCount(tensors: readonly TensorDescription[], count: number): string {
  const takes = `the model takes ${tensors.length} input${tensors.length === 1 ? "" : "s"}`;
  const list = tensors.map(tensorText).join(", ");
  return count === 0
    ? `${takes}: ${list}; pass each with --input FILE, or noise with --random SEED`
    : `${takes}: ${list}; there ${count === 1 ? "is 1 --input" : `are ${count} --input`}`;
}

async function readInput(
  file: string,
  info: TensorDescription,
  normalisation: Normalisation | undefined,
  cwd: string,
): Promise<PreparedInput> {
  if (/\.bin$/i.test(file)) return readRaw(file, info, cwd);
  const most = { bytes: MOST_PICTURE_BYTES, reason: "more than any picture needs" };
  const bytes = await readUserFile(file, { what: "input", cwd, most });
  const picture = await decode(file, bytes);
  const problem = whyNoPicture(info) ?? whyNoNormalisation(info, normalisation);
  if (problem !== undefined) {
    throw usageError(`the input ${tensorText(info)} cannot take the picture ${file}: ${problem}`);
  }
  const source = `${file}, ${picture.width} x ${picture.height}`;
  return { info, bytes: pictureToTensor(picture, info, normalisation), source };
}

async function readRaw(file: string, info: TensorDescription, cwd: string): Promise<PreparedInput> {
  const size = byteSize(info);
  const reason = `the input ${tensorText(info)} takes ${size}`;
  const bytes = await readUserFile(file, { what: "input", cwd, most: { bytes: size, reason: `but ${reason}` } });
  if (bytes.length !== size) throw usageError(`the input ${file} has ${bytes.length} bytes, but ${reason}`);
  return { info, bytes, source: file };
}

async function decode(file: string, bytes: Uint8Array): Promise<Picture> {
  try {
    return await decodePicture(bytes);
  } catch (error) {
    const hint = error instanceof RangeError && error.cause === undefined ? "; raw tensors need a name in .bin" : "";
    throw usageError(`the input ${file} ${messageOf(error)}${hint}`, error);
  }
}

function whyNoNormalisation({ shape }: TensorDescription, given: Normalisation | undefined): string | undefined {
  const most = Math.max(given?.mean.length ?? 1, given?.std.length ?? 1);
  const channels = pictureLayoutOf(shape)?.channels ?? 1;
  return most > channels ? `--mean and --std have ${most} numbers for ${channels} channel` : undefined;
}
