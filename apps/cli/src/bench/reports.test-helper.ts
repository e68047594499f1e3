/**
 * Results and reports of benchmarks for tests.
 */
import { importTflite, readTflite } from "@nnhal/tflite";
import { addingModel } from "../program.test-helper.ts";
import type { Measured } from "./contest.ts";
import type { ContestantId } from "./contestant.ts";
import { type BenchmarkReport, type ModelResults, modelReport, reportFormat } from "./report.ts";

const bytes = addingModel();
const content = readTflite(bytes);
const model = {
  ...importTflite(content),
  path: "add.tflite",
  bytes,
  content,
  importing: {},
  givenInputs: [0, 1],
  wantedOutputs: [0],
};
const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
export const right = floats(1, 2, 3, 4);
export const wrong = floats(1, 2, 3, 5);

export const device: ContestantId = { kind: "device", name: "nnhal-one", path: "compute" };
export const peer: ContestantId = { kind: "peer", name: "litert" };

/** A contestant whose runs of each round take some milliseconds; its outputs are right. */
export function makeMeasured(id: ContestantId, times: readonly number[], changed: Partial<Measured> = {}): Measured {
  return {
    id,
    opened: { version: "2", settings: ["one thread"], threads: 1, milliseconds: 5 },
    prepared: { milliseconds: 7, keeps: false, first: 9, outputs: [right] },
    warmUp: { runs: 3, stable: true, least: 1 },
    rounds: times.map((time) => [time]),
    cpu: times.reduce((sum, time) => sum + time, 0) * 1.5,
    footprint: { memory: 1000, heap: 10, outputs: [right] },
    ...changed,
  };
}

/** The report of some contestants. */
export function modelReportOf(all: readonly Measured[], changed: Partial<ModelResults> = {}) {
  return modelReport({
    model,
    multiplyAdds: 2e6,
    inputs: [],
    expected: [right],
    measured: all,
    rounds: 3,
    preparations: all.map(() => ({ cold: [], cached: null })),
    peaks: [],
    ...changed,
  });
}

/** A report on a device, a peer that takes twice as long, and one that cannot run the network. */
export function reportOf({ wrong: isWrong = false, nothing = false } = {}): BenchmarkReport {
  const prepared = { milliseconds: 7, keeps: false, first: 9, outputs: [isWrong ? wrong : right] };
  const opened = { version: "LiteRT.js 2", settings: ["one thread"], threads: 1, milliseconds: 5 };
  const all: Measured[] = [
    makeMeasured(device, [2, 2, 2]),
    makeMeasured(peer, [4, 4, 4], { opened, prepared }),
    { id: { kind: "peer", name: "tfjs" }, problem: { cannot: "no CONV_2D" }, rounds: [], cpu: 0 },
  ];
  return {
    format: reportFormat,
    machine: { processor: "Some <CPU>", processors: 2, memory: 1e9, system: "linux", node: "v20", load: 0 },
    peaks: [],
    threads: 1,
    rounds: 3,
    interrupted: false,
    models: [modelReportOf(nothing ? all.slice(2) : all)],
  };
}
