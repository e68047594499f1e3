/**
 * Runs the command line inside a test, on small models and pictures in a folder of its own.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MessageChannel } from "node:worker_threads";
import { createReferenceBackend, referenceBackend } from "@nnhal/backend-reference";
import { type BatchThread, serveBatch } from "@nnhal/batch";
import { type TfliteModel, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { PNG } from "pngjs";
import { afterAll, beforeAll } from "vitest";
import type { Engine } from "./backend-module.ts";
import type { Surroundings, ThreadSettings } from "./context.ts";
import { runProgram } from "./program.ts";

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** A folder for the tests of a file, and a way to run the command line in it. */
export function useFolder() {
  let cwd = "";
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "nnhal-cli-"));
  });
  afterAll(() => rm(cwd, { recursive: true }));
  return {
    path: (name: string) => join(cwd, name),
    put: (name: string, content: string | Uint8Array) => writeFile(join(cwd, name), content),
    get: async (name: string) => new Uint8Array(await readFile(join(cwd, name))),
    run: (args: readonly string[], changed: Changed = {}) => runCommandLine(args, { cwd, ...changed }),
  };
}

/** The engine that is always there: what a test finds must not depend on what else is installed. */
export const referenceEngine: Engine = {
  device: "nnhal-reference",
  module: "@nnhal/backend-reference",
  load: async () => referenceBackend,
  withExtensions: async (extensions) => createReferenceBackend({ extensions }),
};

/** The surroundings of a test, with its engines as a list. Default: the reference. */
type Changed = Partial<Omit<Surroundings, "engines">> & { readonly engines?: readonly Engine[] };

/** Runs the command line with the reference device alone, and a clock that goes on by one millisecond at every look. */
export async function runCommandLine(
  args: readonly string[],
  { engines = [referenceEngine], ...changed }: Changed,
): Promise<Outcome> {
  let time = 0;
  const outcome = { stdout: "", stderr: "", exitCode: 0 };
  await runProgram(args, {
    stdout: { write: (text) => (outcome.stdout += text) },
    stderr: { write: (text) => (outcome.stderr += text) },
    engines: async () => engines,
    version: "1.2.3",
    cwd: process.cwd(),
    now: () => ++time,
    demoFolder: fileURLToPath(new URL("../demo/", import.meta.url)),
    commandLine: "nnhal",
    installs: (module) => `npm install ${module}`,
    hasColours: false,
    startThread,
    setExitCode: (code) => {
      outcome.exitCode = code;
    },
    ...changed,
  });
  return outcome;
}

/** Runs a thread of a batch in this one: a thread of its own would have to load all sources again. */
export function startThread(settings: ThreadSettings): BatchThread {
  const { port1, port2 } = new MessageChannel();
  serveBatch(port2, async (opening, note) => {
    const { openComputer } = await import("./batch/computer.ts");
    return openComputer(opening, note, settings, [referenceEngine]);
  });
  const thread = {
    on: (event: string, listener: (value: unknown) => void) => port1.on(event, listener),
    postMessage: (message: unknown) => port1.postMessage(message),
    async terminate() {
      port1.close();
      return 0;
    },
  };
  // The pool listens to what a port has, and to errors and exits, which a port in this thread does not have.
  return thread as unknown as BatchThread;
}

type Given = Partial<TfliteTensor> & Pick<TfliteTensor, "shape">;

function tensor(name: string, given: Given): TfliteTensor {
  return { name, type: "FLOAT32", isVariable: false, ...given };
}

function modelOf(
  subgraph: Pick<TfliteModel["subgraphs"][0], "tensors" | "inputs" | "outputs" | "operators">,
): Uint8Array {
  const subgraphs = [{ name: "main", ...subgraph }];
  return writeTflite({ version: 3, description: "test", subgraphs, metadata: [], signatures: [] });
}

/** A model whose output is its input in the shape [1, elements]. */
export function passingModel(input: Given): Uint8Array {
  const count = input.shape.reduce((product, extent) => product * extent, 1);
  return modelOf({
    tensors: [tensor("given", input), tensor("passed", { ...input, shape: [1, count] })],
    inputs: [0],
    outputs: [1],
    operators: [{ name: "RESHAPE", version: 1, inputs: [0], outputs: [1], options: { newShape: [1, count] } }],
  });
}

/** A model of a 2 by 2 picture whose three channels are the place and score of four landmarks. */
export function landmarksModel(): Uint8Array {
  return modelOf({
    tensors: [tensor("image", { shape: [1, 2, 2, 3] }), tensor("keypoints", { shape: [1, 4, 3] })],
    inputs: [0],
    outputs: [1],
    operators: [{ name: "RESHAPE", version: 1, inputs: [0], outputs: [1], options: { newShape: [1, 4, 3] } }],
  });
}

/** A model whose outputs are parts of its input, one behind the other: what a file of numbers says is what it finds. */
export function partsModel(
  image: readonly number[],
  outputs: readonly (readonly [name: string, shape: readonly number[]])[],
): Uint8Array {
  const ints = (...values: readonly number[]) => ({
    type: "INT32" as const,
    shape: [values.length],
    data: new Uint8Array(Int32Array.from(values).buffer),
  });
  const tensors = [tensor("image", { shape: [...image] })];
  const add = (one: TfliteTensor) => tensors.push(one) - 1;
  const elementCount = image.reduce((product, extent) => product * extent, 1);
  const flat = add(tensor("flat", { shape: [elementCount] }));
  const operators: Parameters<typeof modelOf>[0]["operators"][number][] = [
    { name: "RESHAPE", version: 1, inputs: [0], outputs: [flat], options: { newShape: [elementCount] } },
  ];
  const found: number[] = [];
  let begin = 0;
  for (const [name, shape] of outputs) {
    const size = shape.reduce((product, extent) => product * extent, 1);
    const [from, length] = [add(tensor("", ints(begin))), add(tensor("", ints(size)))];
    const [part, output] = [add(tensor("", { shape: [size] })), add(tensor(name, { shape: [...shape] }))];
    operators.push(
      { name: "SLICE", version: 1, inputs: [flat, from, length], outputs: [part], options: {} },
      { name: "RESHAPE", version: 1, inputs: [part], outputs: [output], options: { newShape: [...shape] } },
    );
    found.push(output);
    begin += size;
  }
  return modelOf({ tensors, inputs: [0], outputs: found, operators });
}

/** A model that adds its input to itself. Its file has an open extent of the input, and no shape of the output. */
export function shapelessModel(): Uint8Array {
  const tensors = [tensor("given", { shape: [1, 3], shapeSignature: [-1, 3] }), tensor("sum", { shape: [] })];
  const options = { fusedActivationFunction: "NONE" };
  return modelOf({
    ...{ tensors, inputs: [0], outputs: [1] },
    operators: [{ name: "ADD", version: 1, inputs: [0, 0], outputs: [1], options }],
  });
}

/** A model that adds two constants outside of its FlatBuffer to its input. */
export function splitModel(external: NonNullable<TfliteTensor["external"]>): Uint8Array {
  const shape = [2];
  return modelOf({
    tensors: [tensor("given", { shape }), tensor("weights", { shape, external }), tensor("sum", { shape })],
    inputs: [0],
    outputs: [2],
    operators: [
      { name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction: "NONE" } },
    ],
  });
}

/** The quantisation of a test tensor. */
export function quantise(scale: number, zeroPoint: number): Pick<TfliteTensor, "quantization"> {
  return { quantization: { scale: [Math.fround(scale)], zeroPoint: [zeroPoint], quantizedDimension: 0 } };
}

/** A model that adds its two inputs of the shape [2, 2]. */
export function addingModel(): Uint8Array {
  return sumModel([2, 2], [2, 2]);
}

/** A sum of tensors whose shapes do not broadcast. */
export function unfitSumModel(): Uint8Array {
  return sumModel([2, 2], [2, 3]);
}

/** A sum of [0] and [1], as the file stores the shapes: the first may have any number of elements. */
export function emptySumModel(): Uint8Array {
  return sumModel([0], [1]);
}

function sumModel(left: readonly number[], right: readonly number[]): Uint8Array {
  return modelOf({
    tensors: [tensor("left", { shape: left }), tensor("right", { shape: right }), tensor("sum", { shape: left })],
    inputs: [0, 1],
    outputs: [2],
    operators: [
      { name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction: "NONE" } },
    ],
  });
}

/** Two convolutions, which the HAL has, with COS between them, which it lacks. `data`: the weights of both. */
export function partlyExtendedModel(extent = 12, channels = 8): Uint8Array {
  const shape = [1, extent, extent, channels];
  const weights = Float32Array.from({ length: 9 * channels * channels }, (_, i) => ((i * 37) % 17) / 64 - 0.125);
  const filter = { shape: [channels, 3, 3, channels], data: new Uint8Array(weights.buffer) };
  const options = { padding: "SAME", strideW: 1, strideH: 1, fusedActivationFunction: "RELU" };
  const names = ["image", "first", "wave", "result"];
  return modelOf({
    tensors: [...names.map((name) => tensor(name, { shape })), tensor("filter", filter)],
    inputs: [0],
    outputs: [3],
    operators: [
      { name: "CONV_2D", version: 1, inputs: [0, 4], outputs: [1], options },
      { name: "COS", version: 1, inputs: [1], outputs: [2], options: {} },
      { name: "CONV_2D", version: 1, inputs: [2, 4], outputs: [3], options },
    ],
  });
}

/** A layer with float inputs and 8-bit weights. */
export function hybridModel(): Uint8Array {
  const weights = {
    type: "INT8",
    shape: [2, 4],
    data: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
    ...quantise(0.5, 0),
  } as const;
  return modelOf({
    tensors: [tensor("x", { shape: [1, 4] }), tensor("weights", weights), tensor("y", { shape: [1, 2] })],
    inputs: [0],
    outputs: [2],
    operators: [{ name: "FULLY_CONNECTED", version: 3, inputs: [0, 1, -1], outputs: [2], options: {} }],
  });
}

/** A file with the signatures `double` and `differ`: the first adds its input to itself, the second subtracts `less` from `more`. */
export function twoSignaturesModel(): Uint8Array {
  const shape = [2, 2];
  const options = { fusedActivationFunction: "NONE" };
  const subgraphs = [
    {
      name: "double",
      tensors: [tensor("x", { shape }), tensor("y", { shape })],
      inputs: [0],
      outputs: [1],
      operators: [{ name: "ADD", version: 1, inputs: [0, 0], outputs: [1], options }],
    },
    {
      name: "differ",
      tensors: [tensor("a", { shape }), tensor("b", { shape }), tensor("c", { shape })],
      inputs: [0, 1],
      outputs: [2],
      operators: [{ name: "SUB", version: 1, inputs: [0, 1], outputs: [2], options }],
    },
  ];
  const named = (name: string, index: number) => ({ name, tensor: index });
  const signatures = [
    { key: "double", subgraph: 0, inputs: [named("once", 0)], outputs: [named("twice", 1)] },
    { key: "differ", subgraph: 1, inputs: [named("less", 1), named("more", 0)], outputs: [named("rest", 2)] },
  ];
  return writeTflite({ version: 3, description: "test", subgraphs, metadata: [], signatures });
}

/** A model with a custom operator that the HAL lacks. */
export function unknownOperatorModel(customCode = "Frobnicate"): Uint8Array {
  return modelOf({
    tensors: [tensor("given", { shape: [1, 2] }), tensor("made", { shape: [1, 2] })],
    inputs: [0],
    outputs: [1],
    operators: [{ name: "CUSTOM", customCode, version: 1, inputs: [0], outputs: [1], options: {} }],
  });
}

/** A model that remembers: each run adds to its state what it was given, and gives 1 * newest + 10 * the one before. */
export function rememberingModel(): Uint8Array {
  const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
  return modelOf({
    tensors: [
      tensor("given", { shape: [1, 1] }),
      tensor("feature", { shape: [2, 1], data: floats(1, 1) }),
      tensor("time", { shape: [2, 2], data: floats(10, 1, 20, 2) }),
      tensor("state", { shape: [1, 4], isVariable: true }),
      tensor("made", { shape: [1, 2] }),
    ],
    inputs: [0],
    outputs: [4],
    operators: [
      {
        name: "SVDF",
        version: 1,
        inputs: [0, 1, 2, -1, 3],
        outputs: [4],
        options: { rank: 1, fusedActivationFunction: "NONE" },
      },
    ],
  });
}

/**
 * A file whose model returns the absolute values of the three scores that it is given, with TFLite Metadata (the name Animals, the
 * author Ann) and the labels ant, bee and cat packed behind it.
 */
export function labelledModel(): Uint8Array {
  const lines = [
    "JAAAAFRGTDMAAAAAAAAAAAAAEgAcABgAFAAQAAwACAAAAAQAEgAAABgAAABEAAAAXAEAAGABAABAAgAAAwAAAAEAAAAMAAAACAAMAAgABAAIAA",
    "AAAQAAAAQAAAAPAAAAVEZMSVRFX01FVEFEQVRBAAIAAAAUAQAADAAAAAAABgAIAAQABgAAAAQAAAD0AAAAGAAAAE0wMDEAAA4AEAAMAAAAAAAI",
    "AAQADgAAAAwAAAAQAAAAxAAAAAMAAABBbm4AAQAAABAAAAAMAAwAAAAAAAgABAAMAAAACAAAAFwAAAABAAAABAAAAKb///8MAAAAOAAAADgAAA",
    "ABAAAAEAAAAAAACgAMAAgAAAAHAAoAAAAAAAACBAAAAAoAAABsYWJlbHMudHh0AAAAAAAABgAAAHNjb3JlcwAAAQAAABgAAAAAABIAEAAMAAAA",
    "AAAAAAgAAAAEABIAAAAMAAAADAAAAAwAAAAAAAAAAAAAAAUAAABpbWFnZQAAAAcAAABBbmltYWxzAAAAAADw/v//AAAAAAAAAAABAAAAFAAAAA",
    "AADgAYABQAEAAMAAgABAAOAAAAFAAAABgAAABQAAAAVAAAAFgAAAAAAAAAAAAAAAEAAAAUAAAAAAAOABQAAAAQAAwACwAEAA4AAAC0AAAAAAAA",
    "TggAAAAMAAAAAQAAAAEAAAABAAAAAAAAAAEAAAABAAAAAQAAAAAAAAACAAAAOAAAAAQAAADc////CAAAABAAAAAGAAAAc2NvcmVzAAACAAAAAQ",
    "AAAAMAAAAMAAwACAAAAAAABAAMAAAACAAAABAAAAAFAAAAZ2l2ZW4AAAACAAAAAQAAAAMAAAABAAAAEAAAAAwADAALAAAAAAAEAAwAAABlAAAA",
    "AAAAZQQABAAEAAAAUEsDBBQAAAAIAAAAIRSQGsUyDgAAAAwAAAAKAAAAbGFiZWxzLnR4dEvMK+FKSk3lSk4s4QIAUEsBAhQAFAAAAAgAAAAhFJ",
    "AaxTIOAAAADAAAAAoAAAAAAAAAAAAAAAAAoAIAAGxhYmVscy50eHRQSwUGAAAAAAEAAQA4AAAA1gIAAAAA",
  ];
  return new Uint8Array(Buffer.from(lines.join(""), "base64"));
}

/** A PNG file of RGBA pixels. */
export function pngOf(width: number, height: number, rgba: readonly number[]): Uint8Array {
  const png = new PNG({ width, height });
  png.data.set(rgba);
  return new Uint8Array(PNG.sync.write(png));
}
