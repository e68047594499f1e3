/**
 * `nnhal validate MODEL`: lists the rules of the HAL that a model breaks, the oldest HAL version that it fits, and what
 * in it needs that version.
 */

import type { ExtensionDefinition } from "@nnhal/operations";
import { exitCodes } from "@nnhal/program";
import type { TfliteProblem } from "@nnhal/tflite";
import { type HalVersion, halVersions, type Model, newestHalVersion } from "@nnhal/types";
import {
  type Issue,
  minimumVersion,
  modelIssues,
  type VersionRequirement,
  versionRequirements,
} from "@nnhal/validation";
import { type Command, Option } from "commander";
import type { ModelCommandContext } from "../context.ts";
import { fit } from "../fit.ts";
import { type BlockedFile, loadHalModel } from "../model/load-hal.ts";
import { addEntryOptions, type EntryOptions, entryOf } from "../option-values.ts";
import { columns, oneLine } from "../text.ts";

/** The command's options, as commander parses them. */
export interface ValidateCommandOptions extends EntryOptions {
  /** Default: the newest. */
  readonly hal?: HalVersion;
  readonly rules: "runtime" | "driver";
  readonly json?: boolean;
}

/**
 * A fault of a .tflite file: `tflite-index`: an index is out of range; `tflite-blocked`: the HAL cannot express something
 * in it. The path is that in the file.
 */
export interface FileIssue {
  readonly code: "tflite-index" | "tflite-blocked";
  readonly path: string;
  readonly message: string;
  /** The operator and the tensor that it is about, if there are such. */
  readonly operator?: TfliteProblem["operator"];
  readonly tensor?: TfliteProblem["tensor"];
  /** Remedy, if one is known. */
  readonly help?: string;
}

/** Output of `--json`. */
export interface ValidationJson {
  /** At the version asked for. */
  readonly valid: boolean;
  /** Null if the model is not valid at any version. */
  readonly minimumVersion: HalVersion | null;
  readonly issues: readonly (Issue | FileIssue)[];
  /** The operations and operands that need the minimum version; empty if that is 1.0 or null. */
  readonly requirements: readonly Pick<VersionRequirement, "path" | "message">[];
}

const help = `
The model is a .tflite file, or one conformance example as JSON.

Exit codes:
  0  the model is valid
  1  it is not, or the HAL cannot express it
  2  the file does not exist, or it holds no model

Examples:
  nnhal validate mobilenet.tflite
  nnhal validate mobilenet.tflite --hal 1.1
  nnhal validate example.json --hal aidl2
  nnhal validate example.json --rules driver --json`;

/** Gives the command its arguments, options and work. */
export function registerValidateCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  addEntryOptions(
    command
      .argument("<model>", "the .tflite file, or a conformance example as JSON")
      .addOption(
        new Option("--hal <version>", `the HAL version whose rules apply (default: ${newestHalVersion})`).choices(
          halVersions,
        ),
      )
      .addOption(
        new Option("--rules <whose>", "the runtime's rules, or those of drivers, which do not loop over unknown sizes")
          .choices(["runtime", "driver"])
          .default("runtime"),
      ),
  )
    .option("--json", "print the result as JSON")
    .addHelpText("after", help)
    .action(async (path: string, options: ValidateCommandOptions) =>
      runValidateCommand(path, options, await context()),
    );
}

/** Runs the command. Rejects with a CommandError. */
export async function runValidateCommand(
  path: string,
  { hal = newestHalVersion, rules, json = false, ...entry }: ValidateCommandOptions,
  { cwd, stdout, devices, setExitCode }: Pick<ModelCommandContext, "cwd" | "stdout" | "devices" | "setExitCode">,
): Promise<void> {
  const customOperators = await devices.definitions();
  const loaded = await loadHalModel(path, cwd, {
    forValidation: true,
    customOperators,
    halVersion: hal,
    ...entryOf(entry),
  });
  const result = "problems" in loaded ? blockedFile(loaded) : validate(loaded.model, hal, rules, customOperators);
  stdout.write(
    json ? `${JSON.stringify(result)}\n` : fit(`${formatResult(result, path, hal).join("\n")}\n`, stdout.columns),
  );
  if (!result.valid) setExitCode(exitCodes.failed);
}

function blockedFile({ problems, inspection }: BlockedFile): ValidationJson {
  const code = inspection === undefined ? "tflite-index" : "tflite-blocked";
  const issues = problems.map((problem): FileIssue => ({ code, ...problem }));
  return { valid: false, minimumVersion: null, issues, requirements: [] };
}

function validate(
  model: Model,
  version: HalVersion,
  mode: ValidateCommandOptions["rules"],
  extensions: readonly ExtensionDefinition[],
): ValidationJson {
  const issues = modelIssues(model, { version, mode, extensions, limit: Number.POSITIVE_INFINITY });
  const minimum = minimumVersion(model, { mode, extensions }) ?? null;
  const requirements = minimum === null ? [] : (versionRequirements(model, { mode, extensions }) ?? []);
  return {
    valid: issues.length === 0,
    minimumVersion: minimum,
    issues,
    requirements: requirements
      .filter((requirement) => requirement.version === minimum)
      .map(({ path, message }) => ({ path, message })),
  };
}

function formatResult(
  { valid, minimumVersion: minimum, issues, requirements }: ValidationJson,
  path: string,
  hal: HalVersion,
): string[] {
  const counted = `${issues.length} ${issues.length === 1 ? "rule is" : "rules are"} broken`;
  const verdict = valid ? `valid in HAL ${hal}` : `not valid in HAL ${hal}: ${counted}`;
  const oldest = minimum === null ? "it fits no HAL version" : `the oldest HAL version that it fits is ${minimum}`;
  return [
    `${path}: ${verdict}`,
    ...columns(issues.map((issue) => [`  ${issue.code}`, issue.path, messageOf(issue)])),
    requirements.length === 0 ? oldest : `${oldest}:`,
    ...columns(groupRequirements(requirements).map(({ message, places }) => [`  ${message}`, placesText(places)])),
  ];
}

function messageOf(issue: Issue | FileIssue): string {
  const help = "help" in issue && issue.help !== undefined ? `; ${issue.help}` : "";
  return oneLine(issue.message + help);
}

/** The same need of many operations or operands is one line. */
function groupRequirements(requirements: ValidationJson["requirements"]) {
  const groups = new Map<string, string[]>();
  for (const { path, message } of requirements) {
    const places = groups.get(message);
    if (places === undefined) groups.set(message, [path]);
    else places.push(path);
  }
  return [...groups].map(([message, places]) => ({ message: oneLine(message), places }));
}

const shownPlaces = 2;

function placesText(places: readonly string[]): string {
  const rest = places.length - shownPlaces;
  return [...places.slice(0, shownPlaces), ...(rest > 0 ? [`and ${rest} more`] : [])].join(", ");
}
