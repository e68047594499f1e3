/**
 * Benchmarks one network: reference outputs, the contest, and the report of both.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ImportOptions } from "@nnhal/tflite";
import type { ModelCommandContext } from "../context.ts";
import { judgeDevice } from "../devices.ts";
import { messageOf } from "../failure.ts";
import { readUserFile } from "../files.ts";
import { blockedFailure } from "../model/blocked.ts";
import { expectElements, prepareInputs } from "../model/inputs.ts";
import { inspectFile, type LoadedModel, modelOfFile } from "../model/load.ts";
import type { Hybrid, InputShapes } from "../option-values.ts";
import { oneLine } from "../text.ts";
import type { Peak } from "./calibrate.ts";
import { createChildStation } from "./child-station.ts";
import { contest, type Entry, inTime, limitOf, type Measured, usualRounds, workOf } from "./contest.ts";
import { type ContestantId, type Task, titleOf } from "./contestant.ts";
import { type OnnxForm, onnxFormOf } from "./onnx-form.ts";
import { openContestant } from "./open.ts";
import { type ModelReport, modelReport, type PrepareReport } from "./report.ts";
import { createStation, type Prepared, type Station } from "./station.ts";

/** Options of benchmarking a network. */
export interface BenchmarkSettings {
  readonly contestants: readonly ContestantId[];
  readonly threads: number;
  readonly hybrid: Hybrid;
  /** Shapes of inputs by name, other than those of the file. */
  readonly inputShapes?: InputShapes;
  /** Default: as many as fit a minute, from 3 to 20. */
  readonly rounds?: number | undefined;
  /** Preparations of each contestant, each in a process of its own; as many from the cache. Default: 3; 1 if one takes long. */
  readonly preparations?: number | undefined;
  /** Files of the inputs; noise if there are none. */
  readonly inputs: readonly string[];
  /** Milliseconds that each piece of work of a contestant may take; one that takes longer has failed. Default: by the time of a run. */
  readonly timeLimit?: number | undefined;
  /** Peaks of the machine. */
  readonly peaks: readonly Peak[];
  /** A file for onnxruntime. */
  readonly onnx?: string | undefined;
}

/** Order to a child process: `--serve` has it as JSON. Files are absolute paths. */
export interface ServeOrder {
  readonly contestant: ContestantId;
  readonly threads: number;
  readonly hybrid: Hybrid;
  readonly inputShapes?: InputShapes;
  readonly inputs: readonly string[];
  readonly onnx: string | { readonly cannot: string };
  readonly cache?: string;
}

/** Tells how far the work is: turns that the work before has taken, and what comes now. */
export type OnWork = (done: number, what: string) => void;

const reference: ContestantId = { kind: "device", name: judgeDevice, path: "compute" };
const SEED = 1;

/** About how long the reference takes, and a preparation, in turns. */
const referenceWork = 20;
const preparationWork = ({ preparations = usualPreparations.most }: Pick<BenchmarkSettings, "preparations">) =>
  20 * 2 * preparations;

/** The preparations of a contestant if none is given: fewer if one takes so many milliseconds. */
const usualPreparations = { most: 3, least: 1, long: 5000 };

const workBefore = ({ contestants, rounds = usualRounds.most }: Pick<BenchmarkSettings, "contestants" | "rounds">) =>
  referenceWork + workOf(contestants.length, rounds);

/** The work of one network, in turns. */
export function workOfModel(settings: Pick<BenchmarkSettings, "contestants" | "rounds" | "preparations">): number {
  return workBefore(settings) + settings.contestants.length * preparationWork(settings);
}

/** A file that can be measured. */
export interface Network {
  readonly model: LoadedModel;
  readonly multiplyAdds: number;
}

/** Loads a file. Rejects with a CommandError if it cannot be read, or its model cannot run. */
export async function loadNetwork(
  path: string,
  options: Pick<ImportOptions, "hybrid" | "inputShapes">,
  { cwd, devices }: ModelCommandContext,
): Promise<Network> {
  const file = await inspectFile(path, cwd, { ...options, customOperators: await devices.definitions() });
  const model = modelOfFile(file);
  if (model === undefined) throw blockedFailure(path, file.inspection);
  return { model, multiplyAdds: file.inspection.multiplyAdds };
}

/** Benchmarks a network. Rejects with a CommandError for inputs that do not fit. */
export async function benchmarkModel(
  { model, multiplyAdds }: Network,
  settings: BenchmarkSettings,
  context: ModelCommandContext,
  signal: AbortSignal,
  onWork: OnWork,
): Promise<ModelReport> {
  const { cwd } = context;
  const { timeLimit } = settings;
  const given = settings.inputs.length === 0 ? { files: [], seed: SEED } : { files: settings.inputs };
  const inputs = await prepareInputs(model, given, { cwd });
  expectElements("measure", inputs);
  const folder = await mkdtemp(join(tmpdir(), "nnhal-bench-"));
  const stations: Station[] = [];
  try {
    const task: Task = {
      path: model.path,
      bytes: model.bytes,
      inputs: inputs.map(({ bytes }) => bytes),
      threads: settings.threads,
      hybrid: settings.hybrid,
      ...(settings.inputShapes && { inputShapes: settings.inputShapes }),
      onnx: await onnxFor(model, settings, cwd),
    };
    const start = await stationStarter(task, folder, context);
    const stationFor = (id: ContestantId, cache?: string) => {
      const station = start(id, cache);
      stations.push(station);
      return station;
    };
    onWork(0, "reference outputs");
    const expected = await referenceOutputs(stationFor(reference), { signal, timeLimit });
    const entries = settings.contestants.map((id): Entry => ({ id, station: stationFor(id) }));
    let rounds = settings.rounds ?? usualRounds.most;
    const measured = await contest(entries, {
      rounds: settings.rounds,
      onRounds: (known) => {
        rounds = known;
      },
      signal,
      timeLimit,
      title: titleOf,
      onProgress: (done, what) => onWork(referenceWork + done, what),
    });
    const before = workBefore(settings);
    const preparations: PrepareReport[] = [];
    for (const [place, one] of measured.entries()) {
      onWork(before + place * preparationWork(settings), `${titleOf(one.id)}: preparing in new processes`);
      const again = (cache?: string) => prepareAtStation(stationFor(one.id, cache), { signal, timeLimit });
      const isAble = one.prepared !== undefined && one.problem === undefined;
      preparations.push(
        isAble ? await prepareAgain(again, preparationsOf(one, settings), join(folder, `cache${place}`)) : none,
      );
    }
    return modelReport({
      model,
      multiplyAdds,
      inputs: inputs.map(({ info: { name, shape }, source }) => ({ name, shape, source })),
      expected,
      measured,
      rounds,
      preparations,
      peaks: settings.peaks,
    });
  } finally {
    await Promise.all(stations.map((station) => station.close()));
    await rm(folder, { recursive: true, force: true });
  }
}

function preparationsOf({ prepared }: Measured, { preparations }: BenchmarkSettings): number {
  const { most, least, long } = usualPreparations;
  if (preparations !== undefined) return preparations;
  return prepared !== undefined && prepared.milliseconds + prepared.first > long ? least : most;
}

/** The network for onnxruntime: the user's file, else what can be made of it, if that is wanted. */
async function onnxFor(model: LoadedModel, { onnx, contestants }: BenchmarkSettings, cwd: string): Promise<OnnxForm> {
  if (onnx !== undefined) return readUserFile(onnx, { what: "ONNX file", cwd });
  const isWanted = contestants.some(({ kind, name }) => kind === "peer" && name === "onnxruntime");
  return isWanted ? onnxFormOf(model) : { cannot: "the peer onnxruntime was not asked for" };
}

/** Starts stations for a task: in child processes if there can be any, else here. */
async function stationStarter(
  task: Task,
  folder: string,
  { startSelf, devices, now }: ModelCommandContext,
): Promise<(id: ContestantId, cache?: string) => Station> {
  if (startSelf === undefined) {
    return (id, cache) => {
      const own = cache === undefined ? task : { ...task, cache };
      return createStation(() => openContestant(id, own, devices), { now, alone: false });
    };
  }
  const inputs = task.inputs.map((_, place) => join(folder, `input${place}.bin`));
  await Promise.all(task.inputs.map((bytes, place) => writeFile(join(folder, `input${place}.bin`), bytes)));
  const onnx = "cannot" in task.onnx ? task.onnx : join(folder, "network.onnx");
  if (typeof onnx === "string" && !("cannot" in task.onnx)) await writeFile(onnx, task.onnx);
  return (contestant, cache) => {
    const order: ServeOrder = {
      contestant,
      threads: task.threads,
      hybrid: task.hybrid,
      ...(task.inputShapes && { inputShapes: task.inputShapes }),
      inputs,
      onnx,
      ...(cache !== undefined && { cache }),
    };
    return createChildStation(startSelf(["bench", task.path, "--serve", JSON.stringify(order)]), titleOf(contestant));
  };
}

/** When work ends early. */
interface Limits {
  readonly signal: AbortSignal;
  readonly timeLimit?: number | undefined;
}

/** Outputs of the reference; a text that says why if it cannot compute them. */
async function referenceOutputs(
  station: Station,
  { signal, timeLimit }: Limits,
): Promise<readonly Uint8Array[] | string> {
  const limits = { signal, timeLimit: limitOf(timeLimit, undefined) };
  try {
    const opened = await inTime(station.open(), { what: "loading it", ...limits });
    if ("unavailable" in opened) return opened.unavailable;
    const prepared = await inTime(station.prepare(), { what: "computing them", ...limits });
    return "cannot" in prepared ? prepared.cannot : prepared.outputs;
  } catch (error) {
    return oneLine(messageOf(error));
  } finally {
    await station.close();
  }
}

/** Of a contestant that cannot prepare. */
const none: PrepareReport = { cold: [], cached: [] };

/** Prepares in new processes until there are so many: without a cache, where one is done already, and from a cache that was filled before. */
async function prepareAgain(
  prepare: (cache?: string) => Promise<Prepared | undefined>,
  times: number,
  cache: string,
): Promise<PrepareReport> {
  const cold: number[] = [];
  const cached: number[] = [];
  while (cold.length < times - 1) {
    const prepared = await prepare();
    if (prepared === undefined) return { cold, cached };
    cold.push(prepared.milliseconds);
  }
  await mkdir(cache);
  const filled = await prepare(cache);
  if (filled === undefined) return { cold, cached };
  if (!filled.keeps) return { cold, cached: null };
  while (cached.length < times) {
    const prepared = await prepare(cache);
    if (prepared === undefined) break;
    cached.push(prepared.milliseconds);
  }
  return { cold, cached };
}

/** Prepares at a new station; undefined if that fails, or is interrupted. */
async function prepareAtStation(station: Station, { signal, timeLimit }: Limits): Promise<Prepared | undefined> {
  const limits = { signal, timeLimit: limitOf(timeLimit, undefined) };
  try {
    const opened = await inTime(station.open(), { what: "loading it", ...limits });
    if ("unavailable" in opened) return undefined;
    const prepared = await inTime(station.prepare(), { what: "preparing", ...limits });
    return "cannot" in prepared ? undefined : prepared;
  } catch {
    return undefined;
  } finally {
    await station.close();
  }
}
