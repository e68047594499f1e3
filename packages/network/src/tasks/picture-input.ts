/**
 * The picture of a task, and where its pixels lie in the model's input.
 */
import { NetworkError } from "../error.ts";
import type { Model } from "../model.ts";
import { picture as loadPicture, type PictureSource } from "../picture/load-picture.ts";
import type { Picture } from "../picture/picture.ts";
import { type Placement, placementOf } from "../picture/resize.ts";
import { pictureLayoutOf } from "../picture/to-tensor.ts";
import type { Source } from "../read.ts";
import type { Inputs } from "../run-inputs.ts";
import { elementsOf } from "../tensor.ts";
import { infoText, isNumeric } from "../tensor-info.ts";
import { onlyInput } from "./roles.ts";

/** A picture and its place in an input of some width and height. */
export interface PlacedPicture {
  readonly picture: Picture;
  readonly width: number;
  readonly height: number;
  readonly placement: Placement;
  /** The point of the picture for one of the input, in pixels of each. */
  pointOf(x: number, y: number): { readonly x: number; readonly y: number };
}

/** Reads and places a picture. Rejects with WRONG_TASK for a model whose only input takes none. */
export async function placePicture(
  task: string,
  model: Pick<Model, "inputs">,
  source: PictureSource,
  signal: AbortSignal | undefined,
): Promise<PlacedPicture> {
  const input = onlyInput(task, model);
  const [batch = 0, ...rest] = input.shape;
  const layout = pictureLayoutOf([batch === 0 ? 1 : batch, ...rest]);
  if (layout === undefined)
    throw new NetworkError("WRONG_TASK", `${task}: the input ${infoText(input)} takes no picture`);
  const picture = await loadPicture(source, { signal });
  const { width, height } = layout;
  const placement = placementOf(picture, width, height, picture.use?.fit);
  const { left, top, across, down } = placement;
  return { picture, width, height, placement, pointOf: (x, y) => ({ x: (x - left) / across, y: (y - top) / down }) };
}

/**
 * The inputs of a task that takes any inputs: a path, a URL, a Blob, or bytes of a file become a picture if the model's only input takes
 * one. Bytes are those of a file if they are not as many as the input has elements.
 */
export async function inputsOf(
  { inputs }: Pick<Model, "inputs">,
  given: Inputs | Source,
  signal: AbortSignal | undefined,
): Promise<Inputs> {
  const [input] = inputs;
  if (inputs.length !== 1 || input === undefined || !isSource(given) || !isNumeric(input)) return given as Inputs;
  const [batch = 0, ...rest] = input.shape;
  const isPicture = pictureLayoutOf([batch === 0 ? 1 : batch, ...rest]) !== undefined;
  const isElements = given instanceof Uint8Array && given.length === elementsOf(input.shape);
  // All else is a value, which the run takes or refuses.
  return !isPicture || isElements ? (given as Inputs) : loadPicture(given, { signal });
}

function isSource(given: Inputs | Source): given is Source {
  return typeof given === "string" || given instanceof URL || given instanceof Blob || isBytes(given);
}

function isBytes(given: unknown): given is Uint8Array | ArrayBuffer {
  return given instanceof ArrayBuffer || given instanceof Uint8Array;
}
