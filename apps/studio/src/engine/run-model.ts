/**
 * A run of a model, and what its outputs show: values, the best classes, or what a task finds in a picture.
 */
import {
  classify,
  type Drawing,
  detect,
  draw,
  type Inputs,
  type InputValue,
  landmarks,
  type Model,
  NetworkError,
  type Outputs,
  type Picture,
  type PictureSource,
  personLandmarks,
  personLines,
  picture,
  segment,
  type Tensor,
} from "@nnhal/network";
import { describeMisfit, type Labelled, type Labels, type Task, taskOf } from "@nnhal/network/tensors";
import { type GivenInputs, readInputs } from "./given-inputs.ts";
import { createStopwatch, type Phase } from "./phases.ts";
import { summarize, type ValueSummary } from "./tensor-values.ts";

/** An output of a run. */
export interface OutputView {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly summary: ValueSummary;
  /** The values in their order, as a chart has room for them; of several that share a point the one that is furthest from 0. */
  readonly points: readonly number[];
  /** Values of a tensor of strings. */
  readonly strings: readonly string[] | undefined;
}

/** Result of a run. */
export interface RunView {
  /** Milliseconds that the network took. */
  readonly time: number;
  /** Phases of the worker; one of them is the run of the network. */
  readonly phases: readonly Phase[];
  readonly outputs: readonly OutputView[];
  /** Values that the model keeps for the next run. */
  readonly states: readonly OutputView[];
  /** The best classes, or what was found in the picture. */
  readonly found: readonly { readonly label: string; readonly score: number | undefined }[];
  /** Name of the task whose results `found` has; undefined: the outputs are of none. */
  readonly task: string | undefined;
  /** The reason why labels that were given do not fit; undefined: they do, or there are none. */
  readonly misfit: string | undefined;
  /** The picture of the input with the results on it. */
  readonly drawn: { readonly width: number; readonly height: number; readonly data: Uint8ClampedArray } | undefined;
}

const THRESHOLD = 0.5;
const MOST_CLASSES = 5;
/** Points of the chart of an output. */
const MOST_POINTS = 512;

/** A run that has ended. */
export interface EndedRun {
  readonly view: RunView;
  /** The same results with other labels; undefined: those of the file. */
  readWith(labels: Labels | undefined): Promise<RunView>;
}

/** Runs a model once, and reads what its outputs show. `labels`: default those of the file. */
export async function runModel(model: Model, given: GivenInputs, labels?: Labels): Promise<EndedRun> {
  const stopwatch = createStopwatch();
  stopwatch.begin("read the inputs");
  const inputs = await readInputs(model.inputs, given);
  let outputs: Outputs | undefined;
  let time = 0;
  // Tasks run the model by themselves: what it returns to them is what is shown.
  const timed = async (values: Inputs) => {
    stopwatch.begin("run the network");
    const start = performance.now();
    outputs = await model.run(values);
    time = performance.now() - start;
    stopwatch.begin("read the outputs");
    return outputs;
  };
  const [only] = Object.values(inputs);
  const seenIn = Object.keys(inputs).length === 1 && isPicture(only) ? only : undefined;
  if (seenIn !== undefined) stopwatch.begin("fit the picture");
  const seen = await readTask(withRun(model, timed), seenIn, labels);
  const results = outputs ?? (await timed(inputs));
  const meaning = seen ?? (await classesOf(model, results, labels));
  const entries = model.outputs.map((info, place) => results[info.name] ?? Object.values(results)[place]);
  const values = {
    outputs: entries.flatMap((tensor) => (tensor === undefined ? [] : [outputView(tensor)])),
    states: Object.values(await model.state.read()).map(outputView),
  };
  const view = { time, phases: stopwatch.end().phases, ...values, ...meaning };
  return {
    view,
    async readWith(others) {
      const again = await readTask(
        withRun(model, async () => results),
        seenIn,
        others,
      );
      return { ...view, ...(again ?? (await classesOf(model, results, others))) };
    },
  };
}

function withRun(model: Model, run: (values: Inputs) => Promise<Outputs>): Model {
  return { ...model, run: run as Model["run"] };
}

function outputView({ name, type, shape, data, strings }: Tensor): OutputView {
  const numbers = strings === undefined ? data : [];
  return { name, type, shape, summary: summarize(numbers), points: pointsOf(numbers), strings };
}

/** At most `MOST_POINTS` of the values, each the furthest from 0 of its part. */
function pointsOf(values: ArrayLike<number>): number[] {
  const each = Math.ceil(values.length / MOST_POINTS);
  return Array.from({ length: Math.ceil(values.length / Math.max(1, each)) }, (_, point) => {
    let furthest = 0;
    for (let at = point * each; at < Math.min(values.length, (point + 1) * each); at++) {
      const value = values[at] ?? 0;
      if (Math.abs(value) > Math.abs(furthest)) furthest = value;
    }
    return furthest;
  });
}

function isPicture(value: InputValue | undefined): value is Extract<InputValue, { readonly width: number }> {
  return typeof value === "object" && value !== null && "width" in value;
}

/** The meaning of outputs. */
type Meaning = Pick<RunView, "found" | "task" | "drawn" | "misfit">;
type Seen = Omit<Meaning, "misfit"> & { readonly labelled: Labelled };

function withMisfit({ labelled, ...seen }: Seen, labels: Labels | undefined): Meaning {
  return { ...seen, misfit: labels && describeMisfit(labels, labelled) };
}

/** The best classes of outputs that are known; empty if none has a number for each class. */
async function classesOf(model: Model, outputs: Outputs, labels: Labels | undefined): Promise<Meaning> {
  // Labels are held against all classes.
  const top = labels === undefined ? MOST_CLASSES : Number.MAX_SAFE_INTEGER;
  const known = withRun(model, async () => outputs);
  const classes = await classify(known, {}, { top, labels: labels?.names }).catch((error: unknown) => {
    if (error instanceof NetworkError) return [];
    throw error;
  });
  const found = classes
    .slice(0, MOST_CLASSES)
    .map(({ index, label, score }) => ({ label: nameOf(label, index), score }));
  const count = classes.length > 0 ? classes.length : undefined;
  const task = count === undefined ? undefined : "classify";
  return withMisfit({ found, task, drawn: undefined, labelled: { classes: count } }, labels);
}

/** The name of a class. A line of a file of labels may be empty. */
function nameOf(label: string | null, index: number): string {
  return label === null || label === "" ? `class ${index}` : label;
}

/** The result of a detector, a segmenter or a network for landmarks, as text and as a picture; undefined for other networks and inputs. */
async function readTask(
  model: Model,
  given: PictureSource | undefined,
  labels: Labels | undefined,
): Promise<Meaning | undefined> {
  const task = taskOf(model);
  if (task === undefined || given === undefined) return undefined;
  try {
    return withMisfit(await readers[task](model, await picture(given), labels?.names), labels);
  } catch (error) {
    // The outputs only looked like those of the task.
    if (error instanceof NetworkError && error.code === "WRONG_TASK") return undefined;
    throw error;
  }
}

type Reader = (model: Model, image: Picture, names: readonly string[] | undefined) => Promise<Seen>;

const readers: Readonly<Record<Task, Reader>> = {
  async detect(model, image, labels) {
    const boxes = await detect(model, image, { threshold: THRESHOLD, labels });
    const found = boxes.map(({ label, index, score }) => ({ label: nameOf(label, index), score }));
    return { task: "detect", found, drawn: drawOn(image, { boxes }), labelled: { indexes: indexesOf(boxes) } };
  },
  async segment(model, image, labels) {
    const { areas, classes } = await segment(model, image, { labels });
    const found = areas.map(({ label, index, share }) => ({ label: nameOf(label, index), score: share }));
    const mask = { width: image.width, height: image.height, classes, areas };
    return { task: "segment", found, drawn: drawOn(image, { mask }), labelled: { indexes: indexesOf(areas) } };
  },
  async landmarks(model, image, names) {
    const points = await landmarks(model, image, { names });
    const lines = points.length === personLandmarks.length ? personLines : [];
    const found = points.map(({ name, score }, place) => ({
      label: name || `point ${place}`,
      score: score ?? undefined,
    }));
    return {
      task: "landmarks",
      found,
      drawn: drawOn(image, { points, lines }),
      labelled: { landmarks: points.length },
    };
  },
};

function indexesOf(found: readonly { readonly index: number }[]): readonly number[] {
  return found.map(({ index }) => index);
}

function drawOn(image: Picture, drawing: Drawing): RunView["drawn"] {
  const { width, height, data } = draw(image, drawing);
  return { width, height, data: withAlpha(data, width * height) };
}

/** Red, green, blue as a canvas takes it. */
function withAlpha(data: Uint8Array | Uint8ClampedArray, pixels: number): Uint8ClampedArray {
  if (data.length === 4 * pixels) return new Uint8ClampedArray(data);
  const rgba = new Uint8ClampedArray(4 * pixels).fill(255);
  for (let at = 0; at < pixels; at++)
    for (let channel = 0; channel < 3; channel++) rgba[4 * at + channel] = data[3 * at + channel] ?? 0;
  return rgba;
}
