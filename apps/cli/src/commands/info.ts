/**
 * `nnhal info MODEL`: what a .tflite file holds, and what becomes of its operators. The file need not be able to run.
 */

import { newestHalVersion } from "@nnhal/types";
import type { Command } from "commander";
import type { ModelCommandContext } from "../context.ts";
import { fit } from "../fit.ts";
import { formatInfo, infoJson } from "../info-report.ts";
import { formatParts, readParts } from "../model/container-parts.ts";
import { inspectFile } from "../model/load.ts";
import { addEntryOptions, type EntryOptions, entryOf } from "../option-values.ts";

/** The command's options, as commander parses them. */
export interface InfoCommandOptions extends EntryOptions {
  readonly json?: boolean;
}

const help = `
Shows signatures, inputs and outputs with their quantisation, what the model keeps between runs, the number and kind of operators and what becomes of them,
sizes, multiply-adds, and what the maker says about the model. For each operator:
  HAL         the HAL operations that it becomes
  a constant  it is computed when the model is loaded
  not used    no output depends on it
  blocked     why the model cannot run

Of a container, a .task or .litertlm file, it lists the parts, and with --part shows one.

Exit codes:
  0  the file could be read, whether or not its model can run
  2  the file does not exist, is not a .tflite file, or is broken

Examples:
  nnhal info mobilenet.tflite
  nnhal info mobilenet.tflite --json
  nnhal info two-signatures.tflite --signature encode
  nnhal info hand.task --part hand_detector.tflite`;

/** Gives the command its arguments, options and work. */
export function registerInfoCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  addEntryOptions(command.argument("<model>", "the .tflite file"))
    .option("--json", "print the report as JSON")
    .addHelpText("after", help)
    .action(async (model: string, options: InfoCommandOptions) => runInfoCommand(model, options, await context()));
}

/** Runs the command. Rejects with a CommandError. */
export async function runInfoCommand(
  path: string,
  { json = false, ...entry }: InfoCommandOptions,
  { cwd, stdout, devices }: Pick<ModelCommandContext, "cwd" | "stdout" | "devices">,
): Promise<void> {
  const isChosen = Object.values(entry).some((option) => option !== undefined);
  const parts = isChosen ? undefined : await readParts(path, cwd);
  if (parts !== undefined) {
    stdout.write(json ? `${JSON.stringify(parts)}\n` : fit(formatParts(parts), stdout.columns));
    return;
  }
  const importing = {
    customOperators: await devices.definitions(),
    halVersion: newestHalVersion,
    ...entryOf(entry),
  };
  const { bytes, inspection } = await inspectFile(path, cwd, importing);
  const info = infoJson(path, bytes.length, inspection, entry);
  stdout.write(json ? `${JSON.stringify(info)}\n` : fit(formatInfo(info), stdout.columns));
}
