/**
 * Results of a run: the best classes, or what a detector, segmenter or pose network sees in the picture. The task follows from the model's
 * outputs. Nothing is computed again: the tasks of the library read the outputs that there are.
 */
import {
  type Drawing,
  detect,
  draw,
  encodePng,
  landmarks,
  type Model,
  NetworkError,
  personLandmarks,
  personLines,
  segment,
} from "@nnhal/network";
import { describeKnown, type KnownModel } from "@nnhal/network/session";
import {
  describeMisfit,
  drawableTaskOf,
  inputSizeOf,
  type Labelled,
  type Labels,
  maskOf,
  type Picture,
  type ScoredClass,
  type Task,
  taskOf,
} from "@nnhal/network/tensors";
import { failure, usageError } from "../failure.ts";
import { bestClasses } from "../model/classes.ts";
import type { OutputValue } from "../model/execute.ts";
import type { LoadedModel } from "../model/load.ts";
import { type GivenTask, isSeen } from "../task-names.ts";
import { oneLine, plain, shapeText } from "../text.ts";
import type { Seen } from "./format.ts";

/** Things with a lower score are not shown by default. */
export const THRESHOLD = 0.5;

/** Options for reading outputs. */
export interface FindOptions {
  /** Default: by the outputs of the model. */
  readonly task?: GivenTask | undefined;
  /** Default: 0.5. */
  readonly threshold?: number | undefined;
  /** The number of classes. */
  readonly top: number;
  /** Labels of the user. Default: those packed with the model. */
  readonly labels: Labels | undefined;
  /** True if it is to be drawn: then the task is what the outputs resemble most. */
  readonly isDrawn?: boolean;
  readonly note: (message: string) => void;
}

/** Results of a run. */
export interface Found {
  /** Empty if it was something else. */
  readonly top: readonly ScoredClass[];
  readonly seen?: Seen;
  /** Shapes of the result, for `drawn`. */
  readonly drawing?: Drawing;
}

/** Reads the outputs of runs of one model. */
export interface Finder {
  /** `picture`: that of the input, if it is one. Else places are in pixels of the input. Rejects with a failure if the task cannot be read. */
  find(outputs: readonly OutputValue[], picture: Picture | undefined): Promise<Found>;
}

/** A finder for a model. */
export function createFinder(model: LoadedModel, options: FindOptions): Finder {
  const { task: given, isDrawn = false, note } = options;
  let known: Promise<KnownModel | undefined> | undefined;
  // Of runs of one model; undefined: not determined yet.
  let task: GivenTask | undefined = given;
  const classesOf = (outputs: readonly OutputValue[]): Found => ({ top: bestClasses(outputs, { ...options, model }) });
  return {
    async find(outputs, picture) {
      if (task === "values") return { top: [] };
      if (task === "classify") return classesOf(outputs);
      known ??= describeKnown(model, model, note).catch((error: unknown) => {
        // Its types have no arrays, so no task reads them.
        if (error instanceof NetworkError && given === undefined && !isDrawn) return undefined;
        throw error;
      });
      const whole = (await known)?.(outputs.map(({ info, bytes }) => ({ bytes, shape: info.shape })));
      const tried = task ?? (whole && (isDrawn ? drawableTaskOf(whole) : taskOf(whole)));
      if (whole !== undefined && tried !== undefined && isSeen(tried)) {
        const found = await read(whole, tried, picture, options, given !== undefined);
        if (found !== undefined) {
          task = tried;
          return found;
        }
      }
      if (isDrawn) throw failure(unclear(whole));
      task = "classify";
      return classesOf(outputs);
    },
  };
}

/** Throws a usage error for a task of which nothing can be drawn. */
export function checkDrawable(task: GivenTask | undefined): void {
  if (task === undefined || isSeen(task)) return;
  throw usageError(`--draw draws what --task detect, segment or landmarks sees; ${task} sees nothing in the picture`);
}

/** The picture with what was seen in it, as PNG. */
export function drawFound(picture: Picture, { drawing = {} }: Found): Promise<Uint8Array> {
  return encodePng(draw(picture, drawing));
}

/** Reads a task. Undefined if the outputs are others than it has; a failure if the user named the task. */
async function read(
  model: Model,
  task: Task,
  picture: Picture | undefined,
  { labels, threshold = THRESHOLD, note, isDrawn }: FindOptions,
  isGiven: boolean,
): Promise<Found | undefined> {
  try {
    const found = await readers[task](model, picture ?? blankFor(model), labels?.names, threshold);
    const misfit = labels && describeMisfit(labels, labelledIn(found.seen));
    if (misfit !== undefined) note(misfit);
    return { top: [], ...found };
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    if (error.code === "WRONG_TASK" && !isGiven && !isDrawn) return undefined;
    const what = isDrawn ? "nothing can be drawn" : "the outputs do not fit --task";
    throw failure(`${what}: ${oneLine(error.message)}`, error);
  }
}

interface Reading {
  readonly seen: Seen;
  readonly drawing: Drawing;
}

type Read = (
  model: Model,
  picture: Picture,
  labels: readonly string[] | undefined,
  threshold: number,
) => Promise<Reading>;

const readers: Readonly<Record<Task, Read>> = {
  async detect(model, picture, labels, threshold) {
    const detections = await detect(model, picture, { labels, threshold });
    return { seen: { task: "detect", threshold, detections }, drawing: { boxes: detections } };
  },
  async segment(model, picture, labels) {
    const mask = await segment(model, picture, { labels, output: maskOf(model)?.name });
    return { seen: { task: "segment", areas: mask.areas }, drawing: { mask } };
  },
  async landmarks(model, picture, names) {
    const points = await landmarks(model, picture, { names });
    const lines = points.length === personLandmarks.length ? personLines : [];
    return { seen: { task: "landmarks", landmarks: points }, drawing: { points, lines } };
  },
};

/** A picture of the input's size, for inputs that are none. */
function blankFor(model: Model): Picture {
  const { width, height } = inputSizeOf(model) ?? { width: 1, height: 1 };
  return { width, height, data: new Uint8Array(3 * width * height) };
}

/** The part of a result that labels name. */
function labelledIn(seen: Seen): Labelled {
  if (seen.task === "landmarks") return { landmarks: seen.landmarks.length };
  return { indexes: (seen.task === "detect" ? seen.detections : seen.areas).map(({ index }) => index) };
}

function unclear(model: Model | undefined): string {
  const outputs = model?.outputs ?? [];
  const list = outputs.map(({ name, type, shape }) => `"${plain(name)}" (${type} ${shapeText(shape)})`).join(", ");
  return `nothing can be drawn: the outputs ${list} do not show whether it is a detector, segmenter or pose network; --task says it`;
}
