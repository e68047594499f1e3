/**
 * `nnhal run MODEL`: runs a model on pictures, arrays, sounds, raw tensors or noise, and shows its outputs.
 */
import { collect, count } from "@nnhal/program";
import { type Command, Option } from "commander";
import type { ModelCommandContext } from "../context.ts";
import { usageError } from "../failure.ts";
import { addInputOptions, addTaskOptions, deviceOption, hybridOption } from "../option-values.ts";
import type { RunCommandOptions } from "../run/options.ts";

const help = `
Inputs:
  The first bytes of a file say what it is; - is the standard input. A model of one input runs once for each file, and
  once for each input in a folder.
  PNG, JPEG, WebP, GIF and BMP pictures are resized to the input tensor (the whole picture, bilinear). Bytes then hold the pixel
  (signed ones the pixel - 128), floats (pixel - 128) / 128. With --mean or --std the real value is (pixel - mean) / std
  for every type, quantised by the tensor's scale and zero point.
  .npy arrays have the tensor's shape. WAV sounds become one channel from -1 to 1 at the model's --rate. One that is
  longer than the input runs in parts, of whose outputs the means are shown; the last part ends with silence. A text is
  as many numbers as the tensor has elements. A file whose name ends in .bin is the tensor itself: little-endian
  elements, nothing else.

Outputs:
  What is shown follows from the outputs and what the maker says of them: boxes of a detector, areas of a segmenter, points of a pose
  network, the best classes, or the first values. --task says it; --task values shows what the model returns, --json and
  --output-dir have it in any case. Places are in pixels of the picture; for other inputs in pixels of the model's input.

State:
  What a model keeps between runs, such as the cells of an LSTM, starts with the file's first values in every run. With --state
  the runs follow one another: several inputs are steps of one sequence, and the next command goes on where this one ended.
  The file is JSON with the name, type, shape and values of each state. You may change values; a state that you take out
  has its first value.

Examples:
  nnhal run mobilenet.tflite --input cat.jpg --labels imagenet_labels.txt
  nnhal run mobilenet.tflite *.jpg --csv > classes.csv
  nnhal run mobilenet.tflite pictures/
  curl -s https://example.com/cat.jpg | nnhal run mobilenet.tflite -
  nnhal run mobilenet.tflite --input cat.jpg --runs 20 --json
  nnhal run mobilenet.tflite --input cat.jpg --profile
  nnhal run detector.tflite street.jpg
  nnhal run detector.tflite street.jpg --labels coco.txt --threshold 0.3 --draw seen.png
  nnhal run two-inputs.tflite --input left.png --input right.npy --output-dir results
  nnhal run lstm.tflite --random 1 --device reference
  nnhal run reviews.tflite --text "What a good film!"
  nnhal run speech.tflite first.wav second.wav --state speech.json
  nnhal run two-signatures.tflite --signature encode --random 1
  nnhal run mobilenet.tflite --random 1 --runs 20 --trace trace.json
  nnhal run resnet.tflite --input dog.png --mean 124,117,104 --std 58,57,57`;

/** Gives the command its arguments, options and work. */
export function registerRunCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  command
    .argument("<model>", "the .tflite file")
    .argument("[inputs...]", "the same as --input: pictures, arrays, sounds, texts, raw tensors, or folders of them")
    .option("--input <file>", "a file for an input of the model, in order; - is the standard input", collect)
    .addOption(
      new Option("--random <seed>", "fill the inputs with noise from a seed instead")
        .argParser(count(0, 2 ** 31 - 1))
        .conflicts(["input", "mean", "std"]),
    )
    .addOption(
      new Option(
        "--text <text>",
        "a text for a model of strings, or for one that comes with a tokenizer: the values of all inputs",
      ).conflicts(["input", "random", "mean", "std", "rate", "draw"]),
    );
  addTaskOptions(addInputOptions(command))
    .option(
      "--rate <hz>",
      "samples in a second of the sounds that the model takes (default: 16000)",
      count(1000, 768_000),
    )
    .option("--top <k>", "how many classes to show", count(1, 1_000_000), 5)
    .addOption(deviceOption())
    .addOption(hybridOption())
    .addOption(
      new Option(
        "--state <file>",
        "what the model keeps between runs: read from this file if it exists, and written to it after the last run",
      ),
    )
    .option("--reset-state", "with --state: begin with the first values, whatever is in the file")
    .option("--output-dir <dir>", "write each output tensor raw to output<k>.bin in this folder")
    .option(
      "--runs <n>",
      "number of further runs after the first; prints the fastest and the median",
      count(1, 1_000_000),
    )
    .option(
      "--profile",
      "also run each operation in a step of its own, and print the time of each, of several inputs the sum",
    )
    .addOption(
      new Option(
        "--model-explorer <folder>",
        "with --profile: write times and devices as node data for Google's Model Explorer",
      ).implies({ profile: true }),
    )
    .option(
      "--draw <file>",
      "draw what a detector, segmenter or pose network sees onto the picture, as this PNG file; for several pictures a folder",
    )
    .option("--trace <file>", "write the durations of all steps to this file, for ui.perfetto.dev")
    .option("--json", "print the report as JSON, with the values of outputs of up to 1000 elements")
    .addOption(new Option("--all-values", "with --json: the values of all outputs").implies({ json: true }))
    .addOption(
      new Option(
        "--csv",
        "print what was found (boxes, areas, points, the best classes, or all values) as CSV",
      ).conflicts(["json", "allValues", "profile", "draw"]),
    )
    .addHelpText("after", help)
    .action(async (model: string, files: readonly string[], { input = [], ...options }: RunCommandOptions) => {
      const all = [...files, ...input];
      if (all.length > 0 && options.random !== undefined)
        throw usageError("--random replaces inputs, but there are some");
      if (all.length > 0 && options.text !== undefined) throw usageError("--text replaces inputs, but there are some");
      if (options.resetState && options.state === undefined)
        throw usageError("--reset-state is about the file of --state, but there is no --state");
      const { runModelCommand } = await import("../run/run-model.ts");
      return runModelCommand(model, { ...options, ...(all.length > 0 && { input: all }) }, await context());
    });
}
