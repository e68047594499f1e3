/**
 * `nnhal conformance --device NAME`: runs the suites of the conformance kit on a device.
 *
 * As with `nnhal vectors`, the cases run in a second process, a child of this one with the same arguments, its suites and
 * `--serve`: where a case crashes it or hangs in it, the case has failed and another child goes on.
 */
import {
  type Allowances,
  type CaseResult,
  type DeviceSuiteName,
  defaultAllowances,
  defaultGraphCount,
  deviceSuiteNames,
  isDeviceSuiteName,
  type OnProgress,
  type OnStart,
  summarise,
} from "@nnhal/conformance";
import { type HalVersion, halVersions } from "@nnhal/types";
import { type Command, InvalidArgumentError, Option } from "commander";
import { deviceArguments } from "../command-context.ts";
import { changesBetween, formatChanges, parseReport } from "../conformance-against.ts";
import { badgeFile } from "../conformance-badge.ts";
import { htmlReport } from "../conformance-html.ts";
import { junitReport } from "../conformance-junit.ts";
import { deviceFacts, formatReport, type SuiteReport, toJson } from "../conformance-report.ts";
import type { CommandContext, SharedOptions } from "../context.ts";
import { readUserFile, writeUserFile } from "../files.ts";
import { checkedDeviceOption, parseSeconds } from "../option-values.ts";
import {
  asUsageErrors,
  findFiles,
  parseCount,
  parseMinutes,
  parseSeed,
  runInChildren,
  runWithProgress,
  serveCases,
  untilOffline,
} from "../suite-run.ts";
import { shellWord } from "../text.ts";
import { runAccuracySuite } from "./conformance-accuracy.ts";
import { runCrashSuite, serveCrashJob } from "./conformance-crash.ts";
import {
  countDeviceCases,
  type DrawnSuiteName,
  defaultSuiteNames,
  drawnSuiteNames,
  drawnSuites,
  failuresFolder,
  isDrawnSuite,
  isVectorSuite,
  purposeOf,
  type RunOptions,
  runDeviceSuitesHere,
  runDrawnSuite,
  runVectorSuite,
  type SuiteName,
  sample,
  suiteNames,
  type VectorSuiteName,
  vectorSuiteNames,
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
  /** The number of random graphs. */
  readonly graphs?: number;
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
const timeLimits = { vectors: 60, device: 20 } as const;

const help = `
Suites:
${suiteNames.map((name) => `  ${name.padEnd(15)} ${purposeOf(name)}`).join("\n")}

Without --suite, all of them run but crash and accuracy: of those that need vectors, ${vectorSuiteNames.join(" and ")}, only with --vectors.

Examples:
  nnhal conformance --device reference
  nnhal conformance --device reference --suite memory --suite fenced --hal 1.3
  nnhal conformance --device tfjs --only CONV_2D --minutes 5 --seed 7
  nnhal conformance --device tfjs --suite graphs --graphs 10000 --seed 7
  nnhal conformance --backend ./my-backend.js --device mine --html report.html
  nnhal conformance --device reference --vectors nn-vectors --suite mutations --all --filter CONV_2D --json`;

/** Gives the command its arguments, options and work. */
export function registerConformanceCommand(command: Command, context: () => Promise<CommandContext>): void {
  command
    .addOption(checkedDeviceOption())
    .option("--vectors <dir>", "folder of *.jsonl.gz files, or one such file, for the suites that need vectors")
    .addOption(new Option("--suite <name>", "only this suite; may be given several times").argParser(collectSuite))
    .addOption(
      new Option(
        "--hal <version>",
        "drive the device through this HAL version, in all suites but mutations; may be given several times",
      ).argParser(collectVersion),
    )
    .option(
      "--filter <text>",
      "only cases whose name contains the text, or examples that test the operation of this name",
    )
    .option(
      "--all",
      `run every mutant, not only about one in ${sample}, and every random graph in every way, not only in one`,
    )
    .option("--json", "print the report as JSON")
    .option("--html <file>", "also write the report as a page to look at")
    .option("--badge <file>", "also write the result in one line as a picture (SVG), for a README")
    .option("--junit <file>", "also write the report as JUnit XML, for continuous integration")
    .option("--against <file>", "say what has changed since an earlier report, one that --json has printed")
    .option("--seed <number>", "the seed of random examples (default: 1)", parseSeed)
    .option(
      "--only <name>",
      "only the examples of this operation, or the one of this name, in the suite arithmetic, or this graph, such as graphs/1.17",
    )
    .option("--graphs <number>", `how many random graphs (default: ${defaultGraphCount})`, parseCount)
    .option(
      "--minutes <number>",
      "go on with random examples of further seeds, and further graphs, for so long; of the suite crash, how long each target works",
      parseMinutes,
    )
    .option("--network <file>", "a .tflite file for the suites crash and accuracy")
    .option("--data <dir>", "inputs with expected answers, for the suite accuracy")
    .option("--failures <dir>", `folder for examples that fail (default: ${failuresFolder}, if one does)`)
    .option(
      "--time-limit <seconds>",
      `time after which a case has failed (default: ${timeLimits.vectors} with vectors, else ${timeLimits.device})`,
      parseSeconds,
    )
    .addOption(
      new Option(
        "--allowance <name=number>",
        `how far the device may exceed the limits of a case, one of ${allowanceNames.join(", ")}: in milliseconds, memory in bytes; may be given several times`,
      ).argParser(collectAllowance),
    )
    .addHelpText("after", help)
    .addOption(new Option("--serve <done>", "run in a child process").argParser(Number).hideHelp())
    .addOption(new Option("--singly <count>", "in a child process").argParser(Number).hideHelp())
    .addOption(new Option("--crash-job <json>", "in a child process").hideHelp())
    .action(async (options: ConformanceCommandOptions) => {
      if (options.crashJob !== undefined) await serveCrashJob(options.crashJob, options, await context());
      else if (options.serve === undefined) await runConformanceCommand(options, await context());
      else await serve(options, await context());
    });
}

function collectSuite(text: string, previous: readonly SuiteName[] = []): readonly SuiteName[] {
  const name = suiteNames.find((known) => known === text);
  if (name === undefined) throw new InvalidArgumentError(`It has to be one of ${suiteNames.join(", ")}.`);
  return previous.includes(name) ? previous : [...previous, name];
}

function collectVersion(text: string, previous: readonly HalVersion[] = []): readonly HalVersion[] {
  const version = halVersions.find((known) => known === text);
  if (version === undefined) throw new InvalidArgumentError(`It has to be one of ${halVersions.join(", ")}.`);
  return previous.includes(version) ? previous : [...previous, version];
}

const allowanceNames = Object.keys(defaultAllowances).filter(isAllowanceName);

function isAllowanceName(name: string): name is keyof Allowances {
  return Object.hasOwn(defaultAllowances, name);
}

function collectAllowance(text: string, previous: Partial<Allowances> = {}): Partial<Allowances> {
  const [name = "", value, ...rest] = text.split("=");
  const number = value === undefined || value === "" ? Number.NaN : Number(value);
  if (!isAllowanceName(name) || !(number >= 0) || rest.length > 0) {
    throw new InvalidArgumentError(`It has to be one of ${allowanceNames.join(", ")}, then = and a number from 0 up.`);
  }
  return { ...previous, [name]: number };
}

/**
 * Runs the command; the exit code is 1 if a case failed. Rejects with a usage error if nothing could be run. `today` dates
 * the HTML report.
 */
export async function runConformanceCommand(
  options: ConformanceCommandOptions,
  context: CommandContext,
  today: () => Date = () => new Date(),
): Promise<void> {
  const { stdout } = context;
  const { device, html, badge, junit, against } = options;
  await asUsageErrors(async () => {
    const cwd = process.cwd();
    const earlier =
      against === undefined
        ? undefined
        : parseReport(new TextDecoder().decode(await readUserFile(against, { what: "report", cwd })), against);
    const reports = await runSuites(options, context);
    const json = toJson(device, reports);
    const before =
      earlier === undefined || against === undefined
        ? undefined
        : { path: against, report: earlier, changes: changesBetween(earlier, json) };
    if (html !== undefined || badge !== undefined) {
      const facts = deviceFacts(device, await context.openDevice(device));
      if (html !== undefined) await writeUserFile(html, htmlReport(facts, reports, today(), before), cwd);
      if (badge !== undefined) await writeUserFile(badge, badgeFile(facts.halVersion, json), cwd);
    }
    if (junit !== undefined) await writeUserFile(junit, junitReport(device, reports), cwd);
    const changes = before === undefined ? "" : formatChanges(before.changes, before.path);
    if (options.json) context.stderr.write(changes);
    stdout.write(options.json ? `${JSON.stringify(json)}\n` : `${changes}${formatReport(device, reports)}`);
    context.setExitCode(reports.some(({ summary }) => summary.failed > 0) ? 1 : 0);
  });
}

async function runSuites(options: ConformanceCommandOptions, context: CommandContext): Promise<SuiteReport[]> {
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
  if (ofDevices.length > 0) {
    for (const version of options.hal ?? [undefined]) {
      reports.push(...(await runDevice(ofDevices, version, options, context)));
    }
  }
  for (const name of drawnSuiteNames.filter((name) => wanted.includes(name))) {
    for (const version of options.hal ?? [undefined]) reports.push(await runDrawn(name, version, options, context));
  }
  for (const name of overVectors) {
    const versions = vectorSuites[name].throughVersions ? options.hal : undefined;
    for (const version of versions ?? [undefined]) reports.push(await runOverVectors(name, version, options, context));
  }
  if (wanted.includes("crash")) reports.push(await runCrashSuite(options, context));
  if (wanted.includes("accuracy")) reports.push(await runAccuracySuite(options, context));
  const some = reports.filter(({ summary }) => summary.total > 0);
  if (some.length === 0) throw new Error(noCases(options));
  return some;
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
  context: CommandContext,
): Promise<SuiteReport> {
  const { timeLimit = timeLimits.device } = options;
  const own = { ...options, suite: [name], ...(version !== undefined && { hal: [version] }) };
  const { startSelf } = context;
  const { batch, by, size, note } = drawnSuites[name];
  const summary = await runWithProgress(
    [{ size: size(options) }],
    (onProgress) =>
      startSelf === undefined
        ? runHere(own, context, onProgress)
        : runInChildren("conformance", childArguments([name], own), timeLimit, startSelf, onProgress, batch),
    context,
    `${name}: ${halText(version)}`,
  );
  const said = note?.(summary);
  return {
    suite: name,
    by,
    summary,
    ...(said !== undefined && { note: said }),
    ...(version !== undefined && { hal: version }),
  };
}

async function runOverVectors(
  name: VectorSuiteName,
  version: HalVersion | undefined,
  options: ConformanceCommandOptions,
  context: CommandContext,
): Promise<SuiteReport> {
  const { vectors = "", all = false, timeLimit = timeLimits.vectors } = options;
  const { hal: _, ...others } = options;
  const own = { ...others, suite: [name], ...(version !== undefined && { hal: [version] }) };
  const { startSelf } = context;
  const { batch, by, order, note } = vectorSuites[name];
  const files = await findFiles(vectors);
  const summary = await runWithProgress(
    files,
    (onProgress) =>
      startSelf === undefined
        ? runHere(own, context, onProgress)
        : runInChildren("conformance", childArguments([name], own), timeLimit, startSelf, onProgress, batch),
    context,
    `${name}: ${halText(version)}`,
  );
  const said = note?.(all);
  return {
    suite: name,
    by,
    summary,
    ...(order && { order }),
    ...(said !== undefined && { note: said }),
    ...(version !== undefined && { hal: version }),
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
  context: CommandContext,
): Promise<SuiteReport[]> {
  const { filter, timeLimit = timeLimits.device } = options;
  const { startSelf } = context;
  const own = { ...options, suite: names, ...(version !== undefined && { hal: [version] }) };
  const cases: CaseResult[] = [];
  const total = countDeviceCases(names, filter);
  const run = (onProgress: OnProgress) =>
    startSelf === undefined
      ? runHere(own, context, onProgress)
      : runInChildren("conformance", childArguments(names, own), timeLimit, startSelf, onProgress);
  const keeping = async function* (onProgress: OnProgress) {
    for await (const result of run(onProgress)) {
      cases.push(result);
      yield result;
    }
  };
  await runWithProgress([{ size: total }], keeping, context, halText(version));
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
  const named = ["seed", "only", "graphs", "minutes", "failures"] as const;
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
  { openDevice, shared }: CommandContext,
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
    if (drawn !== undefined) yield* runDrawnSuite(drawn, hal[0], options, againWith(options, shared), running);
    else if (overVectors !== undefined)
      yield* runVectorSuite(overVectors, await findFiles(vectors), { all, version: hal[0] }, running);
    else yield* runDeviceSuitesHere(suite.filter(isDeviceSuiteName), hal[0], running);
  };
  yield* untilOffline(opened, run());
}

/** The command line that runs one example again, on the same device and in the same way. */
function againWith({ device, hal = [] }: ConformanceCommandOptions, shared: SharedOptions): (name: string) => string {
  const options = [...deviceArguments(shared), "--device", device, ...hal.flatMap((version) => ["--hal", version])];
  return (name) => `nnhal conformance ${options.map(shellWord).join(" ")} --only ${name}`;
}

async function serve(options: ConformanceCommandOptions, context: CommandContext): Promise<void> {
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
