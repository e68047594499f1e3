/**
 * Task of a network, by its outputs and the texts of its maker.
 */
import type { Model } from "../model.ts";
import { pictureLayoutOf } from "../picture/to-tensor.ts";
import { elementsOf } from "../tensor.ts";
import { showsLandmarks } from "./landmarks.ts";

/** Things, areas or landmarks that a network finds in a picture. */
export type Task = "detect" | "segment" | "landmarks";

/** Tensors of a model in a run: their names, and shapes without unknown extents. */
export type ModelTensors = Pick<Model, "inputs" | "outputs">;

type Output = ModelTensors["outputs"][number];

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The least width and height of a mask. */
const LEAST_EXTENT = 8;
/** More channels are features, or boxes of each cell. */
const MOST_CLASSES = 256;
/** A mask without a name is not smaller than the input by more. */
const MOST_REDUCTION = 4;

const namesOf = ({ name, otherNames }: Output) => [name, ...otherNames].join(" ").toLowerCase();
// Not in `transpose`.
const landmarkNames = /keypoint|landmark|heatmap|(?<![a-z])pose(?:s|net)?(?![a-z])/;
const maskNames = /argmax|segment|mask/;

/** The task of a network whose only input takes a picture; undefined if it may be another. */
export function taskOf(model: ModelTensors): Task | undefined {
  const { outputs } = model;
  if (inputSizeOf(model) === undefined) return undefined;
  if (outputs.some((output) => areBoxes(output, outputs))) return "detect";
  if (outputs.some((output) => output.shape.length > 1 && landmarkNames.test(namesOf(output)))) return "landmarks";
  // The scores of 63 classes look like the points of a hand, which has other outputs beside it.
  const isAlone = outputs.length === 1;
  if (outputs.some((output) => showsLandmarks(output) && !(isAlone && output.shape.length === 2) && !output.labels))
    return "landmarks";
  return maskOf(model) === undefined ? undefined : "segment";
}

/** The only output with classes of pixels; undefined if there is none, or if there are several. */
export function maskOf(model: ModelTensors): Output | undefined {
  const size = inputSizeOf(model);
  const masks = size === undefined ? [] : model.outputs.filter((output) => isMask(output, size));
  return masks.length === 1 ? masks[0] : undefined;
}

/** The size of the pictures that the only input takes: [1, height, width, channels], or with the channels first. */
export function inputSizeOf({ inputs }: ModelTensors): Size | undefined {
  const [input] = inputs;
  if (input?.shape.length !== 4 || inputs.length !== 1) return undefined;
  return pictureLayoutOf(input.shape.map((extent) => extent || 1));
}

/** The task of a network of which something is to be drawn: what its outputs resemble most; undefined if they resemble nothing. */
export function drawableTaskOf(model: ModelTensors): Task | undefined {
  const { outputs } = model;
  const task = taskOf(model);
  if (task !== undefined) return task;
  if (outputs.some(showsLandmarks)) return "landmarks";
  const isWide = ({ shape: [, rows = 0, columns = 0] }: Output) => rows >= LEAST_EXTENT && columns >= LEAST_EXTENT;
  return outputs.some(isWide) ? "segment" : undefined;
}

/** True if an output has boxes: four numbers for each of as many things as two other outputs have a class and a score for. */
function areBoxes(output: Output, outputs: readonly Output[]): boolean {
  const { shape } = output;
  if (shape.length < 2 || shape.at(-1) !== 4) return false;
  const count = elementsOf(shape) / 4;
  const isList = (other: Output) => other.shape.length === shape.length - 1 && elementsOf(other.shape) === count;
  return outputs.filter((other) => other !== output && isList(other)).length >= 2;
}

/** True if an output has classes of pixels: as numbers, or as scores of each. */
function isMask(output: Output, input: Size): boolean {
  const { shape, type, quantization, labels } = output;
  const [batch = 0, rows = 0, columns = 0, count = 1] = shape;
  if (batch !== 1 || rows < LEAST_EXTENT || columns < LEAST_EXTENT || count > MOST_CLASSES) return false;
  const { width, height } = input;
  // Of the input's proportions, within a row or column.
  if (Math.abs(rows * width - columns * height) > Math.max(width, height)) return false;
  const isNumbered = quantization === undefined && /int/.test(type);
  if (shape.length === 3) return isNumbered || maskNames.test(namesOf(output));
  if (shape.length !== 4) return false;
  if (labels !== undefined || maskNames.test(namesOf(output))) return true;
  // One channel may be depth, and three may be colors.
  return count === 1 ? isNumbered : count !== 3 && rows * MOST_REDUCTION >= height;
}
