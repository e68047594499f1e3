/**
 * `nnhal graph MODEL`: draws a model.
 */

import { basename, extname } from "node:path";
import { viewModel } from "@nnhal/backend";
import type { ExtensionDefinition } from "@nnhal/operations";
import { exitCodes } from "@nnhal/program";
import type { Model } from "@nnhal/types";
import { type DotOptions, type GraphDumpOptions, graphDump, graphToJson, graphToSvg } from "@nnhal/utils/graph";
import { type Command, Option } from "commander";
import type { ModelCommandContext } from "../context.ts";
import { messageOf, usageError } from "../failure.ts";
import { fileGraphDot, fileGraphJson, fileGraphSvg } from "../file-graph.ts";
import { writeUserFile } from "../files.ts";
import { type BlockedFile, loadHalModel } from "../model/load-hal.ts";
import { addEntryOptions, type EntryOptions, entryOf } from "../option-values.ts";
import { renderPng } from "../render-graph.ts";
import { formatCount, oneLine } from "../text.ts";

const formats = ["dot", "json", "svg", "png"] as const;
type Format = (typeof formats)[number];

/** The command's options, as commander parses them. */
export interface GraphCommandOptions extends EntryOptions {
  readonly output?: string;
  /** Default: by the name of the output, else dot. */
  readonly format?: Format;
  readonly constants: NonNullable<DotOptions["constants"]>;
  /** True if the module of `nnhal-wasm` is written, as text. Default: no. */
  readonly wasm?: boolean;
}

const help = `
The model is a .tflite file, or one conformance example as JSON. Of a .tflite file that cannot become a HAL model, the
file's own operators are drawn, those that are blocked in red, and the exit code is 1.

Operations and operands have the indexes of the model, which begin with 0, as in Android's drawings.

SVG needs nothing else: colors by the kind of operation, and the names of tensors; with the pointer on a box or a line it
shows more. A long network is folded into columns. PNG is drawn by Graphviz's program dot; with --constants nodes, as
Android draws models, that can take minutes for a large network.

With --wasm the module that the device nnhal-wasm makes of the network is written, as text: a function for each step, with
the names of its operations.

Examples:
  nnhal graph mobilenet.tflite -o mobilenet.svg
  nnhal graph mobilenet.tflite --wasm -o mobilenet.wat
  nnhal graph mobilenet.tflite --constants nodes > mobilenet.dot
  nnhal graph mobilenet.tflite --format json`;

/** Gives the command its arguments, options and work. */
export function registerGraphCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  addEntryOptions(
    command
      .argument("<model>", "the .tflite file, or a conformance example as JSON")
      .option("-o, --output <file>", "write to this file (default: to the standard output)")
      .addOption(
        new Option("--format <format>", "the output's format (default: by the output's name, else dot)").choices(
          formats,
        ),
      )
      .addOption(
        new Option("--constants <where>", "inside the operations that read them, or as nodes of their own")
          .choices(["inside", "nodes"])
          .default("inside"),
      )
      .addOption(new Option("--wasm", "write the module of nnhal-wasm as text").conflicts("format")),
  )
    .addHelpText("after", help)
    .action(async (model: string, options: GraphCommandOptions) => runGraphCommand(model, options, await context()));
}

type GraphContext = Pick<ModelCommandContext, "cwd" | "stdout" | "stderr" | "devices" | "setExitCode">;

/** Runs the command. Rejects with a CommandError. */
export async function runGraphCommand(
  path: string,
  { output, wasm = false, format = wasm ? "dot" : formatOf(output), constants, ...entry }: GraphCommandOptions,
  { cwd, stdout, stderr, devices, setExitCode }: GraphContext,
): Promise<void> {
  if (format === "png" && output === undefined) throw usageError("a PNG needs a file to go to: add --output");
  const extensions = await devices.definitions();
  const loaded = await loadHalModel(path, cwd, { customOperators: extensions, ...entryOf(entry) });
  const isBlocked = "problems" in loaded;
  if (wasm) {
    if (isBlocked) throw usageError(`${path} cannot become a HAL model: ${oneLine(loaded.problems[0]?.message ?? "")}`);
    const text = await wasmText(loaded.model, extensions);
    if (output === undefined) stdout.write(text);
    else await writeUserFile(output, text, cwd);
    return;
  }
  const drawn = await (isBlocked
    ? drawFile(basename(path), loaded, format)
    : draw(basename(path), loaded.model, format, {
        ...{ constants, extensions },
        ...{ operandNames: loaded.operandNames, referencedNames: loaded.referencedNames },
      }));
  if (output === undefined) stdout.write(String(drawn));
  else await writeUserFile(output, drawn, cwd);
  if (!isBlocked) return;
  const [first] = loaded.problems;
  const what = `${formatCount(loaded.problems.length, "problem")}, the first: ${oneLine(first?.message ?? "")}`;
  stderr.write(`nnhal graph: note: this is the file itself, which cannot become a HAL model: ${what}\n`);
  setExitCode(exitCodes.failed);
}

/** The module of a model as text. Rejects with a usage error if there is none. */
async function wasmText(model: Model, extensions: readonly ExtensionDefinition[]): Promise<string> {
  const { moduleText } = await import("@nnhal/backend-wasm/text");
  const pools = model.pools.map(({ handle, size }) => {
    if (handle === null || !("buffer" in handle)) throw new TypeError("the pools of a model from a file are buffers");
    return new Uint8Array(handle.buffer, handle.byteOffset, size);
  });
  try {
    return await moduleText(viewModel({ model, pools, extensions }));
  } catch (error) {
    throw usageError(`nnhal-wasm makes no module of this network: ${messageOf(error)}`, error);
  }
}

/** Draws a file that cannot become a HAL model. Throws a usage error if its indexes are out of range. */
function drawFile(name: string, { problems, inspection }: BlockedFile, format: Format): Promise<string | Uint8Array> {
  if (inspection === undefined) {
    const [first] = problems;
    throw usageError(`the model ${name} cannot be used: ${first?.path}: ${oneLine(first?.message ?? "")}`);
  }
  if (format === "json") return Promise.resolve(`${JSON.stringify(fileGraphJson(name, inspection))}\n`);
  if (format === "svg") return Promise.resolve(fileGraphSvg(name, inspection));
  return renderDot(fileGraphDot(name, inspection), format);
}

/** The format of a file by its name. Throws a usage error for a name of no known format. */
function formatOf(output: string | undefined): Format {
  if (output === undefined) return "dot";
  const extension = extname(output).slice(1).toLowerCase();
  const format = formats.find((known) => known === extension);
  if (format !== undefined) return format;
  throw usageError(
    `the name ${output} does not end in ${formats.map((known) => `.${known}`).join(", ")}: add --format`,
  );
}

async function draw(
  name: string,
  model: Model,
  format: Format,
  options: GraphDumpOptions,
): Promise<string | Uint8Array> {
  if (format === "json") return `${JSON.stringify(graphToJson(name, model, options))}\n`;
  if (format === "svg") return graphToSvg(name, model, options);
  const lines: string[] = [];
  graphDump(name, model, { write: (line) => lines.push(line) }, options);
  return renderDot(lines.join(""), format);
}

async function renderDot(dot: string, format: "dot" | "png"): Promise<string | Uint8Array> {
  return format === "dot" ? dot : renderPng(dot);
}
