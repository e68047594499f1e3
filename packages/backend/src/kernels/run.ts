/**
 * Runs a plan on buffers: inputs are uploaded, the plan is walked, outputs are downloaded. The result is always a status, and every
 * value is released.
 */
import {
  type AnyOperandType,
  byteLength,
  decodeTensorData,
  elementAt,
  elementCount,
  encodeTensorData,
  refineDimensions,
  sameShape,
  type TensorData,
  type TensorInfo,
} from "@nnhal/operations";
import { ErrorStatus, type OutputShape } from "@nnhal/types";
import { countIn, decodeInParts, encodeInParts, PART } from "../codec.ts";
import type { CompileOptions, InputBuffer, OutputBuffer, RunContext, RunResult } from "../contract.ts";
import { inputInfo } from "../input.ts";
import { failedRun, StatusError } from "../status-error.ts";
import { checkPeak, makeFrame, type Run, requiredValue, walkStep } from "./frame.ts";
import { type OpenOutputs, Outcome, shortage } from "./output-buffers.ts";
import type { Places } from "./places.ts";
import type { KernelPlan } from "./plan.ts";
import { awaitValue, type Check, drive, type Steps } from "./steps.ts";
import { isTurnDue } from "./turns.ts";
import { dataOf, dropAll, type Memory, type Values } from "./values.ts";

/** The state that all runs of a session share. */
export interface Session<Handle> {
  readonly memory: Memory<Handle>;
  readonly places: Places<Handle>;
}

/** Runs the main subgraph on buffers. Never rejects and never throws. */
export function runKernels<Handle>(
  plan: KernelPlan<Handle>,
  session: Session<Handle>,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
): Promise<RunResult> | RunResult {
  const check = checkOf(context, "the deadline passed before the execution ended");
  return drive(runMain(plan, session, inputs, outputs, context, check), check);
}

function doNotLimit(): void {}

/** A check that throws when a deadline has passed, or a signal is aborted. */
export function checkOf(
  { now, deadline, signal }: Pick<CompileOptions, "now" | "deadline"> & Pick<RunContext, "signal">,
  message: string,
): Check {
  const isLimited = deadline !== undefined && now !== undefined;
  if (!isLimited && signal === undefined) return doNotLimit;
  return () => {
    if (signal?.aborted) throw new StatusError(ErrorStatus.MISSED_DEADLINE_TRANSIENT, "the execution was stopped");
    if (isLimited && now() >= deadline) throw new StatusError(ErrorStatus.MISSED_DEADLINE_TRANSIENT, message);
  };
}

function* runMain<Handle>(
  plan: KernelPlan<Handle>,
  session: Session<Handle>,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
  check: Check,
): Steps<RunResult> {
  const values: Values<Handle> = [];
  const { engine } = session.memory;
  const section = context.section?.begin("LC", "PE", "run");
  const run: Run<Handle> = { context, section, memory: session.memory, check };
  context.log?.(`run: ${plan.steps.length} operations in the main subgraph`);
  try {
    const openOutputs = findOpenOutputs(plan, outputs);
    checkPeak(plan, context);
    const decoding = section?.begin("LC", "PTR", "decode inputs");
    for (let position = 0; position < inputs.length; position++) {
      const input = inputs[position];
      if (input === undefined) continue;
      const index = elementAt(plan.graph.inputs, position);
      if (input.buffer !== undefined) {
        values[index] = session.places.take(input.buffer);
        continue;
      }
      const info = infoAt(plan, position, input);
      const { bytes } = input;
      const given = [info.type, bytes, countIn(info.type, info.dimensions, bytes)] as const;
      // Decoding that takes no longer than the work between two pauses needs none.
      const data = bytes.length <= PART ? decodeTensorData(...given) : yield* decodeInParts(...given);
      values[index] = { info, handle: engine.upload(info, data), data, bytes: 0, holders: 1 };
    }
    decoding?.end();
    const start = context.measure ? context.now() : 0n;
    const frame = makeFrame(plan, values, run, openOutputs);
    for (const step of plan.steps) {
      if (isTurnDue()) yield;
      const rest = walkStep(frame, step);
      if (rest !== undefined) yield* rest;
    }
    check();
    const timeOnDevice = context.measure ? context.now() - start : undefined;
    const encoding = section?.begin("LC", "PR", "encode outputs");
    let result = openOutputs && openShortage(plan, values, outputs);
    if (plan.hasOemOutput) result ??= yield* oemShortage(plan, values, outputs, session.memory);
    if (result === undefined) {
      for (let position = 0; position < outputs.length; position++) {
        const rest = store(plan, values, outputs, session, position);
        if (rest !== undefined) yield* rest;
      }
      result = plan.success ?? succeed(plan, values);
    }
    encoding?.end();
    // A result that is ready after the deadline is not delivered.
    check();
    return timeOnDevice === undefined ? result : { ...result, timeOnDevice };
  } catch (error) {
    return error instanceof Outcome ? error.result : failedRun(error);
  } finally {
    dropAll(session.memory, values);
    // This also ends the sections inside it that an error has left open.
    section?.end();
  }
}

/**
 * The facts of the outputs that are known before the run. Undefined if all are known, so that nothing is left to check. Throws an Outcome
 * if an output does not fit.
 */
function findOpenOutputs<Handle>(
  { graph, outputs: known }: KernelPlan<Handle>,
  outputs: readonly OutputBuffer[],
): OpenOutputs | undefined {
  let isComplete = true;
  for (let position = 0; position < known.length; position++) {
    const info = known[position];
    const { dimensions } = elementAt(outputs, position);
    if (info === undefined) isComplete = false;
    else if (!sameShape(dimensions, info.dimensions))
      refineDimensions(elementAt(graph.outputs, position), dimensions, info.dimensions);
  }
  if (!isComplete) {
    return { outputs, infos: [...known], places: new Map(graph.outputs.map((index, position) => [index, position])) };
  }
  const result = shortage(known, outputs);
  if (result !== undefined) throw new Outcome(result);
  return undefined;
}

/** The facts of an input: those of the plan if the request does not say more. Throws an OperationError if its bytes are too few. */
function infoAt<Handle>({ graph, inputs }: KernelPlan<Handle>, position: number, input: InputBuffer): TensorInfo {
  const known = inputs[position];
  const isKnown = known !== undefined && sameShape(known.dimensions, input.dimensions);
  if (isKnown && input.bytes.length >= byteLength(known.type, elementCount(known.dimensions))) return known;
  return inputInfo(graph, elementAt(graph.inputs, position), input);
}

/** Checks the shapes that only this run has found. Returns the result if an output does not fit. */
function openShortage<Handle>(
  plan: KernelPlan<Handle>,
  values: Values<Handle>,
  outputs: readonly OutputBuffer[],
): RunResult | undefined {
  const infos = plan.graph.outputs.map((index, position) => {
    const { info } = requiredValue(plan, values, index);
    refineDimensions(index, elementAt(outputs, position).dimensions, info.dimensions);
    return info;
  });
  return shortage(infos, outputs);
}

function succeed<Handle>(plan: KernelPlan<Handle>, values: Values<Handle>): RunResult {
  const shapeAt = (index: number) => ({
    dimensions: requiredValue(plan, values, index).info.dimensions,
    isSufficient: true,
  });
  return { status: ErrorStatus.NONE, outputShapes: plan.graph.outputs.map(shapeAt) };
}

/** Writes an output to its destination. Returns the work if it must pause or wait. */
function store<Handle>(
  plan: KernelPlan<Handle>,
  values: Values<Handle>,
  outputs: readonly OutputBuffer[],
  { memory, places }: Session<Handle>,
  position: number,
): Steps<void> | undefined {
  const value = requiredValue(plan, values, elementAt(plan.graph.outputs, position));
  const { type, dimensions } = value.info;
  const { bytes, buffer } = elementAt(outputs, position);
  if (buffer !== undefined) places.put(buffer, value);
  else if (type === "OEM" || byteLength(type, elementCount(dimensions)) > 0) {
    const data = dataOf(memory, value);
    if (data instanceof Promise || data.length > PART) return encodeLater(type, data, bytes);
    encodeTensorData(type, data, bytes);
  }
  return undefined;
}

function* encodeLater(type: AnyOperandType, data: TensorData | Promise<TensorData>, bytes: Uint8Array): Steps<void> {
  yield* encodeInParts(type, yield* awaitValue(data), bytes);
}

/** The result OUTPUT_INSUFFICIENT_SIZE, if an OEM scalar has more bytes than its destination. Only the kernel knows how many it has. */
function* oemShortage<Handle>(
  plan: KernelPlan<Handle>,
  values: Values<Handle>,
  outputs: readonly OutputBuffer[],
  memory: Memory<Handle>,
): Steps<RunResult | undefined> {
  const { outputs: indexes } = plan.graph;
  let message: string | undefined;
  const outputShapes: OutputShape[] = [];
  for (const [position, index] of indexes.entries()) {
    const value = requiredValue(plan, values, index);
    const { type, dimensions } = value.info;
    const length = type === "OEM" ? (yield* awaitValue(dataOf(memory, value))).length : 0;
    const available = elementAt(outputs, position).bytes.length;
    const isSufficient = length <= available;
    if (!isSufficient) message ??= `output ${position}, an OEM scalar, has ${length} bytes, not ${available}`;
    outputShapes.push({ dimensions, isSufficient });
  }
  return message === undefined ? undefined : { status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, message, outputShapes };
}
