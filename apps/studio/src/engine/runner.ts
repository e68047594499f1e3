/**
 * Runs of the open model: in this worker, or on devices of the machine. Inputs and outputs are plain values.
 */
import type { DiffReport } from "@nnhal/diff";
import {
  classify,
  detect,
  draw,
  type Explanation,
  type Inputs,
  type InputValue,
  type LoadOptions,
  landmarks,
  load,
  type Model,
  NetworkError,
  type Outputs,
  type Profile,
  personLandmarks,
  personLines,
  picture,
  segment,
  type Tensor,
  type TensorInfo,
} from "@nnhal/network";
import { taskOf } from "@nnhal/network/tensors";
import type { ExtensionDefinition } from "@nnhal/operations";
import { type GivenInputs, readInputs } from "./given-inputs.ts";
import { engineOf, openJudge } from "./judges.ts";
import { portOfMachine } from "./machine-port.ts";
import { createStopwatch, type Phase } from "./phases.ts";
import { summarize, type ValueSummary } from "./tensor-values.ts";

/** Where a model is to run, and how. */
export interface Placement {
  /** Names of devices with commas between them, as `nnhal run --device` takes them. */
  readonly devices: string;
  /** True: devices of the machine, behind the program that serves the page. */
  readonly isOnMachine: boolean;
  readonly signature: string | undefined;
  /** Shapes of inputs by name. */
  readonly inputShapes: Readonly<Record<string, readonly number[]>>;
}

/** A model that is ready to run. */
export interface ModelView {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** Values that it keeps from one run to the next. */
  readonly states: readonly TensorInfo[];
  readonly devices: readonly string[];
  /** Milliseconds that preparing it took. */
  readonly time: number;
  readonly phases: readonly Phase[];
  readonly warnings: readonly string[];
}

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
  /** The picture of the input with the results on it. */
  readonly drawn: { readonly width: number; readonly height: number; readonly data: Uint8ClampedArray } | undefined;
}

/** A prepared model. All functions reject with an Error whose message can be shown. */
export interface Runner {
  readonly view: ModelView;
  run(inputs: GivenInputs): Promise<RunView>;
  resetState(): Promise<void>;
  explain(): Promise<Explanation>;
  profile(inputs: GivenInputs, runs: number): Promise<Profile>;
  diff(against: string, inputs: GivenInputs, onProgress: (done: number, total: number) => void): Promise<DiffReport>;
  close(): Promise<void>;
}

const THRESHOLD = 0.5;
const MOST_CLASSES = 5;
/** Points of the chart of an output. */
const MOST_POINTS = 512;

/** A file to prepare. */
export interface RunnableFile {
  readonly bytes: Uint8Array;
  /** Extensions of its custom operators. */
  readonly extensions: readonly ExtensionDefinition[];
}

/** Prepares a model. */
export async function prepareModel(
  { bytes, extensions }: RunnableFile,
  placement: Placement,
  onStage: (stage: string) => void,
): Promise<Runner> {
  const { inputShapes, signature } = placement;
  const warnings: string[] = [];
  const stopwatch = createStopwatch();
  const options: LoadOptions = {
    devices: placement.devices,
    inputShapes,
    onProgress({ stage }) {
      stopwatch.begin(stage);
      onStage(stage);
    },
    onWarning: (message) => warnings.push(message),
    ...(signature !== undefined && { signature }),
    ...placeOf(placement, extensions),
  };
  let model = await load(bytes, options);
  // A text of any length goes to a network that leaves the length open.
  if (Object.keys(inputShapes).length === 0 && model.inputs.some(isOpenText)) {
    await model.close();
    model = await load(bytes, { ...options, dynamicShapes: true });
  }
  const view: ModelView = {
    inputs: model.inputs,
    outputs: model.outputs,
    states: model.state.infos,
    devices: model.devices,
    ...stopwatch.end(),
    warnings,
  };
  return {
    view,
    run: (given) => runModel(model, given),
    resetState: () => model.state.reset(),
    explain: () => model.explain(),
    profile: async (given, runs) => model.profile({ inputs: await readInputs(model.inputs, given), runs }),
    diff: async (against, given, onProgress) => {
      const inputs = [await readInputs(model.inputs, { ...noiseFor(model.inputs), ...given })];
      if (placement.isOnMachine) return model.diff({ against, inputs, onProgress });
      const judge = await openJudge(against, extensions);
      try {
        return await model.diff({ against: judge === undefined ? against : [judge], inputs, onProgress });
      } finally {
        await judge?.close();
      }
    },
    close: () => model.close(),
  };
}

/** True for tokens of a text for which the file has room for one. */
function isOpenText({ tokenizer, type, shape }: TensorInfo): boolean {
  return tokenizer !== undefined && type !== "string" && (shape.at(-1) ?? 0) <= 1;
}

/** The options with the place where the devices are. A port carries no extensions: the machine has its own. */
function placeOf({ devices, isOnMachine }: Placement, extensions: readonly ExtensionDefinition[]): LoadOptions {
  if (isOnMachine) return { worker: portOfMachine };
  const wanted = engineOf(devices);
  return { extensions, ...(wanted && { engines: [wanted] }) };
}

/** Holds each operation of one file, on the reference, against the exact results of another. Rejects if either cannot run. */
export async function diffFiles(
  one: RunnableFile,
  other: RunnableFile,
  { signature, inputShapes }: Pick<Placement, "signature" | "inputShapes">,
  given: GivenInputs,
  onProgress: (done: number, total: number) => void,
): Promise<DiffReport> {
  const chosen = { inputShapes, ...(signature !== undefined && { signature }) };
  const model = await load(one.bytes, { devices: "reference", extensions: one.extensions, ...chosen });
  try {
    const against = await load(other.bytes, { devices: "reference", extensions: other.extensions });
    try {
      const inputs = [await readInputs(model.inputs, { ...noiseFor(model.inputs), ...given })];
      return await model.diff({ against, inputs, onProgress });
    } finally {
      await against.close();
    }
  } finally {
    await model.close();
  }
}

/** Noise for each input. */
function noiseFor(infos: readonly TensorInfo[]): GivenInputs {
  return Object.fromEntries(infos.map(({ name }) => [name, { kind: "noise", seed: 1 } as const]));
}

/** Runs a model once, and reads what its outputs show. */
async function runModel(model: Model, given: GivenInputs): Promise<RunView> {
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
  const recorded: Model = { ...model, run: timed as Model["run"] };
  const [only] = Object.values(inputs);
  const seenIn = Object.keys(inputs).length === 1 && isPicture(only) ? only : undefined;
  if (seenIn !== undefined) stopwatch.begin("fit the picture");
  const seen = seenIn === undefined ? undefined : await readTask(recorded, seenIn);
  const results = outputs ?? (await timed(inputs));
  const classes = seen === undefined ? await classesOf(model, results) : [];
  const entries = model.outputs.map((info, place) => results[info.name] ?? Object.values(results)[place]);
  const views = {
    outputs: entries.flatMap((tensor) => (tensor === undefined ? [] : [outputView(tensor)])),
    states: Object.values(await model.state.read()).map(outputView),
  };
  return {
    time,
    phases: stopwatch.end().phases,
    ...views,
    found: seen?.found ?? classes,
    task: seen?.task ?? (classes.length > 0 ? "classify" : undefined),
    drawn: seen?.drawn,
  };
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

/** The best classes of outputs that are known; empty if none has a number for each class. */
async function classesOf(model: Model, outputs: Outputs): Promise<RunView["found"]> {
  const known: Model = { ...model, run: (async () => outputs) as Model["run"] };
  const classes = await classify(known, {}, { top: MOST_CLASSES }).catch((error: unknown) => {
    if (error instanceof NetworkError) return [];
    throw error;
  });
  return classes.map(({ index, label, score }) => ({ label: label ?? `class ${index}`, score }));
}

type Seen = Pick<RunView, "found" | "drawn"> & { readonly task: string };
type GivenPicture = Extract<InputValue, { readonly width: number }>;

/** The result of a detector, a segmenter or a network for landmarks, as text and as a picture; undefined for other networks. */
async function readTask(model: Model, given: GivenPicture): Promise<Seen | undefined> {
  const task = taskOf(model);
  if (task === undefined) return undefined;
  const image = await picture(given);
  const show = (drawing: Parameters<typeof draw>[1]) => {
    const { width, height, data } = draw(image, drawing);
    return { width, height, data: withAlpha(data, width * height) };
  };
  if (task === "detect") {
    const boxes = await detect(model, image, { threshold: THRESHOLD });
    return {
      task,
      found: boxes.map(({ label, index, score }) => ({ label: label ?? `class ${index}`, score })),
      drawn: show({ boxes }),
    };
  }
  if (task === "segment") {
    const mask = await segment(model, image);
    const found = mask.areas.map(({ label, index, share }) => ({ label: label ?? `class ${index}`, score: share }));
    return {
      task,
      found,
      drawn: show({ mask: { width: image.width, height: image.height, classes: mask.classes, areas: mask.areas } }),
    };
  }
  const points = await landmarks(model, image);
  const isPerson = points.length === personLandmarks.length;
  const found = points.map(({ name, score }, place) => ({
    label: name ?? `point ${place}`,
    score: score ?? undefined,
  }));
  return { task, found, drawn: show({ points, ...(isPerson && { lines: personLines }) }) };
}

/** Red, green, blue as a canvas takes it. */
function withAlpha(data: Uint8Array | Uint8ClampedArray, pixels: number): Uint8ClampedArray {
  if (data.length === 4 * pixels) return new Uint8ClampedArray(data);
  const rgba = new Uint8ClampedArray(4 * pixels).fill(255);
  for (let at = 0; at < pixels; at++)
    for (let channel = 0; channel < 3; channel++) rgba[4 * at + channel] = data[3 * at + channel] ?? 0;
  return rgba;
}
