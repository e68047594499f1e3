/**
 * The suites of `nnhal conformance`: those over vectors, one by one, and the kit's own of devices, which run together.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Allowances,
  type CaseResult,
  type DeviceSuiteName,
  describeDeviceSuite,
  deviceSuiteNames,
  deviceThrough,
  exampleLine,
  listDeviceCases,
  matchesText,
  mutationSubjects,
  type OnProgress,
  type OnStart,
  readVectorFiles,
  runArithmetic,
  runDeviceSuites,
  runMutations,
  runVectors,
  runVectorsThrough,
  type Suite,
  type VectorFile,
  type VectorsOptions,
} from "@nnhal/conformance";
import type { Device, HalVersion } from "@nnhal/types";

/** The options of every suite. */
type SharedOptions = Pick<VectorsOptions, "filter" | "timeLimit" | "skip" | "onStart">;

/** The suites over vectors, in the order in which they run. */
export const vectorSuiteNames = ["vectors", "mutations"] as const;
export type VectorSuiteName = (typeof vectorSuiteNames)[number];

/** The name of a suite. */
export type SuiteName = DeviceSuiteName | "arithmetic" | VectorSuiteName | "crash" | "accuracy";

/** The suites that run unless some are chosen, in this order. */
export const defaultSuiteNames: readonly SuiteName[] = [...deviceSuiteNames, "arithmetic", ...vectorSuiteNames];

/** All suites, in the order in which they run. */
export const suiteNames: readonly SuiteName[] = [...defaultSuiteNames, "crash", "accuracy"];

/** Whether a suite is one over vectors. */
export function isVectorSuite(name: SuiteName): name is VectorSuiteName {
  return name === "vectors" || name === "mutations";
}

/** A suite over vectors. */
interface VectorSuite {
  readonly purpose: string;
  /** What the suite counts by. */
  readonly by: string;
  /** The order in which they are shown. Default: by name. */
  readonly order?: readonly string[];
  /** The number of results that a child sends in one message. */
  readonly batch: number;
  readonly note?: (all: boolean) => string | undefined;
  /** Whether it can drive the device through a HAL version. */
  readonly throughVersions: boolean;
  run(
    device: Parameters<Suite<unknown>>[0],
    examples: Parameters<typeof runVectors>[1],
    options: SharedOptions,
    { all, version }: { readonly all: boolean; readonly version: HalVersion | undefined },
  ): AsyncIterable<CaseResult>;
}

/** Without `--all`, about one mutant in so many runs. */
export const sample = 32;

export const vectorSuites: Readonly<Record<VectorSuiteName, VectorSuite>> = {
  vectors: {
    purpose: "examples with expected outputs, in every form",
    by: "operation",
    batch: 1,
    throughVersions: true,
    run(device, examples, options, { version }) {
      const all = { ...options, variants: true };
      return version === undefined
        ? runVectors(device, examples, all)
        : runVectorsThrough(version, device, examples, all);
    },
  },
  mutations: {
    purpose: "models and requests with one thing wrong, which a device has to refuse",
    by: "mutation",
    order: mutationSubjects,
    // Reporting a mutant takes longer than refusing it.
    batch: 256,
    throughVersions: false,
    note: (all) => (all ? undefined : `About one mutant in ${sample} was run; --all runs every one.`),
    run: (device, examples, options, { all }) =>
      runMutations(device, examples, { ...options, sample: all ? 1 : sample }),
  },
};

/** What a suite is about. */
export function purposeOf(name: SuiteName): string {
  if (name === "arithmetic")
    return "results of every operation and type, at edges and at random, held against the reference";
  if (name === "crash") return "many processes at once, closed at random moments and killed (after Android's MLTS)";
  if (name === "accuracy") return "how often a network is right on a folder of inputs, beside the reference";
  return isVectorSuite(name) ? vectorSuites[name].purpose : describeDeviceSuite(name);
}

/** How the command runs a suite in this process. */
export interface RunOptions {
  readonly device: Device;
  readonly filter?: string | undefined;
  readonly timeLimitMs: number;
  /** Of device suites. */
  readonly allowances: Partial<Allowances>;
  /** How many results there are already. */
  readonly skip: number;
  readonly onProgress: OnProgress;
  readonly onStart?: OnStart | undefined;
}

/** Runs a suite over vectors. */
export async function* runVectorSuite(
  name: VectorSuiteName,
  files: readonly VectorFile[],
  how: { readonly all: boolean; readonly version: HalVersion | undefined },
  { device, filter, timeLimitMs, skip, onProgress, onStart }: RunOptions,
): AsyncGenerator<CaseResult> {
  let done = 0;
  const examples = readVectorFiles(files, ({ size, name: file }) => {
    done += size;
    onProgress(done, file);
  });
  const options: SharedOptions = {
    timeLimit: timeLimitMs,
    skip,
    ...(filter !== undefined && { filter: (vectorCase) => matchesText(vectorCase, filter) }),
    ...(onStart !== undefined && { onStart }),
  };
  yield* vectorSuites[name].run(device, examples, options, how);
}

/** Which cases of device suites a text selects, by their names; upper and lower case are the same. */
function caseFilter(filter: string | undefined): (name: string) => boolean {
  const wanted = filter?.toLowerCase() ?? "";
  return (name) => name.toLowerCase().includes(wanted);
}

/** The number of cases of device suites. */
export function countDeviceCases(suites: readonly DeviceSuiteName[], filter: string | undefined): number {
  return listDeviceCases(suites).filter(caseFilter(filter)).length;
}

/** Runs device suites, one after the other. */
export async function* runDeviceSuitesHere(
  suites: readonly DeviceSuiteName[],
  version: HalVersion | undefined,
  { device, filter, timeLimitMs, allowances, skip, onProgress, onStart }: RunOptions,
): AsyncGenerator<CaseResult> {
  let done = skip;
  const results = runDeviceSuites(device, {
    suites,
    filter: caseFilter(filter),
    timeLimit: timeLimitMs,
    allowances,
    skip,
    ...(version !== undefined && { version }),
    ...(onStart !== undefined && { onStart }),
  });
  for await (const result of results) {
    onProgress(++done, result.name);
    yield result;
  }
}

/** What the suite arithmetic runs. */
export interface ArithmeticChoice {
  readonly seed?: number | undefined;
  readonly only?: string | undefined;
  readonly minutes?: number | undefined;
  /** The folder for failed examples. */
  readonly failures?: string | undefined;
}

/** Where failed examples are written to, unless a folder is named. */
export const failuresFolder = "nnhal-failures";

/** The number of results that a child sends in one message. */
export const arithmeticBatch = 64;

/** Runs the suite arithmetic. `again`: the words of a command line that runs an example of this name on this device. */
export async function* runArithmeticSuite(
  version: HalVersion | undefined,
  { seed, only, minutes, failures = failuresFolder }: ArithmeticChoice,
  again: (name: string) => string,
  { device, filter, timeLimitMs, skip, onProgress, onStart }: RunOptions,
): AsyncGenerator<CaseResult> {
  const end = minutes === undefined ? undefined : performance.now() + minutes * 60_000;
  yield* runArithmetic(version === undefined ? device : deviceThrough(version, device), {
    seed,
    only,
    goesOn: end === undefined ? undefined : () => performance.now() < end,
    filter,
    timeLimit: timeLimitMs,
    skip,
    onProgress,
    onStart,
    async keep(example, original) {
      const file = join(failures, `${original.replaceAll("/", "-")}.jsonl`);
      await mkdir(failures, { recursive: true });
      await writeFile(file, `${exampleLine(example)}\n`);
      return `the smallest example that fails is in ${file}: nnhal vectors ${file}; the original: ${again(original)}`;
    },
  });
}
