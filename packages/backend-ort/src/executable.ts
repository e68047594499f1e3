/**
 * Subgraphs as sessions of onnxruntime. A session has fixed shapes: if the model leaves extents of its inputs open, each run with new
 * extents makes a session, of which the last few are kept.
 */
import {
  type CompileOptions,
  checkOf,
  type Executable,
  type GraphView,
  type InputBuffer,
  inputInfo,
  type OutputBuffer,
  type RunContext,
  type RunResult,
  StatusError,
  shortage,
} from "@nnhal/backend";
import { elementAt, isTensorType, refineDimensions, type TensorInfo } from "@nnhal/operations";
import { ErrorStatus, type OutputShape } from "@nnhal/types";
import type * as ort from "onnxruntime-node";
import { type Ort, sessionOptions } from "./engine.ts";
import { lowerGraph, type Wire } from "./lower.ts";
import { writeModel } from "./onnx/write.ts";
import { createSlots, type Slots } from "./slots.ts";

/** The engine as executables use it. */
export interface Machine {
  readonly ort: Ort;
  /** Threads of a session; 0 is one for each core. */
  readonly threads: number;
}

/** A session for inputs of certain shapes. */
interface Variant {
  readonly inputs: readonly (Wire | undefined)[];
  readonly session: ort.InferenceSession;
  readonly slots: Slots;
  /** By output. */
  readonly infos: readonly TensorInfo[];
  /** The result of every run that succeeds, if it is not measured. */
  readonly success: RunResult;
  /** How many runs use it. A session that is replaced is closed when there are none. */
  users: number;
  isReplaced: boolean;
}

/** A compiled subgraph. */
interface Compiled {
  readonly machine: Machine;
  readonly graph: GraphView;
  /** The last ones that were used, of which the first has the extents of the model if it determines all. */
  readonly variants: Variant[];
}

/** The most sessions for different extents. */
const mostVariants = 4;

/** Compiles a subgraph. Rejects with the reason if onnxruntime refuses it. */
export async function compileGraph(machine: Machine, graph: GraphView, options: CompileOptions): Promise<Executable> {
  const check = checkOf(options, "the deadline passed while the model was prepared");
  check();
  const extents = staticExtents(graph);
  const compiled: Compiled = { machine, graph, variants: [] };
  if (extents !== undefined) compiled.variants.push(await createVariant(machine, graph, extents));
  check();
  return {
    run: (inputs, outputs, context) => run(compiled, inputs, outputs, context),
    releaseScratch() {
      for (const { slots } of compiled.variants) slots.clear();
    },
    close() {
      for (const { session } of compiled.variants.splice(0)) void session.release();
    },
  };
}

/** The extents of the inputs, if the model determines all of them. */
function staticExtents({ inputs, operands }: GraphView): (readonly number[])[] | undefined {
  const all: (readonly number[])[] = [];
  for (const index of inputs) {
    const operand = operands[index];
    if (operand === undefined) return undefined;
    const { type, dimensions } = operand;
    if (isTensorType(type) && (dimensions.length === 0 || dimensions.includes(0))) return undefined;
    all.push(dimensions);
  }
  return all;
}

async function createVariant(
  machine: Machine,
  graph: GraphView,
  extents: readonly (readonly number[] | undefined)[],
): Promise<Variant> {
  const { ort, threads } = machine;
  const { onnx, inputs, outputs } = lowerGraph(graph, extents);
  const session = await ort.InferenceSession.create(writeModel(onnx), sessionOptions(threads));
  const outputShapes = outputs.map(({ info }): OutputShape => ({ dimensions: info.dimensions, isSufficient: true }));
  return {
    inputs,
    session,
    slots: createSlots(ort, inputs, outputs),
    infos: outputs.map(({ info }) => info),
    success: { status: ErrorStatus.NONE, outputShapes },
    users: 0,
    isReplaced: false,
  };
}

/** Never rejects. */
async function run(
  compiled: Compiled,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
): Promise<RunResult> {
  try {
    const check = checkOf(context, "the deadline passed before the execution ended");
    check();
    const variant = variantOf(compiled, inputs) ?? (await addVariant(compiled, inputs));
    variant.users++;
    try {
      return await runVariant(variant, compiled, inputs, outputs, { ...context, check });
    } finally {
      variant.users--;
      closeIfUnused(variant);
    }
  } catch (error) {
    return failure(error);
  }
}

async function runVariant(
  { infos, session, slots, success }: Variant,
  { graph }: Compiled,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  { measure, now, check }: RunContext & { readonly check: () => void },
): Promise<RunResult> {
  for (const [position, { dimensions }] of outputs.entries()) {
    refineDimensions(elementAt(graph.outputs, position), dimensions, elementAt(infos, position).dimensions);
  }
  const short = shortage(infos, outputs);
  if (short !== undefined) return short;
  const slot = slots.take();
  try {
    for (const [position, input] of inputs.entries()) {
      if (input !== undefined) slot.setInput(position, input.bytes);
    }
    for (const [position, { bytes }] of outputs.entries()) slot.setOutput(position, bytes);
    const start = measure ? now() : 0n;
    await session.run(slot.feeds, slot.fetches);
    const timeOnDevice = measure ? now() - start : undefined;
    slot.finish();
    // A result that is ready after the deadline is not delivered.
    check();
    return timeOnDevice === undefined ? success : { ...success, timeOnDevice };
  } finally {
    slots.give(slot);
  }
}

function closeIfUnused({ isReplaced, users, session }: Variant): void {
  if (isReplaced && users === 0) void session.release();
}

/** The variant for the extents of a request; undefined if there is none yet. */
function variantOf({ variants, graph }: Compiled, inputs: readonly (InputBuffer | undefined)[]): Variant | undefined {
  for (const variant of variants) {
    if (variant.inputs.every((wire, position) => fits(wire, inputs[position]))) {
      for (const [position, input] of inputs.entries()) {
        // Throws if the bytes are too few.
        if (input !== undefined) inputInfo(graph, elementAt(graph.inputs, position), input);
      }
      return variant;
    }
  }
  return undefined;
}

function fits(wire: Wire | undefined, input: InputBuffer | undefined): boolean {
  if (wire === undefined || input === undefined) return wire === undefined && input === undefined;
  const { dimensions } = wire.info;
  return (
    dimensions.length === input.dimensions.length &&
    dimensions.every((extent, axis) => extent === input.dimensions[axis])
  );
}

/** Makes a session for the extents of a request; the oldest one is closed if there are too many. */
async function addVariant(compiled: Compiled, inputs: readonly (InputBuffer | undefined)[]): Promise<Variant> {
  const { machine, graph, variants } = compiled;
  for (const [position, input] of inputs.entries()) {
    if (input !== undefined) inputInfo(graph, elementAt(graph.inputs, position), input);
  }
  const variant = await createVariant(
    machine,
    graph,
    inputs.map((input) => input?.dimensions),
  );
  variants.push(variant);
  const oldest = variants.length > mostVariants ? variants.shift() : undefined;
  if (oldest !== undefined) {
    oldest.isReplaced = true;
    closeIfUnused(oldest);
  }
  return variant;
}

function failure(error: unknown): RunResult {
  const message = error instanceof Error ? error.message : String(error);
  const { GENERAL_FAILURE, RESOURCE_EXHAUSTED_TRANSIENT } = ErrorStatus;
  if (error instanceof StatusError) return { status: error.status, message, outputShapes: [] };
  // Arrays that are too large throw a RangeError.
  const status = error instanceof RangeError ? RESOURCE_EXHAUSTED_TRANSIENT : GENERAL_FAILURE;
  return { status, message, outputShapes: [] };
}
