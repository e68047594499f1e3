/**
 * Values of options, checked as commander reads them.
 */
import type { ImportOptions } from "@nnhal/tflite";
import { type Command, InvalidArgumentError, Option } from "commander";
import { tasks } from "./task-names.ts";

/** Value of `--device` for all devices that work here. */
export const allDevices = "auto";

/** One number, or three with commas between them: one for each of red, green and blue. */
function channelNumbers(text: string): readonly number[] {
  const parts = text.split(",");
  const values = parts.map(Number);
  const isRight = (values.length === 1 || values.length === 3) && parts.every((part) => part.trim() !== "");
  if (isRight && values.every(Number.isFinite)) return values;
  throw new InvalidArgumentError("Expected one number, or three for red, green and blue, such as 124,117,104.");
}

/** The same without 0, to divide by. */
function channelDivisors(text: string): readonly number[] {
  const values = channelNumbers(text);
  if (!values.includes(0)) return values;
  throw new InvalidArgumentError("0 cannot be divided by.");
}

/** Adds the options for what becomes of pixels. */
export function addPixelOptions(command: Command): Command {
  return command
    .option(
      "--mean <numbers>",
      "subtract this from pixels: one number, or red,green,blue (default: 128)",
      channelNumbers,
    )
    .option("--std <numbers>", "then divide by this (default: 128)", channelDivisors);
}

/** Adds the options of commands that run a model on inputs: how pixels become numbers, the names of classes, the signature, and shapes. */
export function addInputOptions(command: Command): Command {
  return addEntryOptions(
    addPixelOptions(command).option(
      "--labels <file>",
      "names of the classes, one a line; or coco, coco80, pascal-voc (default: those packed with the model)",
    ),
  );
}

/** Adds the options of commands that read a .tflite file: the signature, shapes, external buffers, and the part of a container. */
export function addEntryOptions(command: Command): Command {
  return addFileOptions(command.addOption(signatureOption()));
}

/** The same without the signature. */
export function addFileOptions(command: Command): Command {
  return command.addOption(inputShapeOption()).addOption(externalBufferOption()).addOption(partOption());
}

/** Adds the options of commands that show what is in outputs. */
export function addTaskOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--task <task>",
        "what the outputs are: detect (boxes), segment (areas), landmarks (points), classify (the best classes), or values (default: by the outputs)",
      ).choices(tasks),
    )
    .option("--threshold <score>", "leave out things of a detector with a lower score (default: 0.5)", score);
}

function score(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("Expected a number, such as 0.3.");
}

/** Shapes of inputs by name. */
export type InputShapes = NonNullable<ImportOptions["inputShapes"]>;

/** Part of a .tflite file, and its shapes: the options of all commands that read one, as commander parses them. */
export interface EntryOptions {
  readonly signature?: string;
  readonly inputShape?: InputShapes;
  readonly externalBuffer?: ExternalBuffers;
  readonly part?: string;
}

/** The files of external buffers by name. */
export type ExternalBuffers = Readonly<Record<string, string>>;

/** Options for loading a file: those of the import, the places of its external buffers, and the part of a container. */
export interface LoadOptions extends ImportOptions {
  readonly externalBuffers?: ExternalBuffers;
  readonly part?: string;
}

/** The same for the loading. */
export function entryOf({
  signature,
  inputShape,
  externalBuffer,
  part,
}: EntryOptions): Pick<LoadOptions, "signature" | "inputShapes" | "externalBuffers" | "part"> {
  return {
    ...(part !== undefined && { part }),
    ...(externalBuffer !== undefined && { externalBuffers: externalBuffer }),
    ...(signature !== undefined && { signature }),
    ...(inputShape !== undefined && { inputShapes: inputShape }),
  };
}

/** The option `--input-shape` of commands that read a .tflite file; it may be given once for each input. */
export function inputShapeOption(): Option {
  const what =
    "run an input in this shape: its name or place, =, extents with x between them (may be repeated; default: the file's shapes)";
  return new Option("--input-shape <name=shape>", what).argParser(inputShape);
}

/** The last = ends the name. */
function inputShape(text: string, previous: InputShapes = {}): InputShapes {
  const end = text.lastIndexOf("=");
  const name = text.slice(0, Math.max(end, 0));
  const extents = text.slice(end + 1).split("x");
  const wrong = extents.find((extent) => !/^\d+$/.test(extent) || Number(extent) < 1 || Number(extent) > 0x7fff_ffff);
  if (name === "") throw new InvalidArgumentError("Expected a name and a shape, such as image=1x320x320x3.");
  if (wrong !== undefined) {
    throw new InvalidArgumentError(
      `Shape of ${name}: expected whole numbers of at least 1 with x between them, such as 1x320x320x3, got "${wrong}".`,
    );
  }
  if (Object.hasOwn(previous, name))
    throw new InvalidArgumentError(`The input ${name} has been given a shape already.`);
  return Object.fromEntries([...Object.entries(previous), [name, extents.map(Number)]]);
}

/** The option `--external-buffer` of commands that read a .tflite file; it may be given once for each name. */
export function externalBufferOption(): Option {
  const what =
    "where constants are that the model keeps in another file: its name in the model, =, a path (may be repeated; default: beside the model)";
  return new Option("--external-buffer <name=path>", what).argParser(externalBuffer);
}

/** The first = ends the name. */
function externalBuffer(text: string, previous: ExternalBuffers = {}): ExternalBuffers {
  const end = text.indexOf("=");
  const name = text.slice(0, Math.max(end, 0));
  const path = text.slice(end + 1);
  if (name === "" || path === "")
    throw new InvalidArgumentError("Expected a name and a path, such as weights.bin=/data/weights.bin.");
  if (Object.hasOwn(previous, name))
    throw new InvalidArgumentError(`The external buffers ${name} have been given a file already.`);
  return Object.fromEntries([...Object.entries(previous), [name, path]]);
}

/** The option `--part` of commands that read a .tflite file. */
function partOption(): Option {
  return new Option(
    "--part <name>",
    "which model of a container (.task, .litertlm) is meant; nnhal info lists them (default: its only one)",
  );
}

/** The option `--signature` of commands that read a .tflite file. */
export function signatureOption(): Option {
  return new Option("--signature <key>", "which signature of the file is meant (default: its first subgraph)");
}

const devices = "one device, or several with commas between them, the first of equals first; auto: all that work here";

/** The option `--device` of commands that divide a model among devices. `byDefault`: says what an absent one means. */
export function deviceOption(byDefault?: string): Option {
  const option = new Option(
    "--device <names>",
    `what to run on: ${devices}${byDefault ? ` (default: ${byDefault})` : ""}`,
  );
  return byDefault === undefined ? option.default(allDevices) : option;
}

/** Form in which layers with float inputs and 8-bit weights are computed. */
export type Hybrid = NonNullable<ImportOptions["hybrid"]>;

const hybridForms: readonly Hybrid[] = ["quantised", "widened"];

/** The option `--hybrid` of commands that run a model, with one of `Hybrid`. */
export function hybridOption(): Option {
  const what =
    "layers with float inputs and 8-bit weights: as TensorFlow Lite computes them, or in float, which all devices take";
  return new Option("--hybrid <form>", what).choices(hybridForms).default("quantised" satisfies Hybrid);
}

/** The options of a command that checks a device, as commander parses them: the device may be absent. */
export type GivenDevice<Options extends { readonly device: string }> = Omit<Options, "device"> & {
  readonly device?: string;
};

/** The option `--device` of commands that check a device. */
export function checkedDeviceOption(): Option {
  return new Option(
    "--device <names>",
    `what to check: ${devices} (default: the device of --backend or --driver, if they name one)`,
  );
}
