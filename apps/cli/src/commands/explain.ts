/**
 * `nnhal explain MODEL`: which operation goes to which device, why, and how the model is divided.
 */

import { androidPolicy, askAndPlan, costPolicy, withoutTrailingDefaults } from "@nnhal/driver-core/partition";
import { nameOperations } from "@nnhal/network/session";
import { exitCodes } from "@nnhal/program";
import { type GuardedDevice, guardDevice, Model } from "@nnhal/runtime";
import { type Device, ExecutionPreference } from "@nnhal/types";
import { minimumVersion } from "@nnhal/validation";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ModelCommandContext } from "../context.ts";
import type { DeviceSelection } from "../devices.ts";
import { formatExplanation } from "../explain/explain-report.ts";
import {
  type ExplainedPlan,
  type Explanation,
  explainAnswers,
  explainFile,
  explainPlan,
} from "../explain/explanation.ts";
import { measurePlan } from "../explain/measure-plan.ts";
import { drawExplanation } from "../explain/svg.ts";
import { failure, messageOf } from "../failure.ts";
import { writeUserFile } from "../files.ts";
import { fit } from "../fit.ts";
import { inspectFile, type LoadedModel, modelOfFile } from "../model/load.ts";
import { shownNames } from "../model/load-hal.ts";
import {
  addEntryOptions,
  deviceOption,
  type EntryOptions,
  entryOf,
  type Hybrid,
  hybridOption,
} from "../option-values.ts";
import { oneLine } from "../text.ts";

/** The command's options, as commander parses them. */
export interface ExplainCommandOptions extends EntryOptions {
  readonly device: string;
  readonly hybrid: Hybrid;
  readonly preference: ExecutionPreference;
  readonly policy: "cost" | "android";
  readonly run?: boolean;
  readonly verbose?: boolean;
  readonly json?: boolean;
  readonly svg?: string;
}

const help = `
Examples:
  nnhal explain mobilenet.tflite
  nnhal explain mobilenet.tflite --device tfjs,reference --svg mobilenet.svg
  nnhal explain mobilenet.tflite --verbose
  nnhal explain mobilenet.tflite --policy android --run --json`;

/** Gives the command its arguments, options and work. */
export function registerExplainCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  addEntryOptions(command.argument("<model>", "the .tflite file").addOption(deviceOption()).addOption(hybridOption()))
    .addOption(
      new Option("--preference <name>", "FAST_SINGLE_ANSWER, SUSTAINED_SPEED or LOW_POWER")
        .argParser(parsePreference)
        .default(ExecutionPreference.FAST_SINGLE_ANSWER, "FAST_SINGLE_ANSWER"),
    )
    .addOption(
      new Option("--policy <policy>", "cost also counts boundaries between devices; android decides as Android does")
        .choices(["cost", "android"])
        .default("cost"),
    )
    .option("--run", "also run the model on noise, and time each step and each operation")
    .option("--svg <file>", "write a picture of the graph, colored by device")
    .option("--verbose", "explain each operation: types and shapes, the answer of each device, and the reason")
    .option("--json", "print the explanation as JSON")
    .addHelpText("after", help)
    .action(async (model: string, options: ExplainCommandOptions) =>
      runExplainCommand(model, options, await context()),
    );
}

const preferenceNames = new Map(Object.entries(ExecutionPreference).map(([name, code]) => [code, name]));

function parsePreference(text: string): ExecutionPreference {
  const wanted = text.toUpperCase().replaceAll("-", "_");
  for (const [code, name] of preferenceNames) if (name === wanted) return code;
  throw new InvalidArgumentError(`Expected one of ${[...preferenceNames.values()].join(", ")}.`);
}

/** Runs the command; the exit code is 1 if there is no plan. Rejects with a CommandError. */
export async function runExplainCommand(
  path: string,
  options: ExplainCommandOptions,
  context: ModelCommandContext,
): Promise<void> {
  const { cwd, stdout, stderr, devices, setExitCode } = context;
  const { hybrid } = options;
  const importing = {
    hybrid,
    customOperators: await devices.definitions(),
    halVersion: await devices.halVersion(options.device),
    ...entryOf(options),
  };
  const file = await inspectFile(path, cwd, importing);
  const model = modelOfFile(file);
  if (file.part !== undefined && options.part === undefined)
    stderr.write(`nnhal explain: note: this is ${oneLine(file.part)}, the only model of the file\n`);
  const selection = await devices.select(options.device);
  // A breach of the rules by a device is a reason why it takes nothing.
  const all = inPlanningOrder(selection).map(guardDevice);
  const explanation: Explanation = {
    model: path,
    policy: options.policy,
    preference: preferenceNames.get(options.preference) ?? "",
    devices: all.map(({ name }) => name),
    halVersions: Object.fromEntries(all.map(({ name, halVersion }) => [name, halVersion])),
    ...(model === undefined ? explainFile(file.inspection) : await explain(model, selection, all, options, context)),
  };
  if (options.svg !== undefined) {
    if (model === undefined)
      stderr.write("nnhal explain: note: there is no plan to draw; nnhal graph draws the file\n");
    else await writeUserFile(options.svg, drawExplanation(explanation), cwd);
  }
  stdout.write(
    options.json ? `${JSON.stringify(explanation)}\n` : fit(formatExplanation(explanation, options), stdout.columns),
  );
  if (explanation.problem !== undefined) setExitCode(exitCodes.failed);
}

/** The CPU that others fall back to comes last. */
function inPlanningOrder({ devices, cpu }: DeviceSelection): readonly Device[] {
  return cpu === undefined ? devices : [...devices.filter((device) => device !== cpu), cpu];
}

async function explain(
  model: LoadedModel,
  selection: DeviceSelection,
  all: readonly GuardedDevice[],
  { preference, policy: name, run = false }: ExplainCommandOptions,
  { now, stderr, devices }: ModelCommandContext,
): Promise<ExplainedPlan & Partial<Explanation>> {
  const policy = name === "android" ? androidPolicy : costPolicy;
  const { cpu } = selection;
  const { hal } = validate(model);
  const definitions = { extensions: await devices.definitions() };
  const options = { definitions, ...shownNames(model) };
  const asked = withoutTrailingDefaults(hal);
  const minimum = minimumVersion(asked, { mode: "runtime", ...definitions });
  const needs = minimum === undefined ? {} : { minimumVersion: minimum };
  const planned = await askAndPlan(hal, all, { preference, policy, ...(cpu && { cpu: cpu.name }) });
  if ("unplannable" in planned) {
    const problem = nameOperations(planned.message, definitions.extensions);
    return { ...needs, ...(await explainAnswers(asked, all, options)), problem };
  }
  if (!run) return { ...needs, ...(await explainPlan(planned, all, undefined, options)) };
  const note = (message: string) => stderr.write(`nnhal explain: note: ${oneLine(message)}\n`);
  const measuring = { preference, policy, onFallback: note };
  const { plan: ran, measured, untimed } = await measurePlan(model, selection, measuring, now);
  if (untimed !== undefined) note(`operations are not timed: ${untimed}`);
  return { ...needs, ...(await explainPlan(ran, all, measured, options)) };
}

function validate(model: LoadedModel): Model {
  try {
    return Model.from(model.model);
  } catch (error) {
    throw failure(`the model cannot be explained: ${oneLine(messageOf(error))}`, error);
  }
}
