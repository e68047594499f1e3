/**
 * `nnhal vectors DIR`: runs a folder of conformance vectors on a device and says which operations are right.
 *
 * The examples run in a second process, a child of this one with the same arguments and `--serve`: where an example
 * crashes it or hangs in it, the example has failed and another child goes on.
 */

import {
  type CaseResult,
  type ExecutionPath,
  executionPaths,
  matchesText,
  type OnProgress,
  type OnStart,
  readVectorFiles,
  runVectors,
  runVectorsThrough,
  type VectorFile,
  type VectorsOptions,
} from "@nnhal/conformance";
import { seconds } from "@nnhal/program";
import { type HalVersion, halVersions } from "@nnhal/types";
import { type Command, Option } from "commander";
import type { CommandContext } from "../context.ts";
import { fit } from "../fit.ts";
import { checkedDeviceOption, type GivenDevice } from "../option-values.ts";
import { asUsageErrors, findFiles, runInChildren, runWithProgress, serveCases, untilOffline } from "../suite-run.ts";
import { formatReport, toJson } from "../vectors-report.ts";

/** The command's options, as commander parses them. */
export interface VectorsCommandOptions {
  readonly device: string;
  readonly filter?: string;
  readonly variants?: boolean;
  readonly path: ExecutionPath;
  readonly hal?: HalVersion;
  readonly json?: boolean;
  /** Seconds. */
  readonly timeLimit: number;
  /** Set in a child: how many cases are done. */
  readonly serve?: number;
}

const help = `
Examples:
  nnhal vectors nn-vectors --device reference
  nnhal vectors nn-vectors --device reference --variants --filter CONV_2D
  nnhal vectors nn-vectors --device reference --path device-memory
  nnhal vectors nn-vectors --device reference --hal aidl4 --path burst
  nnhal vectors nn-vectors --backend ./my-backend.js --device mine --json`;

/** Gives the command its arguments, options and work. */
export function registerVectorsCommand(command: Command, context: () => Promise<CommandContext>): void {
  command
    .argument("<dir>", "folder of *.jsonl.gz files, or one such file")
    .addOption(checkedDeviceOption())
    .option("--filter <text>", "only examples whose name contains the text, or that test the operation of this name")
    .option("--variants", "also run each example without output dimensions, and unsigned examples as signed")
    .addOption(new Option("--path <path>", "how to execute").choices(executionPaths).default("sync"))
    .addOption(
      new Option("--hal <version>", "drive the device through this HAL version (default: as it is)").choices(
        halVersions,
      ),
    )
    .option("--json", "print the report as JSON")
    .option("--time-limit <seconds>", "time after which an example has failed", seconds, 60)
    .addHelpText("after", help)
    .addOption(new Option("--serve <done>", "run in a child process").argParser(Number).hideHelp())
    .action(async (dir: string, given: GivenDevice<VectorsCommandOptions>) => {
      const own = await context();
      const options = { ...given, device: await own.deviceToCheck(given.device) };
      await (options.serve === undefined ? runVectorsCommand(dir, options, own) : serve(dir, options, own));
    });
}

/** Runs the command; the exit code is 1 if an example failed. Rejects with a usage error if nothing could be run. */
export async function runVectorsCommand(
  dir: string,
  options: VectorsCommandOptions,
  context: CommandContext,
): Promise<void> {
  await asUsageErrors(async () => {
    const files = await findFiles(dir);
    const summary = await runWithProgress(
      files,
      (onProgress) =>
        context.startSelf === undefined
          ? runHere(files, options, context, onProgress)
          : runElsewhere(dir, options, context.startSelf, onProgress),
      context,
    );
    if (summary.total === 0) throw new Error(`no example in ${dir} matches the filter "${options.filter ?? ""}"`);
    const { stdout } = context;
    const { device, hal, json } = options;
    const through = hal === undefined ? device : `${device} through HAL ${hal}`;
    if (json) stdout.write(`${JSON.stringify(toJson(device, hal, summary))}\n`);
    else stdout.write(fit(formatReport(through, summary), stdout.columns));
    context.setExitCode(summary.failed > 0 ? 1 : 0);
  });
}

async function* runHere(
  files: readonly VectorFile[],
  { device, filter, variants = false, path, hal, timeLimit, serve: skip = 0 }: VectorsCommandOptions,
  { openDevice }: CommandContext,
  onProgress: OnProgress,
  onStart?: OnStart,
): AsyncGenerator<CaseResult> {
  let done = 0;
  const examples = readVectorFiles(files, ({ size, name }) => {
    done += size;
    onProgress(done, name);
  });
  const opened = await openDevice(device);
  const given: VectorsOptions = {
    variants,
    path,
    timeLimit: timeLimit * 1000,
    skip,
    ...(filter !== undefined && { filter: (vectorCase) => matchesText(vectorCase, filter) }),
    ...(onStart !== undefined && { onStart }),
  };
  const results =
    hal === undefined ? runVectors(opened, examples, given) : runVectorsThrough(hal, opened, examples, given);
  yield* untilOffline(opened, results);
}

function runElsewhere(
  dir: string,
  { device, filter, variants, path, hal, timeLimit }: VectorsCommandOptions,
  startSelf: NonNullable<CommandContext["startSelf"]>,
  onProgress: OnProgress,
): AsyncGenerator<CaseResult> {
  const filtering = filter === undefined ? [] : ["--filter", filter];
  const deriving = variants ? ["--variants"] : [];
  const args = [
    "--device",
    device,
    "--path",
    path,
    "--time-limit",
    String(timeLimit),
    ...filtering,
    ...deriving,
    ...(hal === undefined ? [] : ["--hal", hal]),
    "--",
    dir,
  ];
  return runInChildren("vectors", args, timeLimit, startSelf, onProgress);
}

async function serve(dir: string, options: VectorsCommandOptions, context: CommandContext): Promise<void> {
  await serveCases(context, async function* (onStart, onProgress) {
    yield* runHere(await findFiles(dir), options, context, onProgress, onStart);
  });
}
