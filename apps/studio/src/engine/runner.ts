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
  resample,
  segment,
  sound,
  type Tensor,
  type TensorInfo,
} from "@nnhal/network";
import { isNpy, readNpy, taskOf } from "@nnhal/network/tensors";
import { messageOf } from "../text.ts";
import { portOfMachine } from "./machine-port.ts";
import { SOUND_RATE } from "./sound-rate.ts";
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
  readonly warnings: readonly string[];
}

/** The value of an input. */
export type GivenInput =
  /** A picture, sound or array, by its bytes; a text of numbers, or of strings for such an input. */
  | { readonly kind: "file"; readonly bytes: Uint8Array }
  | { readonly kind: "pixels"; readonly width: number; readonly height: number; readonly data: Uint8ClampedArray }
  /** Samples of sound from -1 to 1, `SOUND_RATE` of them a second. */
  | { readonly kind: "samples"; readonly samples: Float32Array }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "noise"; readonly seed: number }
  | { readonly kind: "zeros" };

/** Values of inputs by name. */
export type GivenInputs = Readonly<Record<string, GivenInput>>;

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
  /** Milliseconds. */
  readonly time: number;
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
  diff(against: string, onProgress: (done: number, total: number) => void): Promise<DiffReport>;
  close(): Promise<void>;
}

/** Engines beside those of @nnhal/network, by the names of their devices: loaded once they are chosen. */
const engines: Readonly<Record<string, () => Promise<unknown>>> = {
  tfjs: async () => (await import("./tfjs-engine.ts")).loadTfjs(),
};

const THRESHOLD = 0.5;
const MOST_CLASSES = 5;
/** Points of the chart of an output. */
const MOST_POINTS = 512;

/** Prepares a model. */
export async function prepareModel(
  bytes: Uint8Array,
  placement: Placement,
  onStage: (stage: string) => void,
): Promise<Runner> {
  const { devices, isOnMachine, signature, inputShapes } = placement;
  const warnings: string[] = [];
  const start = performance.now();
  const options: LoadOptions = {
    devices,
    inputShapes,
    onProgress: ({ stage }) => onStage(stage),
    onWarning: (message) => warnings.push(message),
    ...(signature !== undefined && { signature }),
    ...(isOnMachine ? { worker: portOfMachine } : enginesFor(devices)),
  };
  const model = await load(bytes, options);
  const view: ModelView = {
    inputs: model.inputs,
    outputs: model.outputs,
    states: model.state.infos,
    devices: model.devices,
    time: performance.now() - start,
    warnings,
  };
  return {
    view,
    run: async (given) => runModel(model, await readInputs(model.inputs, given)),
    resetState: () => model.state.reset(),
    explain: () => model.explain(),
    profile: async (given, runs) => model.profile({ inputs: await readInputs(model.inputs, given), runs }),
    diff: (against, onProgress) => model.diff({ against, onProgress }),
    close: () => model.close(),
  };
}

/** The option with the engines of devices. Without it there are those of @nnhal/network. */
function enginesFor(devices: string): Pick<LoadOptions, "engines"> {
  const wanted = devices.split(",").flatMap((name) => engines[name] ?? []);
  return wanted.length === 0 ? {} : { engines: wanted };
}

/** Holds each operation of one file, on the reference, against the exact results of another. Rejects if either cannot run. */
export async function diffFiles(
  one: Uint8Array,
  other: Uint8Array,
  { signature, inputShapes }: Pick<Placement, "signature" | "inputShapes">,
  given: GivenInputs,
  onProgress: (done: number, total: number) => void,
): Promise<DiffReport> {
  const chosen = { inputShapes, ...(signature !== undefined && { signature }) };
  const model = await load(one, { devices: "reference", ...chosen });
  try {
    const against = await load(other, { devices: "reference" });
    try {
      const noise = Object.fromEntries(model.inputs.map(({ name }) => [name, { kind: "noise", seed: 1 } as const]));
      return await model.diff({
        against,
        inputs: [await readInputs(model.inputs, { ...noise, ...given })],
        onProgress,
      });
    } finally {
      await against.close();
    }
  } finally {
    await model.close();
  }
}

/** The values of all inputs by name. Rejects with the name of one that cannot be read. */
async function readInputs(infos: readonly TensorInfo[], given: GivenInputs): Promise<Record<string, InputValue>> {
  const values = await Promise.all(
    infos.map(async (info) => {
      const input = given[info.name] ?? { kind: "zeros" };
      try {
        return [info.name, await readInput(info, input)] as const;
      } catch (error) {
        throw new Error(`the input "${info.name}": ${messageOf(error)}`, { cause: error });
      }
    }),
  );
  return Object.fromEntries(values);
}

async function readInput(info: TensorInfo, given: GivenInput): Promise<InputValue> {
  const count = info.shape.reduce((product, extent) => product * Math.max(1, extent), 1);
  const shape = info.shape.map((extent) => Math.max(1, extent));
  switch (given.kind) {
    case "pixels":
      return picture({ width: given.width, height: given.height, data: given.data });
    case "text":
      return textValue(info, given.text);
    case "samples":
      return pad(given.samples, count);
    case "file":
      return fileValue(info, given.bytes, count);
    case "zeros":
      return info.type === "string"
        ? { data: new Array<string>(count).fill(""), shape }
        : { data: new Float64Array(count), shape };
    case "noise": {
      const next = randomNumbers(given.seed);
      const [least, greatest] = info.quantization === undefined && info.type === "float32" ? [-1, 1] : rangeOf(info);
      return { data: Float64Array.from({ length: count }, () => least + (greatest - least) * next()), shape };
    }
  }
}

/** Real numbers that an input can hold. */
function rangeOf({
  type,
  quantization: { scale, zeroPoint } = { scale: 1, zeroPoint: 0 },
}: TensorInfo): readonly [number, number] {
  const [low, high] = { uint8: [0, 255], int8: [-128, 127], int16: [-32768, 32767], bool: [0, 1] }[type as string] ?? [
    0, 1,
  ];
  return [((low ?? 0) - zeroPoint) * scale, ((high ?? 1) - zeroPoint) * scale];
}

/** Numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function textValue(info: TensorInfo, text: string): InputValue {
  if (info.type === "string") return text;
  const numbers = text
    .split(/[\s,;[\]]+/)
    .filter((word) => word !== "")
    .map((word) => ({ word, value: Number(word) }));
  const wrong = numbers.find(({ word, value }) => Number.isNaN(value) && !/^nan$/i.test(word));
  if (wrong !== undefined) throw new Error(`expected numbers, got ${JSON.stringify(wrong.word.slice(0, 40))}`);
  return numbers.map(({ value }) => value);
}

/** So many samples: the first, and silence after them. */
function pad(samples: ArrayLike<number>, count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, index) => samples[index] ?? 0);
}

async function fileValue(info: TensorInfo, bytes: Uint8Array, count: number): Promise<InputValue> {
  if (isNpy(bytes)) {
    const array = readNpy(bytes);
    return { data: array.values().map(Number), shape: array.shape };
  }
  const start = String.fromCharCode(...bytes.subarray(0, 4));
  if (start === "RIFF") {
    const heard = await sound(bytes);
    return pad(resample(heard, SOUND_RATE).samples, count);
  }
  const isText =
    info.type === "string" || /^[\s[\]\d.,;+\-eEnaif]+$/.test(new TextDecoder().decode(bytes.subarray(0, 200)));
  return isText ? textValue(info, new TextDecoder().decode(bytes)) : picture(bytes);
}

/** Runs a model once, and reads what its outputs show. */
async function runModel(model: Model, inputs: Record<string, InputValue>): Promise<RunView> {
  let outputs: Outputs = {} as Outputs;
  let time = 0;
  // Tasks run the model by themselves: what it returns to them is what is shown.
  const timed = async (given: Inputs) => {
    const start = performance.now();
    outputs = await model.run(given);
    time = performance.now() - start;
    return outputs;
  };
  const recorded: Model = { ...model, run: timed as Model["run"] };
  const [only] = Object.values(inputs);
  const given = Object.keys(inputs).length === 1 && isPicture(only) ? only : undefined;
  const seen = given === undefined ? undefined : await readTask(recorded, given);
  if (time === 0) await timed(inputs);
  const classes = seen === undefined ? await classesOf(model, outputs) : [];
  const entries = model.outputs.map((info, place) => outputs[info.name] ?? Object.values(outputs)[place]);
  return {
    time,
    outputs: entries.flatMap((tensor) => (tensor === undefined ? [] : [outputView(tensor)])),
    states: Object.values(await model.state.read()).map(outputView),
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
