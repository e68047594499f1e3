/**
 * `nnhal conformance --device NAME --vectors DIR`: runs the suites of the conformance kit on a device.
 *
 * As with `nnhal vectors`, the cases run in a second process, a child of this one with the same arguments, one suite and
 * `--serve`: where a case crashes it or hangs in it, the case has failed and another child goes on.
 */
import {
  type CaseResult,
  matchesText,
  mutationSubjects,
  type OnProgress,
  type OnStart,
  readVectorFiles,
  runMutations,
  runVectors,
  type Suite,
  serveResults,
  type VectorFile,
  type VectorsOptions,
} from "@nnhal/conformance";
import { type Command, Option } from "commander";
import { formatReport, type SuiteReport, toJson } from "../conformance-report.ts";
import type { CommandContext } from "../context.ts";
import { findFiles, parseSeconds, runInChildren, runWithProgress } from "../suite-run.ts";

/** The command's options, as commander gives them. */
export interface ConformanceCommandOptions {
  readonly device: string;
  /** Folder of the vectors. */
  readonly vectors: string;
  /** Default: all suites. */
  readonly suite?: SuiteName;
  readonly filter?: string;
  readonly all?: boolean;
  readonly json?: boolean;
  /** Seconds. */
  readonly timeLimit: number;
  /** Set in a child: how many results there are already, and of how many more it tells one by one. */
  readonly serve?: number;
  readonly singly?: number;
}

/** What every suite over vectors can be told. */
type SharedOptions = Pick<VectorsOptions, "filter" | "timeLimit" | "skip" | "onStart">;

/** The suites, in the order in which they run. */
const suiteNames = ["vectors", "mutations"] as const;
type SuiteName = (typeof suiteNames)[number];

/** A suite of the command. */
interface SuiteRow {
  readonly purpose: string;
  /** What the suite counts by. */
  readonly by: string;
  /** The order in which they are shown. Default: by name. */
  readonly order?: readonly string[];
  /** How many results a child tells at once. */
  readonly batch: number;
  readonly note?: (all: boolean) => string | undefined;
  run(
    device: Parameters<Suite<unknown>>[0],
    examples: Parameters<typeof runVectors>[1],
    options: SharedOptions,
    all: boolean,
  ): AsyncIterable<CaseResult>;
}

/** Without `--all`, about one mutant in so many runs. */
const sample = 32;

const suites: Readonly<Record<SuiteName, SuiteRow>> = {
  vectors: {
    purpose: "examples with expected outputs, in every form",
    by: "operation",
    batch: 1,
    run: (device, examples, options) => runVectors(device, examples, { ...options, variants: true }),
  },
  mutations: {
    purpose: "models and requests with one thing wrong, which a device has to refuse",
    by: "mutation",
    order: mutationSubjects,
    // To tell about a mutant takes longer than to refuse it.
    batch: 256,
    note: (all) => (all ? undefined : `About one mutant in ${sample} was run; --all runs every one.`),
    run: (device, examples, options, all) => runMutations(device, examples, { ...options, sample: all ? 1 : sample }),
  },
};

const help = `
Suites:
${suiteNames.map((name) => `  ${name.padEnd(10)} ${suites[name].purpose}`).join("\n")}

Examples:
  nnhal conformance --device reference --vectors nn-vectors
  nnhal conformance --device reference --vectors nn-vectors --suite mutations --all
  nnhal conformance --device reference --vectors nn-vectors --suite mutations --filter CONV_2D --json`;

/** Adds the command to a program. */
export function registerConformanceCommand(program: Command, context: CommandContext): void {
  program
    .command("conformance")
    .description("run the conformance suites on a device and report what it does wrong")
    .requiredOption("--device <name>", "device to run on")
    .requiredOption("--vectors <dir>", "folder of *.jsonl.gz files, or one such file")
    .addOption(new Option("--suite <name>", "only this suite").choices(suiteNames))
    .option("--filter <text>", "only examples whose name contains the text, or that test the operation of this name")
    .option("--all", `run every mutant, not only about one in ${sample}`)
    .option("--json", "print the report as JSON")
    .option("--time-limit <seconds>", "time after which a case has failed", parseSeconds, 60)
    .addHelpText("after", help)
    .addOption(new Option("--serve <done>", "run in a child process").argParser(Number).hideHelp())
    .addOption(new Option("--singly <count>", "in a child process").argParser(Number).hideHelp())
    .action((options: ConformanceCommandOptions) =>
      options.serve === undefined ? runConformanceCommand(options, context) : serve(options, context),
    );
}

/** Runs the command; the exit code is 1 where a case failed, 2 where nothing could be run. */
export async function runConformanceCommand(
  options: ConformanceCommandOptions,
  context: CommandContext,
): Promise<void> {
  const { stdout, stderr, startSelf } = context;
  const { device, vectors, filter, suite, all = false } = options;
  try {
    const files = await findFiles(vectors);
    const reports: SuiteReport[] = [];
    for (const name of suite === undefined ? suiteNames : [suite]) {
      const summary = await runWithProgress(
        files,
        (onProgress) =>
          startSelf === undefined
            ? runHere(name, files, options, context, onProgress)
            : runInChildren(
                "conformance",
                childArguments(name, options),
                options.timeLimit,
                startSelf,
                onProgress,
                suites[name].batch,
              ),
        context,
        `${name}: `,
      );
      if (summary.total === 0) throw new Error(`no example in ${vectors} matches the filter "${filter}"`);
      const { by, order, note } = suites[name];
      const said = note?.(all);
      reports.push({ suite: name, by, summary, ...(order && { order }), ...(said !== undefined && { note: said }) });
    }
    stdout.write(options.json ? `${JSON.stringify(toJson(device, reports))}\n` : formatReport(device, reports));
    context.setExitCode(reports.some(({ summary }) => summary.failed > 0) ? 1 : 0);
  } catch (error) {
    stderr.write(`nnhal conformance: ${error instanceof Error ? error.message : error}\n`);
    context.setExitCode(2);
  }
}

function childArguments(name: SuiteName, options: ConformanceCommandOptions): string[] {
  const { device, vectors, filter, all, timeLimit } = options;
  const filtering = filter === undefined ? [] : ["--filter", filter];
  const whole = all ? ["--all"] : [];
  const limit = ["--time-limit", String(timeLimit)];
  return ["--suite", name, "--device", device, "--vectors", vectors, ...limit, ...filtering, ...whole];
}

async function* runHere(
  name: SuiteName,
  files: readonly VectorFile[],
  { device, filter, all = false, timeLimit, serve: skip = 0 }: ConformanceCommandOptions,
  { openDevice }: CommandContext,
  onProgress: OnProgress,
  onStart?: OnStart,
): AsyncGenerator<CaseResult> {
  let done = 0;
  const examples = readVectorFiles(files, ({ size, name: file }) => {
    done += size;
    onProgress(done, file);
  });
  const options: SharedOptions = {
    timeLimit: timeLimit * 1000,
    skip,
    ...(filter !== undefined && { filter: (vectorCase) => matchesText(vectorCase, filter) }),
    ...(onStart !== undefined && { onStart }),
  };
  yield* suites[name].run(await openDevice(device), examples, options, all);
}

async function serve(options: ConformanceCommandOptions, context: CommandContext): Promise<void> {
  const { suite = "vectors", vectors, singly } = options;
  await serveResults(
    async function* (onStart, onProgress) {
      yield* runHere(suite, await findFiles(vectors), options, context, onProgress, onStart);
    },
    { batch: suites[suite].batch, ...(singly !== undefined && { singly }) },
  );
}
