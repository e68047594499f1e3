/**
 * `nnhal run --draw FILE`: what a detector, segmenter or pose network sees, drawn onto the picture that it was given.
 */
import {
  type Detection,
  type Drawing,
  detect,
  draw,
  encodePng,
  type Landmark,
  landmarks,
  load,
  type Model,
  NetworkError,
  type PictureLike,
  personLandmarks,
  personLines,
  type Segmentation,
  segment,
  showsLandmarks,
} from "@nnhal/network";
import type { Normalisation, Picture } from "@nnhal/network/tensors";
import type { ExtensionDefinition } from "@nnhal/operations";
import type { ImportOptions } from "@nnhal/tflite";
import type { DeviceSelection } from "./devices.ts";
import { failure, usageError } from "./failure.ts";
import type { LoadedModel } from "./model/load.ts";
import { columns, oneLine, plain, shapeText } from "./text.ts";

/** What a network sees, as `--json` prints it. Places are in pixels of the picture. */
export type Seen =
  | { readonly task: "detect"; readonly detections: readonly Detection[] }
  | { readonly task: "segment"; readonly areas: Segmentation["areas"] }
  | { readonly task: "landmarks"; readonly landmarks: readonly Landmark[] };

/** What was seen, and the file of the picture with it. */
export interface Drawn {
  readonly seen: Seen;
  /** PNG. */
  readonly file: Uint8Array;
}

/** What a network does. */
export type Task = Seen["task"];

/** How to see. */
export interface SeeOptions extends Pick<ImportOptions, "signature" | "inputShapes"> {
  /** Default: by the outputs of the network. */
  readonly task?: Task | undefined;
  readonly normalisation?: Normalisation | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly extensions: readonly ExtensionDefinition[];
}

/** Draws what a network sees in pictures. Its methods reject with a failure if the network cannot run. */
export interface Drawer {
  draw(picture: Picture): Promise<Drawn>;
  close(): Promise<void>;
}

/** Rejects with a failure if the network is none of those, or cannot run. */
export async function openDrawer(
  { bytes }: LoadedModel,
  { devices }: DeviceSelection,
  { task, normalisation, labels, extensions, ...entry }: SeeOptions,
): Promise<Drawer> {
  const model = await drawing(() => load(bytes, { devices, extensions, ...entry }));
  try {
    const see = tasks[task ?? taskOf(model)];
    return {
      draw: (picture) =>
        drawing(async () => {
          const use = normalisation === undefined ? picture.use : { ...picture.use, ...normalisation };
          const { seen, drawing: parts } = await see(model, { ...picture, use }, labels);
          return { seen, file: await encodePng(draw(picture, parts)) };
        }),
      close: () => model.close(),
    };
  } catch (error) {
    await model.close();
    throw error;
  }
}

async function drawing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    throw failure(`nothing can be drawn: ${oneLine(error.message)}`, error);
  }
}

type See = (model: Model, picture: PictureLike, labels?: readonly string[]) => Promise<SeenAndDrawing>;

interface SeenAndDrawing {
  readonly seen: Seen;
  readonly drawing: Drawing;
}

const seeThings: See = async (model, picture, labels) => {
  const detections = await detect(model, picture, { labels });
  return { seen: { task: "detect", detections }, drawing: { boxes: detections } };
};

const seeAreas: See = async (model, picture, labels) => {
  const { areas, ...mask } = await segment(model, picture, { labels });
  return { seen: { task: "segment", areas }, drawing: { mask } };
};

const seeLandmarks: See = async (model, picture, names) => {
  const points = await landmarks(model, picture, { names });
  const lines = points.length === personLandmarks.length ? personLines : [];
  return { seen: { task: "landmarks", landmarks: points }, drawing: { points, lines } };
};

const tasks: Readonly<Record<Task, See>> = { detect: seeThings, segment: seeAreas, landmarks: seeLandmarks };

/** What a picture is at least wide and high. */
const LEAST_EXTENT = 8;

/** The task of a network by its outputs. Throws a failure if they do not show it. */
function taskOf({ outputs }: Model): Task {
  const has = (fits: (shape: readonly number[], names: string) => boolean) =>
    outputs.some(({ shape, name, otherNames }) => fits(shape, [name, ...otherNames].join(" ").toLowerCase()));
  if (outputs.length >= 3 && has((shape) => shape.length === 3 && shape.at(-1) === 4)) return "detect";
  if (has((shape, names) => shape.length > 1 && /keypoint|landmark|pose|heatmap/.test(names))) return "landmarks";
  if (outputs.some(showsLandmarks)) return "landmarks";
  if (has(([, rows = 0, columns = 0]) => rows >= LEAST_EXTENT && columns >= LEAST_EXTENT)) return "segment";
  const list = outputs.map(({ name, type, shape }) => `"${plain(name)}" (${type} ${shapeText(shape)})`).join(", ");
  const what = `the outputs ${list} do not show whether it is a detector, segmenter or pose network`;
  throw failure(`nothing can be drawn: ${what}; --task says it`);
}

/** Throws a usage error for a name that is not that of a PNG file. */
export function checkDrawingName(file: string): void {
  if (!/\.png$/i.test(file)) throw usageError(`the name ${file} does not end in .png, the only format of drawings`);
}

const shownParts = 20;

/** What was seen, as a table. */
export function formatSeen(seen: Seen): string[] {
  const rows = rowsOf(seen);
  const rest = rows.length - shownParts;
  return [...columns(rows.slice(0, shownParts)), ...(rest > 0 ? [`and ${rest} more`] : [])];
}

function rowsOf(seen: Seen): string[][] {
  const named = ({ index, label }: { readonly index: number; readonly label: string | null }) =>
    plain(label ?? `class ${index}`);
  const place = (x: number, y: number) => `${Math.round(x)}, ${Math.round(y)}`;
  switch (seen.task) {
    case "detect":
      if (seen.detections.length === 0) return [["nothing with a score of 0.5 or more"]];
      return seen.detections.map(({ box: { left, top, right, bottom }, score, ...one }) => [
        named(one),
        score.toFixed(4),
        `from ${place(left, top)} to ${place(right, bottom)}`,
      ]);
    case "segment":
      return seen.areas.map(({ share, ...area }) => [named(area), `${(100 * share).toFixed(1).padStart(5)} %`]);
    case "landmarks":
      return seen.landmarks.map(({ name, x, y, score }, index) => [
        plain(name ?? `landmark ${index + 1}`),
        score.toFixed(4),
        `at ${place(x, y)}`,
      ]);
  }
}
