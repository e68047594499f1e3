/**
 * `nnhal diff MODEL`: which operation a device computes otherwise than a judge.
 */
import { count } from "@nnhal/program";
import { halVersions } from "@nnhal/types";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ModelCommandContext } from "../context.ts";
import { type DiffCommandOptions, diffPaths } from "../diff/options.ts";
import { usageError } from "../failure.ts";
import {
  addPixelOptions,
  allDevices,
  deviceOption,
  externalBufferOption,
  hybridOption,
  inputShapeOption,
  signatureOption,
} from "../option-values.ts";

const help = `
Each operation runs alone, on the judge's values, and then as the network runs, on what the device itself computed before. The
whole network runs once as well: operations that are right one by one can be wrong together, since devices join them.

What is wrong:
  Of quantised elements a difference above --allow steps, or a mean of the signed differences above a quarter of a step. Of floats
  more than the roundings of the operation explain, or a difference above --allow-float, as a part of the element and of the root
  mean square of its tensor together. What an operation only moves must be equal.
  The exit code is 1 if an operation is wrong, if the device fails, or if the whole network is wrong.

Against a file:
  nnhal diff quantised.tflite --against float.tflite says what the quantisation costs: each operation of the first file gets the
  real numbers of the second, rounded once, and is held against the exact ones. Tensors are matched by name, order and shape.
  Nothing is wrong unless --allow says so. Signal-to-noise ratios say which operations to keep in float first.

Against a folder:
  nnhal diff model.tflite --against tensors reads tensors that another engine computed: a file NAME.npy for each tensor, with _ in place
  of characters that file names cannot have, or INDEX.npy as the .tflite file counts. The inputs of the run are taken from the folder, too.

A device against itself:
  --path, --hal and --relaxed are about --device only. A device has to give the same results in a burst, from its cache and by
  every version of the HAL: nnhal diff model.tflite --device ort --against ort --path burst

Columns:
  alone       the greatest difference on the judge's values, in steps of the type (of floats, units in the last place)
  differ      the share of elements that differ at all
  mean        the mean of the signed differences in steps: a bias if it is not about 0
  SNR         signal-to-noise ratio of the operation alone, in decibels
  network     the greatest difference as the network runs

Examples:
  nnhal diff mobilenet.tflite --device ort
  nnhal diff mobilenet.tflite --device ort --input cat.jpg --all
  nnhal diff mobilenet.tflite --device gpujs --html diff.html
  nnhal diff mobilenet.tflite --device tfjs --against ort --random 5 --json
  nnhal diff mobilenet_int8.tflite --against mobilenet.tflite --input photos
  nnhal --driver sample diff mobilenet.tflite --device sample --save wrong`;

/** Gives the command its arguments, options and work. */
export function registerDiffCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  command
    .argument("<model>", "the .tflite file")
    .argument(
      "[inputs...]",
      "files for the inputs, as of run: a model of one input runs once for each (default: noise)",
    );
  addPixelOptions(command)
    .addOption(signatureOption())
    .addOption(inputShapeOption())
    .addOption(externalBufferOption())
    .addOption(deviceOption(`${allDevices}; reference against a file`))
    .option(
      "--against <judge>",
      "the judge: devices with commas between them, a .tflite file, or a folder with .npy files of tensors (default: reference)",
    )
    .addOption(
      new Option(
        "--path <path>",
        "how the device runs: each request by itself, in a burst, or from its compilation cache",
      )
        .choices(diffPaths)
        .default("sync"),
    )
    .addOption(
      new Option("--hal <version>", "reach the device by this version of the HAL (default: as it is)").choices(
        halVersions,
      ),
    )
    .option("--relaxed", "let the device compute float32 as float16")
    .option("--random <n>", "run on noise from the seeds 1 to n", count(1, 1000))
    .option(
      "--keep-state",
      "each run goes on with what the network keeps of the one before, and not with its first values",
    )
    .addOption(hybridOption())
    .addOption(
      new Option(
        "--allow <steps>",
        "steps that integers and quantised elements may be off (default: 1; any against a file)",
      ).argParser(least0),
    )
    .addOption(
      new Option(
        "--allow-float <part>",
        "the part that floats may be off, such as 1e-4 (default: as the arithmetic of each operation says)",
      ).argParser(least0),
    )
    .option("--all", "list all operations in order (default: those that are wrong, or differ most)")
    .option("--save <folder>", "write each wrong operation as a .tflite file, with its inputs and the judge's outputs")
    .option("--shrink", "with --save: with the smallest inputs that are found to be wrong as well")
    .option("--record <folder>", "write what the device computes in the first run as .npy files, which --against takes")
    .option(
      "--html <file>",
      "write a page: the error along the network, its graph, histograms and values of what differs most",
    )
    .option(
      "--model-explorer <folder>",
      "write errors and devices as node data for Google's Model Explorer, which colours its graph by them",
    )
    .option("--json", "print the report as JSON")
    .addHelpText("after", help)
    .action(async (model: string, files: readonly string[], options: DiffCommandOptions) => {
      if (files.length > 0 && options.random !== undefined)
        throw usageError("--random replaces inputs, but there are some");
      if (options.shrink && options.save === undefined)
        throw usageError("--shrink is about what --save writes, but there is no --save");
      const { runDiffCommand } = await import("../diff/run-diff.ts");
      return runDiffCommand(model, files, options, await context());
    });
}

function least0(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError("Expected a number of at least 0, such as 1.");
}
