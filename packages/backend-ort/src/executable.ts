/**
 * Subgraphs as sessions of onnxruntime. A session has fixed shapes: if the model leaves extents of its inputs open, each run with new
 * extents makes a session, of which the last few are kept.
 */
import {
  addVariant,
  type CacheBlobs,
  type CompileOptions,
  checkOf,
  type Executable,
  failedRun,
  type GraphView,
  hasExtents,
  type InputBuffer,
  inputInfo,
  type OutputBuffer,
  type RunContext,
  type RunResult,
  StatusError,
  shortage,
  staticExtents,
} from "@nnhal/backend";
import {
  byteLength,
  elementAt,
  elementCount,
  heldBytes,
  refineDimensions,
  sameShape,
  type TensorInfo,
} from "@nnhal/operations";
import { ErrorStatus, type OutputShape } from "@nnhal/types";
import type * as ort from "onnxruntime-node";
import { type Machine, openSession, sessionOptions } from "./engine.ts";
import { type Interface, type Wire, type WrittenGraph, writeGraph } from "./lower.ts";
import { restoreSession, serialise } from "./serialised.ts";
import { createSlots, type Slot, type Slots } from "./slots.ts";

/** A session for inputs of certain shapes. */
interface Variant {
  readonly inputs: readonly (Wire | undefined)[];
  readonly session: ort.InferenceSession;
  /** The model, if the session reads it in place: it must live as long. */
  readonly bytes: Uint8Array | undefined;
  readonly slots: Slots;
  /** See `LoweredGraph.peak`. */
  readonly peak: number;
  /** By output. */
  readonly infos: readonly TensorInfo[];
  /** The bytes that the value of each input takes; undefined if it is omitted. */
  readonly inputSizes: readonly (number | undefined)[];
  /** The bytes that the value of each output takes. */
  readonly outputSizes: readonly number[];
  /** The result of every run that succeeds, if it is not measured. */
  readonly success: RunResult;
  /** Number of runs that use it. A replaced session is closed when it reaches 0. */
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

/** Compiles a subgraph. Rejects with the reason if onnxruntime refuses it. */
export function compileGraph(machine: Machine, graph: GraphView, options: CompileOptions): Promise<Executable> {
  return openGraph(machine, graph, options, (_, write) => createVariant(machine, write()));
}

/** Opens a subgraph that was optimised before. Rejects if the blobs do not fit it. */
export function restoreGraph(
  machine: Machine,
  blobs: CacheBlobs,
  graph: GraphView,
  options: CompileOptions,
): Promise<Executable> {
  return openGraph(machine, graph, options, async (extents) => {
    const { session, parts, bytes } = await restoreSession(machine, blobs, graph, extents);
    return variantOver(machine, session, parts, bytes);
  });
}

/** Opens a subgraph: if the model determines the extents of its inputs, with a session that `open` creates for them. */
async function openGraph(
  machine: Machine,
  graph: GraphView,
  options: CompileOptions,
  open: (extents: readonly (readonly number[])[], write: () => WrittenGraph) => Promise<Variant>,
): Promise<Executable> {
  const check = checkOf(options, "the deadline passed while the model was prepared");
  check();
  if (graph.outputs.length === 0) return idleExecutable;
  const extents = staticExtents(graph);
  const compiled: Compiled = { machine, graph, variants: [] };
  const close = () => {
    for (const { session } of compiled.variants.splice(0)) void session.release();
  };
  let written: WeakRef<WrittenGraph> | undefined;
  /** A model that is saved is saved at once: it is written again only if its memory was needed meanwhile. */
  const write = (): WrittenGraph => {
    const kept = written?.deref();
    if (kept !== undefined) return kept;
    const made = writeGraph(graph, extents ?? [], machine.forms);
    written = new WeakRef(made);
    return made;
  };
  if (extents !== undefined) {
    const variant = await open(extents, write);
    compiled.variants.push(variant);
    await warmUp(variant);
    try {
      check();
    } catch (error) {
      close();
      throw error;
    }
  }
  return {
    run: (inputs, outputs, context) => run(compiled, inputs, outputs, context),
    ...(extents !== undefined && { serialize: () => serialise(machine, write()) }),
    releaseScratch() {
      for (const { slots } of compiled.variants) slots.clear();
    },
    close,
  };
}

/**
 * Computes a subgraph without outputs: nothing, since onnxruntime refuses to. The parts of a divided model are of this kind if no operation
 * reads their results.
 */
const idleExecutable: Executable = {
  run(_inputs, _outputs, context) {
    try {
      checkDeadline(context);
    } catch (error) {
      return failedRun(error);
    }
    return { status: ErrorStatus.NONE, outputShapes: [], ...(context.measure && { timeOnDevice: 0n }) };
  },
  close() {},
};

/** The most bytes of a model's values for which it runs when it is prepared. */
const mostForWarmUp = 2 ** 26;

/**
 * Runs on zeros, so that the first execution is not slower than the others: the first run finds the order in which memory is taken, and the
 * second one reserves it in one piece. What comes of them does not matter.
 */
async function warmUp({ inputs, session, slots, infos, peak }: Variant): Promise<void> {
  const bytesOf = (info: TensorInfo) => new Uint8Array(heldBytes(info));
  const infosIn = inputs.map((wire) => wire?.info);
  const size = infosIn.reduce((sum, info) => sum + (info === undefined ? 0 : heldBytes(info)), peak);
  if (size > mostForWarmUp) return;
  const slot = slots.take();
  for (const [position, info] of infosIn.entries()) if (info !== undefined) slot.setInput(position, bytesOf(info));
  for (const [position, info] of infos.entries()) slot.setOutput(position, bytesOf(info));
  for (let runs = 0; runs < 2; runs++) await session.run(slot.feeds, slot.fetches).catch(() => {});
}

async function createVariant(machine: Machine, { model, ...parts }: WrittenGraph): Promise<Variant> {
  const session = await openSession(machine.ort, model, sessionOptions(machine.threads));
  return variantOver(machine, session, parts);
}

/** `bytes` are those of a model that the session reads in place. */
function variantOver(
  { ort }: Machine,
  session: ort.InferenceSession,
  { inputs, outputs, peak }: Interface,
  bytes?: Uint8Array,
): Variant {
  const outputShapes = outputs.map(({ info }): OutputShape => ({ dimensions: info.dimensions, isSufficient: true }));
  return {
    inputs,
    peak,
    session,
    bytes,
    slots: createSlots(ort, inputs, outputs),
    infos: outputs.map(({ info }) => info),
    inputSizes: inputs.map((wire) => wire && sizeOf(wire.info)),
    outputSizes: outputs.map(({ info }) => sizeOf(info)),
    success: { status: ErrorStatus.NONE, outputShapes },
    users: 0,
    isReplaced: false,
  };
}

function sizeOf({ type, dimensions }: TensorInfo): number {
  return byteLength(type, elementCount(dimensions));
}

/**
 * Never rejects. What every execution does is short and allocates little: the engine leaves nothing of it in the processor's caches, so
 * that it takes several times as long as in a loop of its own.
 */
function run(
  compiled: Compiled,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
): Promise<RunResult> | RunResult {
  try {
    const variant = variantOf(compiled, inputs);
    if (variant === undefined) {
      const added = openVariant(compiled, inputs);
      return added.then((variant) => runChecked(variant, compiled, inputs, outputs, context), failedRun);
    }
    if (canTakeResults(variant, outputs)) return runVariant(variant, compiled.machine, inputs, outputs, context);
    return runChecked(variant, compiled, inputs, outputs, context);
  } catch (error) {
    return failedRun(error);
  }
}

/** Runs a variant if the outputs can take its results. */
function runChecked(
  variant: Variant,
  { graph, machine }: Compiled,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
): Promise<RunResult> | RunResult {
  const { infos } = variant;
  try {
    for (const [position, { dimensions }] of outputs.entries()) {
      refineDimensions(elementAt(graph.outputs, position), dimensions, elementAt(infos, position).dimensions);
    }
    return shortage(infos, outputs) ?? runVariant(variant, machine, inputs, outputs, context);
  } catch (error) {
    return failedRun(error);
  }
}

/** Returns whether the outputs have the extents and the bytes of the results. */
function canTakeResults({ infos, outputSizes }: Variant, outputs: readonly OutputBuffer[]): boolean {
  for (let position = 0; position < outputs.length; position++) {
    const { bytes, dimensions } = elementAt(outputs, position);
    if (bytes.length < elementAt(outputSizes, position)) return false;
    if (!sameShape(elementAt(infos, position).dimensions, dimensions)) return false;
  }
  return true;
}

function runVariant(
  variant: Variant,
  machine: Machine,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
): Promise<RunResult> | RunResult {
  const { session, slots, success, peak } = variant;
  const { measure, now, temporaryLimit } = context;
  let slot: Slot | undefined;
  try {
    checkDeadline(context);
    if (temporaryLimit !== undefined) ensureMemory(peak, machine, temporaryLimit);
    slot = slots.take();
    for (let position = 0; position < inputs.length; position++) {
      const input = inputs[position];
      if (input !== undefined) slot.setInput(position, input.bytes);
    }
    for (let position = 0; position < outputs.length; position++) {
      slot.setOutput(position, elementAt(outputs, position).bytes);
    }
  } catch (error) {
    if (slot !== undefined) slots.give(slot);
    return failedRun(error);
  }
  const taken = slot;
  variant.users++;
  machine.used += peak;
  const start = measure ? now() : 0n;
  return session.run(taken.feeds, taken.fetches).then(
    () => {
      const timeOnDevice = measure ? now() - start : 0n;
      try {
        taken.finish();
        // A result that is ready after the deadline is not delivered.
        checkDeadline(context);
      } catch (error) {
        return failedRun(error);
      } finally {
        leave(variant, machine, taken);
      }
      return measure ? { ...success, timeOnDevice } : success;
    },
    (error: unknown) => {
      leave(variant, machine, taken);
      return failedRun(error);
    },
  );
}

/** Ends the use of a variant by a run. */
function leave(variant: Variant, machine: Machine, slot: Slot): void {
  variant.slots.give(slot);
  machine.used -= variant.peak;
  variant.users--;
  closeIfUnused(variant);
}

function checkDeadline({ deadline, now }: RunContext): void {
  if (deadline !== undefined && now() >= deadline) {
    throw new StatusError(ErrorStatus.MISSED_DEADLINE_TRANSIENT, "the deadline passed before the execution ended");
  }
}

/** Throws if the results of operations, of all runs together, would take more than the limit. */
function ensureMemory(peak: number, { used }: Machine, limit: number): void {
  const { RESOURCE_EXHAUSTED_PERSISTENT, RESOURCE_EXHAUSTED_TRANSIENT } = ErrorStatus;
  if (peak > limit) {
    const message = `the results of operations take ${peak} bytes, more than the limit of ${limit}`;
    throw new StatusError(RESOURCE_EXHAUSTED_PERSISTENT, message);
  }
  if (used + peak > limit) {
    const message = `the results of operations take ${peak} bytes, and those of other runs ${used} of at most ${limit}`;
    throw new StatusError(RESOURCE_EXHAUSTED_TRANSIENT, message);
  }
}

function closeIfUnused({ isReplaced, users, session }: Variant): void {
  if (isReplaced && users === 0) void session.release();
}

/** The variant for the extents of a request; undefined if there is none yet. Throws if the bytes of an input are too few. */
function variantOf({ variants, graph }: Compiled, inputs: readonly (InputBuffer | undefined)[]): Variant | undefined {
  for (let place = 0; place < variants.length; place++) {
    const variant = elementAt(variants, place);
    if (!fitAll(variant, inputs)) continue;
    for (let position = 0; position < inputs.length; position++) {
      const input = inputs[position];
      const size = variant.inputSizes[position] ?? 0;
      // Throws, and says which.
      if (input !== undefined && input.bytes.length < size) inputInfo(graph, elementAt(graph.inputs, position), input);
    }
    return variant;
  }
  return undefined;
}

function fitAll({ inputs: wires }: Variant, inputs: readonly (InputBuffer | undefined)[]): boolean {
  for (let position = 0; position < wires.length; position++) {
    if (!hasExtents(inputs[position], wires[position]?.info.dimensions)) return false;
  }
  return true;
}

/** Makes a session for the extents of a request; the oldest one is closed if there are too many. */
async function openVariant(compiled: Compiled, inputs: readonly (InputBuffer | undefined)[]): Promise<Variant> {
  const { machine, graph, variants } = compiled;
  for (const [position, input] of inputs.entries()) {
    if (input !== undefined) inputInfo(graph, elementAt(graph.inputs, position), input);
  }
  const extents = inputs.map((input) => input?.dimensions);
  const variant = await createVariant(machine, writeGraph(graph, extents, machine.forms));
  const oldest = addVariant(variants, variant);
  if (oldest !== undefined) {
    oldest.isReplaced = true;
    closeIfUnused(oldest);
  }
  return variant;
}
