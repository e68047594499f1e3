/**
 * Where the parts of a body, a face or a hand are in a picture.
 */
import { elementAt } from "@nnhal/operations";
import type { Model } from "../model.ts";
import type { PictureLike } from "../picture/like.ts";
import type { Tensor, TensorInfo } from "../tensor-info.ts";
import { type PlacedPicture, placePicture } from "./picture-input.ts";
import { outputsByRole, type Role } from "./roles.ts";

/** A part in a picture. */
export interface Landmark {
  /** null if there are no names, or none for this one. */
  readonly name: string | null;
  /** In pixels of the picture; a part may lie outside. */
  readonly x: number;
  readonly y: number;
  /** 1 if the model gives none. */
  readonly score: number;
}

/** How to find landmarks. */
export interface LandmarksOptions {
  /** Default: those that are packed with the model; the 17 of COCO for 17 landmarks. */
  readonly names?: readonly string[] | undefined;
  /** The names of outputs: of the points, or of heatmaps with offsets. Default: by name, else by shape. */
  readonly outputs?: { readonly points?: string; readonly heatmaps?: string; readonly offsets?: string } | undefined;
  /** What the numbers of a point are. Default: y, x, score, as MoveNet has them; of two numbers y, x. */
  readonly order?: readonly ("x" | "y" | "z" | "score")[] | undefined;
  /** Whether the numbers are shares of the input's size, rather than its pixels. Default: yes. */
  readonly areShares?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The landmarks of a person as the data set COCO has them, in its order. */
export const personLandmarks: readonly string[] =
  "nose,left eye,right eye,left ear,right ear,left shoulder,right shoulder,left elbow,right elbow,left wrist,right wrist,left hip,right hip,left knee,right knee,left ankle,right ankle".split(
    ",",
  );

/** Which of `personLandmarks` are connected, for `draw`. */
export const personLines: readonly (readonly [number, number])[] = [
  [0, 1],
  [0, 2],
  [1, 3],
  [2, 4],
  [5, 6],
  [5, 7],
  [7, 9],
  [6, 8],
  [8, 10],
  [5, 11],
  [6, 12],
  [11, 12],
  [11, 13],
  [13, 15],
  [12, 14],
  [14, 16],
];

const isMap: Role["fits"] = ({ shape }) => shape.length === 4 && (shape[1] ?? 0) > 1 && (shape[2] ?? 0) > 1;

/**
 * The landmarks in a picture of one body, face or hand: a model whose output is a list of points [..., landmarks, 2 to 4 numbers], such as
 * MoveNet, or heatmaps [1, rows, columns, landmarks] with offsets [1, rows, columns, 2 * landmarks], such as PoseNet.
 */
export async function landmarks(model: Model, like: PictureLike, options: LandmarksOptions = {}): Promise<Landmark[]> {
  const { outputs: given = {}, signal } = options;
  const placed = placePicture("landmarks", model, like);
  const isHeat =
    given.heatmaps !== undefined || (given.points === undefined && model.outputs.filter(isMap).length >= 2);
  if (isHeat) {
    const info = heatRoles(model, given);
    const outputs = await model.run(placed.picture, { signal });
    // Each is an output of the model.
    const [heat, offsets] = [outputs[info.heatmaps.name] as Tensor, outputs[info.offsets.name] as Tensor];
    return fromHeatmaps(heat, offsets, placed, options.names ?? info.heatmaps.labels);
  }
  const roles = {
    points: {
      names: /keypoint|landmark|point|pose/,
      fits: ({ shape }: TensorInfo) => shape.length >= 2 && (shape.at(-1) ?? 0) <= 4,
    },
  };
  const info = outputsByRole(
    "landmarks",
    model,
    roles,
    given.points === undefined ? {} : { points: given.points },
  ).points;
  const outputs = await model.run(placed.picture, { signal });
  return fromPoints(outputs[info.name] as Tensor, placed, options, options.names ?? info.labels);
}

function heatRoles(model: Model, given: { readonly heatmaps?: string; readonly offsets?: string }) {
  const extents = model.outputs.filter(isMap).map(({ shape }) => shape[3] ?? 0);
  // Offsets have two numbers for each landmark.
  const isOffsets: Role["fits"] = (info) => isMap(info) && extents.includes((info.shape[3] ?? 0) / 2);
  const isHeatmaps: Role["fits"] = (info) => isMap(info) && extents.includes(2 * (info.shape[3] ?? 0));
  return outputsByRole(
    "landmarks",
    model,
    { heatmaps: { names: /heat/, fits: isHeatmaps }, offsets: { names: /offset/, fits: isOffsets } },
    given,
  );
}

function namesFor(count: number, names: readonly string[] | undefined): readonly string[] {
  return names ?? (count === personLandmarks.length ? personLandmarks : []);
}

function fromPoints(
  { data, shape }: Tensor,
  { width, height, pointOf }: PlacedPicture,
  { areShares = true, order }: LandmarksOptions,
  given: readonly string[] | undefined,
): Landmark[] {
  const size = shape.at(-1) ?? 1;
  const parts = order ?? (["y", "x", "score"] as const).slice(0, size);
  const count = data.length / size;
  const names = namesFor(count, given);
  const scaleX = areShares ? width : 1;
  const scaleY = areShares ? height : 1;
  return Array.from({ length: count }, (_, place) => {
    const part = (name: (typeof parts)[number], otherwise: number) => {
      const at = parts.indexOf(name);
      return at < 0 ? otherwise : elementAt(data, place * size + at);
    };
    const point = pointOf(part("x", 0) * scaleX, part("y", 0) * scaleY);
    return { name: names[place] ?? null, ...point, score: part("score", 1) };
  });
}

function fromHeatmaps(
  heat: Tensor,
  offsets: Tensor,
  placed: PlacedPicture,
  given: readonly string[] | undefined,
): Landmark[] {
  const [, rows = 1, columns = 1, count = 1] = heat.shape;
  const names = namesFor(count, given);
  const [strideX, strideY] = [(placed.width - 1) / (columns - 1), (placed.height - 1) / (rows - 1)];
  return Array.from({ length: count }, (_, place) => {
    let best = 0;
    for (let cell = 1; cell < rows * columns; cell++) {
      if (elementAt(heat.data, cell * count + place) > elementAt(heat.data, best * count + place)) best = cell;
    }
    const offset = (axis: 0 | 1) => elementAt(offsets.data, best * 2 * count + axis * count + place);
    const y = Math.floor(best / columns) * strideY + offset(0);
    const x = (best % columns) * strideX + offset(1);
    // Heatmaps are logits.
    const score = 1 / (1 + Math.exp(-elementAt(heat.data, best * count + place)));
    return { name: names[place] ?? null, ...placed.pointOf(x, y), score };
  });
}
