/**
 * The suites of `nnhal conformance`: those over vectors, one by one, and the kit's own of devices, which run together.
 */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type Allowances,
  arithmeticSize,
  type CaseResult,
  type CaseStart,
  type DeviceSuiteName,
  defaultGraphCount,
  describeDeviceSuite,
  deviceSuiteNames,
  deviceThrough,
  type Example,
  type ExecutionPath,
  exampleLine,
  listDeviceCases,
  matchesText,
  mutationSubjects,
  type OnProgress,
  type OnStart,
  readVectorFiles,
  runArithmetic,
  runDeviceSuites,
  runGraphs,
  runMutations,
  runMutationsThrough,
  runVectors,
  runVectorsThrough,
  type Suite,
  type Summary,
  type VectorFile,
  type VectorsOptions,
} from "@nnhal/conformance";
import type { Device, HalVersion } from "@nnhal/types";
import { writeChosenFile } from "../files.ts";

/** The options of every suite. */
type SharedOptions = Pick<VectorsOptions, "filter" | "timeLimit" | "skip" | "onStart">;

/** The suites over vectors, in the order in which they run. */
export const vectorSuiteNames = ["vectors", "mutations"] as const;
export type VectorSuiteName = (typeof vectorSuiteNames)[number];

/** The suites whose examples are drawn, in the order in which they run. */
export const drawnSuiteNames = ["arithmetic", "graphs"] as const;
export type DrawnSuiteName = (typeof drawnSuiteNames)[number];

/** The name of a suite. */
export type SuiteName = DeviceSuiteName | DrawnSuiteName | VectorSuiteName | "networks" | "crash" | "accuracy";

/** The suites that run unless some are chosen, in this order. */
export const defaultSuiteNames: readonly SuiteName[] = [...deviceSuiteNames, ...drawnSuiteNames, ...vectorSuiteNames];

/** All suites, in the order in which they run. */
export const suiteNames: readonly SuiteName[] = [...defaultSuiteNames, "networks", "crash", "accuracy"];

/** True if a suite is one over vectors. */
export function isVectorSuite(name: SuiteName): name is VectorSuiteName {
  return name === "vectors" || name === "mutations";
}

/** True if a suite is one whose examples are drawn. */
export function isDrawnSuite(name: SuiteName): name is DrawnSuiteName {
  return name === "arithmetic" || name === "graphs";
}

/** A suite over vectors. */
interface VectorSuite {
  readonly purpose: string;
  /** Subject that the suite counts by. */
  readonly by: string;
  /** The order in which they are shown. Default: by name. */
  readonly order?: readonly string[];
  /** The number of results that a child sends in one message. */
  readonly batch: number;
  readonly note?: (all: boolean) => string | undefined;
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
    note: (all) => (all ? undefined : `About one mutant in ${sample} was run; --all runs every one.`),
    run(device, examples, options, { all, version }) {
      const some = { ...options, sample: all ? 1 : sample };
      return version === undefined
        ? runMutations(device, examples, some)
        : runMutationsThrough(version, device, examples, some);
    },
  },
};

/** Purpose of a suite. */
export function purposeOf(name: SuiteName): string {
  if (isDrawnSuite(name)) return drawnSuites[name].purpose;
  if (name === "crash") return "many processes at once, closed at random moments and killed (after Android's MLTS)";
  if (name === "networks")
    return "each operation of the networks in a folder, alone and as they run, against the reference";
  if (name === "accuracy") return "how often a network is right on a folder of inputs, beside the reference";
  return isVectorSuite(name) ? vectorSuites[name].purpose : describeDeviceSuite(name);
}

/** Options of running a suite in this process. */
export interface RunOptions {
  readonly device: Device;
  readonly filter?: string | undefined;
  readonly timeLimitMs: number;
  /** Of device suites. */
  readonly allowances: Partial<Allowances>;
  /** Number of results that exist already. */
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

/** The cases of device suites, in the order in which they run. */
export function deviceCasesOf(suites: readonly DeviceSuiteName[], filter: string | undefined): CaseStart[] {
  return listDeviceCases(suites)
    .filter(caseFilter(filter))
    .map((name) => ({ name, subject: name.slice(0, name.indexOf(": ")) }));
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

/** Choice of the drawn examples. */
export interface DrawnChoice {
  /** The device's name. */
  readonly device: string;
  readonly seed?: number | undefined;
  readonly only?: string | undefined;
  readonly minutes?: number | undefined;
  /** The number of random graphs. */
  readonly graphs?: number | undefined;
  /** The number of random examples of each operation. */
  readonly examples?: number | undefined;
  /** Every graph in every way. */
  readonly all?: boolean | undefined;
  /** The folder for failed examples. */
  readonly failures?: string | undefined;
}

/** Where failed examples are written to, unless a folder is named. */
export const failuresFolder = "nnhal-failures";

/** Command lines that run an example again on the same device. */
export interface Again {
  /** The one of a name. */
  example(name: string): string;
  /** The one of a file. `path`: how it is executed. Default: sync. */
  file(file: string, path?: ExecutionPath): string;
}

/** A suite whose examples are drawn. */
interface DrawnSuite {
  readonly purpose: string;
  /** Subject that the suite counts by. */
  readonly by: string;
  /** The number of results that a child sends in one message. */
  readonly batch: number;
  /** The size of its progress. */
  size(choice: DrawnChoice): number;
  note?(summary: Summary): string | undefined;
  run(device: Device, choice: DrawnChoice, again: Again, options: DrawnOptions): AsyncIterable<CaseResult>;
}

/** The options of every such suite. */
type DrawnOptions = Omit<RunOptions, "device" | "timeLimitMs" | "allowances"> & {
  readonly timeLimit: number;
  readonly goesOn: (() => boolean) | undefined;
};

export const drawnSuites: Readonly<Record<DrawnSuiteName, DrawnSuite>> = {
  arithmetic: {
    purpose: "results of every operation and type, at edges and at random, held against the reference",
    by: "operation",
    batch: 64,
    size: () => arithmeticSize,
    run: (device, { seed, only, examples, failures }, again, options) =>
      runArithmetic(device, {
        ...options,
        seed,
        only,
        count: examples,
        keep: async (example, original) =>
          `the smallest example that fails is in ${await writeExample(example, original, again, failures)}; the original: ${again.example(original)}`,
      }),
  },
  graphs: {
    purpose: "random models of many operations, in every way to execute and divided, held against the reference",
    by: "way",
    batch: 8,
    size: ({ graphs = defaultGraphCount }) => graphs,
    note({ elements }) {
      if (elements === undefined || elements.total === 0) return undefined;
      const share = ((100 * elements.judged) / elements.total).toFixed(1);
      return `${share} % of ${elements.total} elements of results were compared; what the others are, the HAL leaves open.`;
    },
    run: (device, { device: name, seed, only, graphs, all, failures }, again, options) =>
      runGraphs(device, {
        ...options,
        seed,
        only,
        count: graphs,
        everyWay: all,
        exact: name === "reference",
        async keep(example, original, path) {
          const file = await writeExample(example, original, again, failures, path);
          return `the smallest graph that fails is in ${file}; the original: ${again.example(original)}`;
        },
      }),
  },
};

/** Writes an example to a file. Returns its name, and the command that runs it. */
async function writeExample(
  example: Example,
  original: string,
  again: Again,
  failures = failuresFolder,
  path?: ExecutionPath,
): Promise<string> {
  const file = join(failures, `${original.replaceAll("/", "-")}.jsonl`);
  await mkdir(failures, { recursive: true });
  await writeChosenFile(file, `${exampleLine(example)}\n`, process.cwd());
  return `${file}: ${again.file(file, path)}`;
}

/** Runs a suite whose examples are drawn. */
export async function* runDrawnSuite(
  name: DrawnSuiteName,
  version: HalVersion | undefined,
  choice: DrawnChoice,
  again: Again,
  { device, timeLimitMs, allowances: _, ...options }: RunOptions,
): AsyncGenerator<CaseResult> {
  const end = choice.minutes === undefined ? undefined : performance.now() + choice.minutes * 60_000;
  const goesOn = end === undefined ? undefined : () => performance.now() < end;
  const driven = version === undefined ? device : deviceThrough(version, device);
  yield* drawnSuites[name].run(driven, choice, again, { ...options, timeLimit: timeLimitMs, goesOn });
}
