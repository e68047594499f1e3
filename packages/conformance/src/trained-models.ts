/**
 * Trained models with inputs and with outputs that another engine computed: files in a folder, listed in its
 * `reference/manifest.json`.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { elementAt } from "@nnhal/operations";

/** A tensor in a file: little-endian, row-major, packed. */
export interface TrainedTensor {
  readonly type: "UINT8" | "INT8" | "FLOAT32";
  readonly shape: readonly number[];
  readonly path: string;
}

/** A model on some inputs. */
export interface TrainedExample {
  /** The model's name, without `.tflite`. */
  readonly model: string;
  /** A name for the inputs, such as `cat`. */
  readonly input: string;
  /** The path of the model. */
  readonly path: string;
  readonly inputs: readonly TrainedTensor[];
  readonly outputs: readonly TrainedTensor[];
}

interface Listed extends Omit<TrainedTensor, "path"> {
  readonly file: string;
}

/** The examples in a folder; an empty list if the folder does not exist. Throws if the manifest cannot be read. */
export function findTrainedExamples(folder: string): TrainedExample[] {
  if (!existsSync(folder)) return [];
  const manifest: {
    readonly entries: readonly {
      readonly model: string;
      readonly input: string;
      readonly inputs: readonly Listed[];
      readonly outputs: readonly Listed[];
    }[];
  } = JSON.parse(readFileSync(join(folder, "reference/manifest.json"), "utf8"));
  const place = ({ type, shape, file }: Listed): TrainedTensor => ({
    type,
    shape,
    path: join(folder, "reference", file),
  });
  return manifest.entries.map(({ model, input, inputs, outputs }) => ({
    model,
    input,
    path: join(folder, `${model}.tflite`),
    inputs: inputs.map(place),
    outputs: outputs.map(place),
  }));
}

/**
 * The greatest allowed difference of an element of a float output, and of a quantised one: engines round at different
 * steps.
 */
const tolerance = { float: 1e-4, quantised: 3 };

/**
 * Describes the difference of an output from the expected one; undefined if it is right. Elements may differ within a
 * tolerance; the greatest quantised element must have the same index.
 */
export function trainedOutputProblem(expected: TrainedTensor, actual: Uint8Array): string | undefined {
  const bytes = new Uint8Array(readFileSync(expected.path));
  if (actual.length !== bytes.length) return `the output: expected ${bytes.length} bytes, got ${actual.length}`;
  const [ours, theirs] = [elementsOf(expected, actual), elementsOf(expected, bytes)];
  const isFloat = expected.type === "FLOAT32";
  const most = isFloat ? tolerance.float : tolerance.quantised;
  // Written so that NaN is wrong.
  const wrong = ours.findIndex((value, index) => !(Math.abs(value - elementAt(theirs, index)) <= most));
  if (wrong >= 0) return `element ${wrong}: expected ${theirs[wrong]} within ${most}, got ${ours[wrong]}`;
  if (isFloat) return undefined;
  const top = indexOfGreatest(ours);
  const expectedTop = indexOfGreatest(theirs);
  return theirs[top] === theirs[expectedTop]
    ? undefined
    : `index of the greatest element: expected ${expectedTop}, got ${top}`;
}

function elementsOf({ type }: TrainedTensor, bytes: Uint8Array): number[] {
  const { buffer } = bytes.slice();
  if (type === "FLOAT32") return Array.from(new Float32Array(buffer));
  return Array.from(type === "INT8" ? new Int8Array(buffer) : new Uint8Array(buffer));
}

function indexOfGreatest(values: readonly number[]): number {
  return values.reduce((best, value, index) => (value > elementAt(values, best) ? index : best), 0);
}
