/**
 * The picture of a task, and where its pixels lie in the model's input.
 */
import { NetworkError } from "../error.ts";
import type { Model } from "../model.ts";
import { type PictureLike, rgbOf } from "../picture/like.ts";
import type { Picture } from "../picture/picture.ts";
import { type Placement, placementOf } from "../picture/resize.ts";
import { pictureLayoutOf } from "../picture/to-tensor.ts";
import { infoText } from "../tensor-info.ts";
import { onlyInput } from "./classify.ts";

/** A picture and its place in an input of some width and height. */
export interface PlacedPicture {
  readonly picture: Picture;
  readonly width: number;
  readonly height: number;
  readonly placement: Placement;
  /** The point of the picture for one of the input, in pixels of each. */
  pointOf(x: number, y: number): { readonly x: number; readonly y: number };
}

/** Places a picture. Throws WRONG_TASK for a model whose only input takes none. */
export function placePicture(task: string, model: Pick<Model, "inputs">, like: PictureLike): PlacedPicture {
  const input = onlyInput(task, model);
  const [batch = 0, ...rest] = input.shape;
  const layout = pictureLayoutOf([batch === 0 ? 1 : batch, ...rest]);
  if (layout === undefined)
    throw new NetworkError("WRONG_TASK", `${task}: the input ${infoText(input)} takes no picture`);
  const picture = rgbOf(like);
  const { width, height } = layout;
  const placement = placementOf(picture, width, height, picture.use?.fit);
  const { left, top, across, down } = placement;
  return { picture, width, height, placement, pointOf: (x, y) => ({ x: (x - left) / across, y: (y - top) / down }) };
}
