/** The suite of accuracy: a network on a device and on the reference, over a folder of inputs whose answers are known. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { decodeTensorData } from "@nnhal/backend";
import { byteLength, elementAt, elementCount } from "@nnhal/operations";
import type { ImportedModel, TensorDescription } from "@nnhal/tflite";
import type { Device } from "@nnhal/types";
import type { OnProgress } from "../isolated.ts";
import { modelRunner } from "../model-runner.ts";
import { readNetwork } from "../network.ts";
import type { CaseResult } from "../result.ts";
import { reasonAgainst } from "../support.ts";
import { type AccuracyData, readAccuracyData } from "./data.ts";
import {
  type Boxed,
  errorRate,
  type Found,
  greatestOf,
  meanAveragePrecision,
  meanIntersectionOverUnion,
  topAccuracy,
} from "./metrics.ts";

/** Options of runAccuracy. */
export interface AccuracyOptions {
  /** The path of a .tflite file. */
  readonly network: string;
  /** The folder with `answers.json`. */
  readonly data: string;
  /** Measures the loss. */
  readonly reference: Device;
  /**
   * The greatest loss against the reference, and below the metrics that the data set expects, in fractions of 1. Default 0.05,
   * as in MLTS.
   */
  readonly mostLoss?: number | undefined;
  /** Called with the part of the inputs that is done, on both devices together: up to 1. */
  readonly onProgress?: OnProgress | undefined;
}

/** Elements of an output as numbers, with its shape. */
interface Output {
  readonly values: readonly number[];
  readonly shape: readonly number[];
}

/** Yields a case for each metric of the data set's task. Throws an Error if the network or the data cannot be read. */
export async function* runAccuracy(device: Device, options: AccuracyOptions): AsyncGenerator<CaseResult> {
  const { network, reference, mostLoss = 0.05, onProgress } = options;
  const data = readAccuracyData(options.data);
  const imported = readNetwork(network);
  checkFiles(imported, data);
  const support = await device.getSupportedOperations(imported.model);
  const reason = reasonAgainst(imported.model, support);
  if (reason !== undefined) {
    for (const name of metricNames[data.task])
      yield { name: `accuracy/${name}`, subject: data.task, verdict: "unsupported", reason };
    return;
  }
  const actual = await measure(imported, device, data, (part) => onProgress?.(part / 2, device.name));
  const wanted = await measure(imported, reference, data, (part) => onProgress?.((1 + part) / 2, reference.name));
  for (const name of metricNames[data.task]) {
    yield judgeMetric(
      name,
      elementAt(actual, metricNames[data.task].indexOf(name)),
      elementAt(wanted, metricNames[data.task].indexOf(name)),
      data,
      mostLoss,
    );
  }
}

/** Throws an Error if a file of the data set is missing, or is not as long as the network's input: before anything has run. */
function checkFiles({ inputs }: ImportedModel, { folder, inputs: given, task }: AccuracyData): void {
  const sizeOf = (file: string, place: string) => {
    try {
      return statSync(join(folder, file)).size;
    } catch (error) {
      throw new Error(`${place}: cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  };
  for (const [index, { files, answer }] of given.entries()) {
    const place = `${folder}: inputs[${index}]`;
    if (files.length !== inputs.length) {
      throw new Error(`${place} has ${files.length} files, and the network ${inputs.length} inputs`);
    }
    for (const [number, { type, shape }] of inputs.entries()) {
      const file = elementAt(files, number);
      const [actual, expected] = [sizeOf(file, place), byteLength(type, elementCount(shape))];
      if (actual === expected) continue;
      const wanted = `input ${number} of the network, ${type} [${shape.join(", ")}], has ${expected}`;
      throw new Error(`${place}: ${file} has ${actual} bytes, and ${wanted}`);
    }
    if (task === "segmentation") sizeOf(String(answer), place);
  }
}

const metricNames: Readonly<Record<AccuracyData["task"], readonly string[]>> = {
  classification: ["top-1", "top-5"],
  segmentation: ["mIoU"],
  detection: ["mAP"],
  sequence: ["error-rate"],
};

function judgeMetric(
  name: string,
  actual: number,
  reference: number,
  data: AccuracyData,
  mostLoss: number,
): CaseResult {
  const percent = (part: number) => `${(part * 100).toFixed(2)} %`;
  // Of an error less is better.
  const sign = name === "error-rate" ? -1 : 1;
  const loss = sign * (reference - actual);
  const expected = data.expected[name];
  const measured = `${percent(actual)} of ${data.inputs.length} inputs, reference ${percent(reference)}, loss ${percent(loss)}`;
  const start = { name: `accuracy/${name}`, subject: data.task, measured };
  // Written so that NaN fails.
  if (!(loss <= mostLoss)) {
    return {
      ...start,
      verdict: "failed",
      reason: `the loss against the reference: expected at most ${percent(mostLoss)}, got ${percent(loss)}`,
    };
  }
  if (expected !== undefined && !(sign * (expected - actual) <= mostLoss)) {
    return {
      ...start,
      verdict: "failed",
      reason: `expected ${percent(expected)} within ${percent(mostLoss)}, got ${percent(actual)}`,
    };
  }
  return { ...start, verdict: "passed" };
}

/** The metrics of a device, in the order of their names. */
async function measure(
  { model, outputs }: ImportedModel,
  device: Device,
  data: AccuracyData,
  onDone: (part: number) => void,
): Promise<number[]> {
  const run = await modelRunner(model, [device]);
  const all: { readonly outputs: readonly Output[]; readonly answer: AccuracyData["inputs"][number]["answer"] }[] = [];
  for (const [index, { files, answer }] of data.inputs.entries()) {
    const bytes = files.map((file) => new Uint8Array(readFileSync(join(data.folder, file))));
    const results = await run(bytes);
    all.push({ answer, outputs: results.map((result, place) => outputOf(elementAt(outputs, place), result)) });
    onDone((index + 1) / data.inputs.length);
  }
  const first = ({ outputs: [output] }: (typeof all)[number]): Output => {
    if (output === undefined) throw new Error("the network has no output");
    return output;
  };
  switch (data.task) {
    case "classification": {
      const scored = all.map((one) => ({ scores: first(one).values, answer: Number(one.answer) }));
      return [topAccuracy(scored, 1), topAccuracy(scored, 5)];
    }
    case "segmentation":
      return [
        meanIntersectionOverUnion(
          all.map((one) => {
            const answer = new Uint8Array(readFileSync(join(data.folder, String(one.answer))));
            return { answer, classes: classesOf(first(one), answer.length) };
          }),
        ),
      ];
    case "detection":
      return [
        meanAveragePrecision(all.map((one) => ({ found: readDetections(one.outputs), answer: boxesOf(one.answer) }))),
      ];
    default:
      return [
        errorRate(
          all.map((one) => ({
            found: greatestOf(first(one).values, first(one).shape.at(-1) ?? 1),
            answer: symbolsOf(one.answer),
          })),
        ),
      ];
  }
}

function boxesOf(answer: unknown): readonly Boxed[] {
  // `readAccuracyData` has checked it for the task.
  return answer as readonly Boxed[];
}

function symbolsOf(answer: unknown): readonly number[] {
  return answer as readonly number[];
}

/** The real values of an output. */
function outputOf({ type, shape, scale, zeroPoint }: TensorDescription, bytes: Uint8Array): Output {
  const elements = Array.from(decodeTensorData(type, bytes.slice(), elementCount(shape)), Number);
  return { shape, values: scale === 0 ? elements : elements.map((value) => scale * (value - zeroPoint)) };
}

/** A class for each element: the output itself, or the greatest of its scores. */
function classesOf({ values, shape }: Output, count: number): readonly number[] {
  return values.length === count ? values : greatestOf(values, shape.at(-1) ?? 1);
}

/** Boxes, classes, scores and their number, in the order of TFLite's detection networks. */
function readDetections([boxes, classes, scores, number]: readonly Output[]): Found[] {
  if (!boxes || !classes || !scores) throw new Error("a detection network has outputs for boxes, classes and scores");
  const count = Math.min(scores.values.length, number?.values[0] ?? scores.values.length);
  return Array.from({ length: count }, (_, index) => {
    const at = (side: number) => boxes.values[index * 4 + side] ?? 0;
    return { box: [at(0), at(1), at(2), at(3)], class: classes.values[index] ?? -1, score: scores.values[index] ?? 0 };
  });
}
