/**
 * Where the parts of a body, a face or a hand are in a picture.
 */
import type { OptionNames } from "@nnhal/operations";
import { elementAt } from "@nnhal/operations";
import { check, NetworkError } from "../error.ts";
import type { Model } from "../model.ts";
import { checkOptions, wrapErrors } from "../options.ts";
import type { PictureSource } from "../picture/load-picture.ts";
import { checkLabels } from "../scores.ts";
import type { Tensor, TensorInfo } from "../tensor-info.ts";
import { listItems } from "../values.ts";
import { type PlacedPicture, placePicture } from "./picture-input.ts";
import { checkModel, outputsByRole, type Role } from "./roles.ts";

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

/** Meaning of a landmark's component. Depth and presence are not read. */
export type PartOfPoint = "x" | "y" | "z" | "score" | "presence";

/** Options of finding landmarks. */
export interface LandmarksOptions {
  /** Default: those that are packed with the model; the 17 of COCO for 17 landmarks. */
  readonly names?: readonly string[] | undefined;
  /** The names of outputs: of the points, or of heatmaps with offsets. Default: by name, else by shape. */
  readonly outputs?: { readonly points?: string; readonly heatmaps?: string; readonly offsets?: string } | undefined;
  /**
   * Components of a point, in order. Default: y, x, score, as MoveNet has them; of two numbers y, x; in the lists of MediaPipe x, y, z, for a
   * body with visibility and presence behind them.
   */
  readonly order?: readonly PartOfPoint[] | undefined;
  /** True if the numbers are shares of the input's size, rather than its pixels. Default: yes; in the lists of MediaPipe no. */
  readonly areShares?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The landmarks of a person as the data set COCO has them, in its order. */
export const personLandmarks: readonly string[] =
  /* @__PURE__ */ "nose,left eye,right eye,left ear,right ear,left shoulder,right shoulder,left elbow,right elbow,left wrist,right wrist,left hip,right hip,left knee,right knee,left ankle,right ankle".split(
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

/** Form of the numbers of a list. */
interface PointForm {
  readonly parts: readonly PartOfPoint[];
  readonly areShares: boolean;
  /** True if scores are the logits of probabilities. */
  readonly areLogits: boolean;
}

const inSpace: PointForm = { parts: ["x", "y", "z"], areShares: false, areLogits: false };
const seenInSpace: PointForm = {
  parts: ["x", "y", "z", "score", "presence"],
  areShares: false,
  areLogits: true,
};

/** The lists of MediaPipe, whose shape does not show how many numbers a point has, by their elements. */
const mediaPipe: ReadonlyMap<number, PointForm> = /* @__PURE__ */ new Map([
  // 21 points of a hand; 468 points of a face, and with those of the eyes 478.
  [21 * 3, inSpace],
  [468 * 3, inSpace],
  [478 * 3, inSpace],
  // 33 points of a body, and with those that follow it from picture to picture 39.
  [33 * 5, seenInSpace],
  [39 * 5, seenInSpace],
]);

/** Form of an output as points; undefined if it cannot be points. `order` counts the numbers of a point where the shape does not. */
function pointForm({ shape }: Pick<TensorInfo, "shape">, order: LandmarksOptions["order"]): PointForm | undefined {
  const numbers = shape.at(-1) ?? 0;
  if (order !== undefined && order.length > numbers) return undefined;
  if (shape.length >= 2 && numbers >= 2 && numbers <= 4) {
    const parts = order ?? (["y", "x", "score"] as const).slice(0, numbers);
    return { parts, areShares: true, areLogits: false };
  }
  if (!isFlat(shape)) return undefined;
  const known = mediaPipe.get(numbers);
  if (order === undefined) return known;
  if (order.length === 0 || numbers < order.length || numbers % order.length !== 0) return undefined;
  return { parts: order, areShares: known === undefined, areLogits: known?.areLogits ?? false };
}

/** True if a shape has one extent that is not 1, and that is the last one. */
function isFlat(shape: readonly number[]): boolean {
  return shape.slice(0, -1).every((extent) => extent === 1);
}

/** True if an output is a list of landmarks by its shape alone: one of MediaPipe, or 2 or 3 numbers for each landmark of a person. */
export function showsLandmarks({ shape }: Pick<TensorInfo, "shape">): boolean {
  const [count, numbers = 0] = shape.slice(-2);
  if (shape.length > 2 && count === personLandmarks.length) return numbers === 2 || numbers === 3;
  return shape.length > 1 && isFlat(shape) && mediaPipe.has(numbers);
}

const isMap: Role["fits"] = ({ shape }) => shape.length === 4 && (shape[1] ?? 0) > 1 && (shape[2] ?? 0) > 1;

const landmarksOptions: OptionNames<LandmarksOptions> = {
  names: true,
  outputs: true,
  order: true,
  areShares: true,
  signal: true,
};

/**
 * The landmarks in a picture of one body, face or hand: a model whose output is a list of points [..., landmarks, 2 to 4 numbers], such as
 * MoveNet, a flat list [1, numbers] of MediaPipe (body, hand, face), or heatmaps [1, rows, columns, landmarks] with offsets [1, rows, columns, 2 * landmarks], such as PoseNet.
 */
export function landmarks(model: Model, source: PictureSource, options: LandmarksOptions = {}): Promise<Landmark[]> {
  return wrapErrors("landmarks", options, () => findLandmarks(model, source, options));
}

async function findLandmarks(model: Model, source: PictureSource, options: LandmarksOptions): Promise<Landmark[]> {
  checkModel("landmarks", model);
  checkOptions("landmarks", options, landmarksOptions);
  checkLabels("landmarks", options.names);
  checkOrder(options.order);
  const { outputs: given = {}, signal } = options;
  const placed = await placePicture("landmarks", model, source, signal);
  const isHeat = given.heatmaps !== undefined || (given.points === undefined && model.outputs.some(isHeatmaps(model)));
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
      fits: (info: TensorInfo) => pointForm(info, options.order) !== undefined,
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

const partsOfPoints: readonly unknown[] = ["x", "y", "z", "score", "presence"] satisfies PartOfPoint[];

/** Refuses an order without places, with a part twice, or with one that is none. */
function checkOrder(order: LandmarksOptions["order"]): void {
  if (order === undefined) return;
  const isOrder =
    Array.isArray(order) &&
    order.every((part) => partsOfPoints.includes(part)) &&
    new Set(order).size === order.length &&
    ["x", "y"].every((part) => order.some((each) => each === part));
  check(
    isOrder,
    "BAD_OPTION",
    () => `landmarks: order: expected a list with x and y, and perhaps z, score and presence, got ${listItems(order)}`,
  );
}

/** True if an output can be heatmaps, or the offsets of some: these have two numbers for each landmark, in as many rows and columns. */
const isHeatmaps =
  (model: Model): Role["fits"] =>
  (info) =>
    isMap(info) && model.outputs.some((other) => isMap(other) && areOffsets(other, info));
const isOffsets =
  (model: Model): Role["fits"] =>
  (info) =>
    isMap(info) && model.outputs.some((other) => isMap(other) && areOffsets(info, other));

function areOffsets({ shape: offsets }: TensorInfo, { shape: heat }: TensorInfo): boolean {
  return offsets.every((extent, axis) => extent === (heat[axis] ?? 0) * (axis === 3 ? 2 : 1));
}

function heatRoles(model: Model, given: { readonly heatmaps?: string; readonly offsets?: string }) {
  return outputsByRole(
    "landmarks",
    model,
    {
      heatmaps: { names: /heat/, fits: isHeatmaps(model) },
      offsets: { names: /offset/, fits: isOffsets(model) },
    },
    given,
  );
}

/** The probability of a logit. */
function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

function namesFor(count: number, names: readonly string[] | undefined): readonly string[] {
  return names ?? (count === personLandmarks.length ? personLandmarks : []);
}

function fromPoints(
  tensor: Tensor,
  { width, height, pointOf }: PlacedPicture,
  options: LandmarksOptions,
  given: readonly string[] | undefined,
): Landmark[] {
  const { data, shape } = tensor;
  const form = pointForm(tensor, options.order);
  if (form === undefined) {
    const what = `landmarks: the output "${tensor.name}" [${shape.join(", ")}] shows no points`;
    throw new NetworkError("WRONG_TASK", `${what}; \`order\` says what the numbers of a point are`);
  }
  const { parts, areLogits } = form;
  const { areShares = form.areShares } = options;
  // A point may have more numbers than there are names for.
  const size = (shape.at(-1) ?? 0) <= 4 ? (shape.at(-1) ?? 1) : parts.length;
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
    const score = part("score", 1);
    return {
      name: names[place] ?? null,
      ...point,
      score: areLogits && parts.includes("score") ? sigmoid(score) : score,
    };
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
  // One column or row has no distance to the next.
  const strideX = columns > 1 ? (placed.width - 1) / (columns - 1) : 0;
  const strideY = rows > 1 ? (placed.height - 1) / (rows - 1) : 0;
  return Array.from({ length: count }, (_, place) => {
    let best = 0;
    for (let cell = 1; cell < rows * columns; cell++) {
      if (elementAt(heat.data, cell * count + place) > elementAt(heat.data, best * count + place)) best = cell;
    }
    const offset = (axis: 0 | 1) => elementAt(offsets.data, best * 2 * count + axis * count + place);
    const y = Math.floor(best / columns) * strideY + offset(0);
    const x = (best % columns) * strideX + offset(1);
    // Heatmaps are logits.
    const score = sigmoid(elementAt(heat.data, best * count + place));
    return { name: names[place] ?? null, ...placed.pointOf(x, y), score };
  });
}
