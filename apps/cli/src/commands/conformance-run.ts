/**
 * Runs the suites of `nnhal conformance`: each in a second process, a child of this one with the same arguments, its suites and `--serve`.
 * If a case crashes it or hangs in it, the case has failed and another child goes on.
 */
import {
  type Allowances,
  type CaseResult,
  type DeviceSuiteName,
  deviceSuiteNames,
  type IsolationOptions,
  isDeviceSuiteName,
  type Losses,
  mostLostCases,
  mostLostOfSuite,
  noLosses,
  type OnProgress,
  type OnStart,
  summarise,
} from "@nnhal/conformance";
import type { HalVersion } from "@nnhal/types";
import { type SuiteReport, titleOf, unproven } from "../conformance-report.ts";
import type { CommandContext } from "../context.ts";
import { findFiles, runInChildren, runWithProgress, serveCases, untilOffline } from "../suite-run.ts";
import { commandLine } from "../text.ts";
import { runAccuracySuite } from "./conformance-accuracy.ts";
import { runCrashSuite } from "./conformance-crash.ts";
import { runNetworksSuite } from "./conformance-networks.ts";
import {
  type Again,
  type DrawnSuiteName,
  defaultSuiteNames,
  deviceCasesOf,
  drawnSuiteNames,
  drawnSuites,
  isDrawnSuite,
  isVectorSuite,
  type RunOptions,
  runDeviceSuitesHere,
  runDrawnSuite,
  runVectorSuite,
  type SuiteName,
  type VectorSuiteName,
  vectorSuites,
} from "./conformance-suites.ts";

/** The command's options, as commander parses them. */
export interface ConformanceCommandOptions {
  readonly device: string;
  /** Folder of the vectors. */
  readonly vectors?: string;
  /** Default: all; without vectors, those that need none. */
  readonly suite?: readonly SuiteName[];
  /** The HAL versions through which the device is driven, except for mutations. Default: it is driven as it is. */
  readonly hal?: readonly HalVersion[];
  readonly filter?: string;
  readonly all?: boolean;
  readonly json?: boolean;
  /** File of a report to look at. */
  readonly html?: string;
  /** File of the page of differences from the reference. */
  readonly differences?: string;
  /** File of the result in one line, as a picture. */
  readonly badge?: string;
  /** Seconds. */
  readonly timeLimit?: number;
  /** File of a report as JUnit XML. */
  readonly junit?: string;
  /** File of an earlier report, of `--json`, to compare with. */
  readonly against?: string;
  /** Of suites whose examples are drawn: a seed, one operation, example or graph, minutes to go on for, a folder for failures. */
  readonly seed?: number;
  readonly only?: string;
  readonly minutes?: number;
  readonly failures?: string;
  /** The number of random graphs, and of random examples of each operation. */
  readonly graphs?: number;
  readonly examples?: number;
  /** The folder of the suite networks. */
  readonly models?: string;
  /** A .tflite file, of the suites crash and accuracy, and the folder of inputs of the latter. */
  readonly network?: string;
  readonly data?: string;
  /** Set in a child of the suite crash: its task, as JSON. */
  readonly crashJob?: string;
  /** Other allowances than the kit's own. */
  readonly allowance?: Partial<Allowances>;
  /** Set in a child: the number of results that exist already, and the number of further ones to report one by one. */
  readonly serve?: number;
  readonly singly?: number;
}

/** Seconds that a case may take: those of vectors may be large. */
export const timeLimits = { vectors: 60, device: 20 } as const;

/** Runs the suites that the options ask for. Rejects if there is no case to run. */
export async function runSuites(options: ConformanceCommandOptions, context: CommandContext): Promise<SuiteReport[]> {
  const { suite, vectors } = options;
  const drawn: SuiteName = options.only?.startsWith("graphs/") ? "graphs" : "arithmetic";
  const all = options.only === undefined ? defaultSuiteNames : [drawn];
  const wanted = suite ?? all.filter((name) => vectors !== undefined || !isVectorSuite(name));
  const overVectors = wanted.filter(isVectorSuite);
  if (vectors === undefined && overVectors.length > 0) {
    throw new Error(`the suite ${overVectors[0]} needs vectors: --vectors names their folder`);
  }
  const ofDevices = deviceSuiteNames.filter((name) => wanted.includes(name));
  const reports: SuiteReport[] = [];
  const losses = noLosses();
  const left: string[] = [];
  /** Runs a suite through each HAL version, unless the device is known not to answer. */
  const through = async (name: string, run: (version: HalVersion | undefined) => Promise<readonly SuiteReport[]>) => {
    for (const version of options.hal ?? [undefined]) {
      if (losses.cases >= mostLostCases) {
        left.push(`${name}${version === undefined ? "" : ` (HAL ${version})`}`);
        continue;
      }
      const done = await run(version);
      reports.push(...done);
      // A filter, too, leaves suites without cases.
      if (losses.cases >= mostLostCases && options.filter === undefined) {
        left.push(...done.filter(({ summary }) => summary.total === 0).map(titleOf));
      }
    }
  };
  if (ofDevices.length > 0) {
    await through("the device suites", (version) => runDevice(ofDevices, version, options, losses, context));
  }
  for (const name of drawnSuiteNames.filter((name) => wanted.includes(name))) {
    await through(name, async (version) => [await runDrawn(name, version, options, losses, context)]);
  }
  for (const name of overVectors) {
    for (const version of options.hal ?? [undefined])
      reports.push(await runOverVectors(name, version, options, context));
  }
  if (wanted.includes("networks") || (suite === undefined && options.models !== undefined))
    reports.push(await runNetworksSuite(options, context));
  if (wanted.includes("crash")) reports.push(await runCrashSuite(options, context));
  if (wanted.includes("accuracy")) reports.push(await runAccuracySuite(options, context));
  const some = withLeft(
    reports.filter(({ summary }) => summary.total > 0),
    left,
  );
  if (some.length === 0) throw new Error(noCases(options));
  return some;
}

/** The reports, the last of which says which suites were left out since the device did not answer. */
function withLeft(reports: SuiteReport[], left: readonly string[]): SuiteReport[] {
  const last = reports.at(-1);
  if (last === undefined || left.length === 0) return reports;
  const says = `Not run, since ${mostLostCases} cases were not answered, or ended their process: ${left.join(", ")}. With --suite a suite runs alone.`;
  return [...reports.slice(0, -1), { ...last, note: last.note === undefined ? says : `${last.note} ${says}` }];
}

function noCases({ filter, only }: ConformanceCommandOptions): string {
  if (only !== undefined)
    return `there is no example "${only}"${filter === undefined ? "" : ` that matches "${filter}"`}`;
  return `no case matches the filter "${filter}"`;
}

async function runDrawn(
  name: DrawnSuiteName,
  version: HalVersion | undefined,
  options: ConformanceCommandOptions,
  losses: Losses,
  context: CommandContext,
): Promise<SuiteReport> {
  const { timeLimit = timeLimits.device } = options;
  const { batch, by, size, note } = drawnSuites[name];
  const sizes = [{ size: size(options) }];
  const how = { batch, mostLost: mostLostCases, losses };
  const summary = await runOne(name, version, { ...options, timeLimit }, sizes, how, context);
  return reportOf(name, by, summary, version, note?.(summary));
}

async function runOverVectors(
  name: VectorSuiteName,
  version: HalVersion | undefined,
  options: ConformanceCommandOptions,
  context: CommandContext,
): Promise<SuiteReport> {
  const { vectors = "", all = false, timeLimit = timeLimits.vectors } = options;
  const { batch, by, order, note } = vectorSuites[name];
  const files = await findFiles(vectors);
  const summary = await runOne(name, version, { ...options, timeLimit }, files, { batch }, context);
  return { ...reportOf(name, by, summary, version, note?.(all)), ...(order && { order }) };
}

/** Runs one suite through one HAL version, or as the device is: in children, if there can be some. */
function runOne(
  name: SuiteName,
  version: HalVersion | undefined,
  { hal: _, ...options }: ConformanceCommandOptions & { readonly timeLimit: number },
  sizes: Parameters<typeof runWithProgress>[0],
  how: Pick<IsolationOptions, "batch" | "mostLost" | "losses">,
  context: CommandContext,
): Promise<SuiteReport["summary"]> {
  const own = { ...options, suite: [name], ...(version !== undefined && { hal: [version] }) };
  const { startSelf } = context;
  return runWithProgress(
    sizes,
    (onProgress) =>
      startSelf === undefined
        ? runHere(own, context, onProgress)
        : runInChildren("conformance", childArguments([name], own), own.timeLimit, startSelf, onProgress, how),
    context,
    `${name}: ${halText(version)}`,
  );
}

function reportOf(
  suite: SuiteName,
  by: SuiteReport["by"],
  summary: SuiteReport["summary"],
  hal: HalVersion | undefined,
  note: string | undefined,
): SuiteReport {
  const notes = [note, unproven(by, summary)].filter((each) => each !== undefined);
  return {
    ...{ suite, by, summary },
    ...(notes.length > 0 && { note: notes.join(" ") }),
    ...(hal !== undefined && { hal }),
  };
}

function halText(version: HalVersion | undefined): string {
  return version === undefined ? "" : `HAL ${version}: `;
}

/** Device suites run in one process, since starting one takes longer than most of them. */
async function runDevice(
  names: readonly DeviceSuiteName[],
  version: HalVersion | undefined,
  options: ConformanceCommandOptions,
  losses: Losses,
  context: CommandContext,
): Promise<SuiteReport[]> {
  const { filter, timeLimit = timeLimits.device } = options;
  const { startSelf } = context;
  const own = { ...options, suite: names, ...(version !== undefined && { hal: [version] }) };
  const cases: CaseResult[] = [];
  const known = { cases: deviceCasesOf(names, filter), mostLostOfSuite };
  const run = (onProgress: OnProgress) =>
    startSelf === undefined
      ? runHere(own, context, onProgress)
      : runInChildren("conformance", childArguments(names, own), timeLimit, startSelf, onProgress, {
          mostLost: mostLostCases,
          losses,
          known,
        });
  const keepResults = async function* (onProgress: OnProgress) {
    for await (const result of run(onProgress)) {
      cases.push(result);
      yield result;
    }
  };
  await runWithProgress([{ size: known.cases.length }], keepResults, context, halText(version));
  return Promise.all(
    names.map(async (name): Promise<SuiteReport> => {
      const own = cases
        .filter(({ subject }) => subject.startsWith(`${name}/`))
        .map((result) => withoutSuite(name, result));
      const order = [...new Set(own.map(({ subject }) => subject))];
      const summary = await summarise(each(own));
      return { suite: name, by: "group", order, summary, cases: own, ...(version !== undefined && { hal: version }) };
    }),
  );
}

/** The names in a suite's own report need not say the suite again. */
function withoutSuite(suite: string, { name, subject, ...result }: CaseResult): CaseResult {
  const length = suite.length + 1;
  return { ...result, name: name.slice(length), subject: subject.slice(length) };
}

async function* each(results: readonly CaseResult[]): AsyncGenerator<CaseResult> {
  yield* results;
}

function childArguments(names: readonly SuiteName[], options: ConformanceCommandOptions): string[] {
  const { device, vectors, hal = [], filter, all, timeLimit, allowance = {} } = options;
  const named = ["seed", "only", "graphs", "examples", "minutes", "failures"] as const;
  return [
    ...names.flatMap((name) => ["--suite", name]),
    ...["--device", device],
    ...hal.flatMap((version) => ["--hal", version]),
    ...(vectors === undefined ? [] : ["--vectors", vectors]),
    ...(timeLimit === undefined ? [] : ["--time-limit", String(timeLimit)]),
    ...(filter === undefined ? [] : ["--filter", filter]),
    ...(all ? ["--all"] : []),
    ...named.flatMap((name) => (options[name] === undefined ? [] : [`--${name}`, String(options[name])])),
    ...Object.entries(allowance).flatMap(([name, value]) => ["--allowance", `${name}=${value}`]),
  ];
}

/** Runs the suites of some options in this process: one over vectors, or any number that need none. */
async function* runHere(
  options: ConformanceCommandOptions,
  { openDevice, sharedArguments }: CommandContext,
  onProgress: OnProgress,
  onStart?: OnStart,
): AsyncGenerator<CaseResult> {
  const { device, suite = [], vectors = "", hal = [], filter, all = false, timeLimit, allowance = {} } = options;
  const overVectors = suite.find(isVectorSuite);
  const seconds = timeLimit ?? (overVectors === undefined ? timeLimits.device : timeLimits.vectors);
  const opened = await openDevice(device);
  const running: RunOptions = {
    device: opened,
    filter,
    timeLimitMs: seconds * 1000,
    allowances: allowance,
    skip: options.serve ?? 0,
    onProgress,
    onStart,
  };
  const drawn = suite.find(isDrawnSuite);
  const run = async function* () {
    if (drawn !== undefined) yield* runDrawnSuite(drawn, hal[0], options, againWith(options, sharedArguments), running);
    else if (overVectors !== undefined)
      yield* runVectorSuite(overVectors, await findFiles(vectors), { all, version: hal[0] }, running);
    else yield* runDeviceSuitesHere(suite.filter(isDeviceSuiteName), hal[0], running);
  };
  yield* untilOffline(opened, run());
}

/** Command lines that run an example again, on the same device and in the same way. */
function againWith({ device, hal = [] }: ConformanceCommandOptions, shared: readonly string[] = []): Again {
  const line = (...words: readonly string[]) => commandLine(["nnhal", ...shared, ...words]);
  const on = ["--device", device];
  const through = hal.flatMap((version) => ["--hal", version]);
  return {
    example: (name) => line("conformance", ...on, ...through, "--only", name),
    file: (file, path = "sync") =>
      line("vectors", file, ...on, ...through, ...(path === "sync" ? [] : ["--path", path])),
  };
}

/** Work of a child: runs the suites of its options, and sends the results. */
export async function serve(options: ConformanceCommandOptions, context: CommandContext): Promise<void> {
  const { suite = [], singly } = options;
  const overVectors = suite.find(isVectorSuite);
  const drawn = suite.find(isDrawnSuite);
  const ofDevices = drawn === undefined ? 1 : drawnSuites[drawn].batch;
  const batch = overVectors === undefined ? ofDevices : vectorSuites[overVectors].batch;
  await serveCases(context, (onStart, onProgress) => runHere(options, context, onProgress, onStart), {
    batch,
    ...(singly !== undefined && { singly }),
  });
}
