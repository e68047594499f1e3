/** `nnhal conformance --device NAME`: runs the suites of the conformance kit on a device, and reports the results. */

import { type Allowances, defaultAllowances, defaultExampleCount, defaultGraphCount } from "@nnhal/conformance";
import { seconds } from "@nnhal/program";
import { type HalVersion, halVersions } from "@nnhal/types";
import { type Command, InvalidArgumentError, Option } from "commander";
import { changesBetween, formatChanges, parseReport } from "../conformance-against.ts";
import { badgeFile } from "../conformance-badge.ts";
import { differencesSection, pageWith } from "../conformance-differences.ts";
import { htmlReport } from "../conformance-html.ts";
import { junitReport } from "../conformance-junit.ts";
import { deviceFacts, formatReport, type SuiteReport, toJson } from "../conformance-report.ts";
import type { CommandContext } from "../context.ts";
import { usageError } from "../failure.ts";
import { ensureWritable, isMissingFile, readUserFile, writeUserFile } from "../files.ts";
import { fit } from "../fit.ts";
import { checkedDeviceOption, type GivenDevice } from "../option-values.ts";
import { asUsageErrors, parseCount, parseMinutes, parseSeed } from "../suite-run.ts";
import { serveCrashJob } from "./conformance-crash.ts";
import { type ConformanceCommandOptions, runSuites, serve, timeLimits } from "./conformance-run.ts";
import {
  failuresFolder,
  purposeOf,
  type SuiteName,
  sample,
  suiteNames,
  vectorSuiteNames,
} from "./conformance-suites.ts";

const help = `
Suites:
${suiteNames.map((name) => `  ${name.padEnd(15)} ${purposeOf(name)}`).join("\n")}

Without --suite, all of them run but networks, crash and accuracy; networks does with --models: of those that need vectors, ${vectorSuiteNames.join(" and ")}, only with --vectors.

Examples:
  nnhal conformance --device reference
  nnhal conformance --device reference --suite memory --suite fenced --hal 1.3
  nnhal conformance --device tfjs --only CONV_2D --minutes 5 --seed 7
  nnhal conformance --device tfjs --suite graphs --graphs 10000 --seed 7
  nnhal conformance --device tfjs --suite arithmetic --examples 100 --differences differences.md
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
        `drive the device through this HAL version (${halVersions.join(", ")}); may be given several times`,
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
    .option(
      "--differences <file>",
      "also write how far results of the suite arithmetic are from the reference's, by operation and type, into this page (Markdown), which keeps what it says of other devices",
    )
    .option("--junit <file>", "also write the report as JUnit XML, for continuous integration")
    .option("--against <file>", "say what has changed since an earlier report, one that --json has printed")
    .option("--seed <number>", "the seed of random examples (default: 1)", parseSeed)
    .option(
      "--only <name>",
      "only the examples of this operation, or the one of this name, in the suite arithmetic, or this graph, such as graphs/1.17",
    )
    .option(
      "--examples <number>",
      `how many random examples of each operation, in the suite arithmetic (default: ${defaultExampleCount})`,
      parseCount,
    )
    .option("--graphs <number>", `how many random graphs (default: ${defaultGraphCount})`, parseCount)
    .option(
      "--minutes <number>",
      "go on with random examples of further seeds, and further graphs, for so long; of the suite crash, how long each target works",
      parseMinutes,
    )
    .option("--models <dir>", "folder of .tflite files, for the suite networks")
    .option("--network <file>", "a .tflite file for the suites crash and accuracy")
    .option("--data <dir>", "inputs with expected answers, for the suite accuracy")
    .option("--failures <dir>", `folder for examples that fail (default: ${failuresFolder}, if one does)`)
    .option(
      "--time-limit <seconds>",
      `time after which a case has failed (default: ${timeLimits.vectors} with vectors, else ${timeLimits.device})`,
      seconds,
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
    .action(async (given: GivenDevice<ConformanceCommandOptions>) => {
      const own = await context();
      const options = { ...given, device: await own.deviceToCheck(given.device) };
      if (options.crashJob !== undefined) await serveCrashJob(options.crashJob, options, own);
      else if (options.serve === undefined) await runConformanceCommand(options, own);
      else await serve(options, own);
    });
}

function collectSuite(text: string, previous: readonly SuiteName[] = []): readonly SuiteName[] {
  const name = suiteNames.find((known) => known === text);
  if (name === undefined) throw new InvalidArgumentError(`Expected one of ${suiteNames.join(", ")}.`);
  return previous.includes(name) ? previous : [...previous, name];
}

function collectVersion(text: string, previous: readonly HalVersion[] = []): readonly HalVersion[] {
  const version = halVersions.find((known) => known === text);
  if (version === undefined) throw new InvalidArgumentError(`Expected one of ${halVersions.join(", ")}.`);
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
    throw new InvalidArgumentError(`Expected one of ${allowanceNames.join(", ")}, then = and a number from 0 up.`);
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
  const { device, html, badge, junit, against, differences } = options;
  await asUsageErrors(async () => {
    const cwd = process.cwd();
    // Faults of the page are reported before the suites run.
    if (differences !== undefined) await readPage(differences, options, cwd);
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
    if (differences !== undefined) {
      const section = await measuredDifferences(options, reports, context);
      // Another run may have written its section meanwhile.
      const page = await readPage(differences, options, cwd);
      await writeUserFile(differences, pageWith(page, device, section, differences), cwd);
    }
    if (junit !== undefined) await writeUserFile(junit, junitReport(device, reports), cwd);
    const changes = before === undefined ? "" : formatChanges(before.changes, before.path);
    if (options.json) context.stderr.write(changes);
    stdout.write(
      options.json ? `${JSON.stringify(json)}\n` : fit(`${changes}${formatReport(device, reports)}`, stdout.columns),
    );
    context.setExitCode(reports.some(({ summary }) => summary.failed > 0) ? 1 : 0);
  });
}

/** The page that differences are written into; undefined if there is none yet. Rejects if the options do not run the whole suite arithmetic. */
async function readPage(
  path: string,
  { suite, only, filter, hal, device }: ConformanceCommandOptions,
  cwd: string,
): Promise<string | undefined> {
  const parts = { "--only": only, "--filter": filter, "--hal": hal };
  const part = Object.entries(parts).find(([, value]) => value !== undefined)?.[0];
  if (part !== undefined) throw usageError(`--differences needs the whole suite arithmetic, without ${part}`);
  if (suite !== undefined && !suite.includes("arithmetic")) {
    throw usageError("--differences needs the suite arithmetic: --suite arithmetic");
  }
  await ensureWritable(path, cwd);
  try {
    const page = new TextDecoder().decode(await readUserFile(path, { what: "page of differences", cwd }));
    pageWith(page, device, "", path);
    return page;
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
}

async function measuredDifferences(
  { device, seed = 1, examples = defaultExampleCount }: ConformanceCommandOptions,
  reports: readonly SuiteReport[],
  context: CommandContext,
): Promise<string> {
  const arithmetic = reports.find(({ suite }) => suite === "arithmetic");
  if (arithmetic === undefined)
    throw new Error("the suite arithmetic has not run, so there are no differences to write");
  return differencesSection(deviceFacts(device, await context.openDevice(device)), arithmetic.summary, {
    seed,
    examples,
  });
}
