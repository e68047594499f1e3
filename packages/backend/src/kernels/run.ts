/**
 * Runs a plan of kernels: operations in order, IF and WHILE by running the plans of their subgraphs. Tensors stay handles; what
 * is read back is the outputs, the conditions of IF and WHILE, and what shapes depend on.
 */
import {
  byteLength,
  combineDimensions,
  elementCount,
  encodeTensorData,
  ensure,
  formatShape,
  isTensorType,
  layOut,
  OperationError,
} from "@nnhal/operations";
import { ErrorStatus, OperationType } from "@nnhal/types";
import type { InputBuffer, OutputBuffer, RunContext, RunResult } from "../contract.ts";
import { decodeInput } from "../input.ts";
import { refineDimensions } from "../settle.ts";
import type { KernelEngine, KernelTensor } from "./kernel.ts";
import type { Places } from "./places.ts";
import { isOmitted, type KernelPlan, type KernelStep, type PreparedStep, prepareStep, withFacts } from "./plan.ts";
import { dataOf, drop, dropAll, hold, type Value, type Values } from "./values.ts";

/** A run that took longer than it may. */
class Late extends Error {}

/** What the frames of one run share. */
interface Run<Handle> extends RunContext {
  readonly engine: KernelEngine<Handle>;
  /** When the event loop gets its next turn. */
  turnAt: bigint;
}

/** A subgraph that is running. */
interface Frame<Handle> {
  readonly plan: KernelPlan<Handle>;
  readonly values: Values<Handle>;
  readonly run: Run<Handle>;
}

/** Longest time in nanoseconds that the event loop waits for kernels, which are not interrupted. */
const SLICE = 20_000_000n;

/** Runs the main subgraph on buffers. Does not reject. */
export async function runKernels<Handle>(
  plan: KernelPlan<Handle>,
  engine: KernelEngine<Handle>,
  places: Places<Handle>,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
): Promise<RunResult> {
  const { graph } = plan;
  const values: Values<Handle> = [];
  const section = context.section?.begin("LC", "PE", "run");
  context.log?.(`run: ${plan.steps.length} operations in the main subgraph`);
  try {
    const placing = section?.begin("LC", "PTR", "upload inputs");
    inputs.forEach((input, position) => {
      if (input === undefined) return;
      const index = graph.inputs[position];
      values[index] = input.buffer ? places.take(input.buffer) : upload(plan, engine, index, input);
    });
    placing?.end();
    const start = context.now();
    await runFrame({ plan, values, run: { ...context, ...(section && { section }), engine, turnAt: start + SLICE } });
    const reading = section?.begin("LC", "PR", "download outputs");
    const results = graph.outputs.map((index, position) => {
      const value = requiredValue(plan, values, index);
      refineDimensions(index, outputs[position].dimensions, value.info.dimensions);
      return value;
    });
    const result = await store(results, outputs, engine, places);
    reading?.end();
    return { ...result, ...(context.measure && { timeOnDevice: context.now() - start }) };
  } catch (error) {
    return failure(error);
  } finally {
    dropAll(engine, values, values.keys());
    // With it ends what an error left open inside.
    section?.end();
  }
}

function failure(error: unknown): RunResult {
  const message = error instanceof Error ? error.message : String(error);
  const status =
    error instanceof Late
      ? ErrorStatus.MISSED_DEADLINE_TRANSIENT
      : // What engines throw when an allocation is too large.
        error instanceof RangeError
        ? ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT
        : ErrorStatus.GENERAL_FAILURE;
  return { status, message, outputShapes: [] };
}

function upload<Handle>(
  { graph }: KernelPlan<Handle>,
  engine: KernelEngine<Handle>,
  index: number,
  input: InputBuffer,
): Value<Handle> {
  const { data, ...info } = decodeInput(graph, index, input);
  return { info, handle: engine.upload(info, data), data, holders: 1 };
}

/** Reads back the results that fit their buffers, but for those that stay in the engine, and says the shapes of all. */
async function store<Handle>(
  results: readonly Value<Handle>[],
  outputs: readonly OutputBuffer[],
  engine: KernelEngine<Handle>,
  places: Places<Handle>,
): Promise<RunResult> {
  const outputShapes = [];
  let message: string | undefined;
  for (const [position, value] of results.entries()) {
    const { type, dimensions } = value.info;
    const { bytes, buffer } = outputs[position];
    if (buffer !== undefined) {
      places.put(buffer, value);
      outputShapes.push({ dimensions, isSufficient: true });
      continue;
    }
    const needed = byteLength(type, elementCount(dimensions));
    const isSufficient = needed <= bytes.length;
    if (isSufficient && needed > 0) encodeTensorData(type, await dataOf(engine, value), bytes);
    if (!isSufficient) {
      message ??= `output ${position} of shape ${formatShape(dimensions)} needs ${needed} bytes, not ${bytes.length}`;
    }
    outputShapes.push({ dimensions, isSufficient });
  }
  if (message === undefined) return { status: ErrorStatus.NONE, outputShapes };
  return { status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, message, outputShapes };
}

/** The value of an operand; undefined where the model or the request omits it. */
function valueAt<Handle>(plan: KernelPlan<Handle>, values: Values<Handle>, index: number): Value<Handle> | undefined {
  return values[index] ?? plan.constants.get(index);
}

function requiredValue<Handle>(plan: KernelPlan<Handle>, values: Values<Handle>, index: number): Value<Handle> {
  const value = valueAt(plan, values, index);
  ensure(value !== undefined, () => `operand ${index} has no value`);
  return value;
}

async function runFrame<Handle>(frame: Frame<Handle>): Promise<void> {
  const { plan, values, run } = frame;
  for (const step of plan.steps) {
    const time = run.now();
    if (run.deadline !== undefined && time >= run.deadline) {
      throw new Late("the deadline passed before the execution ended");
    }
    if (time >= run.turnAt) {
      await turn();
      run.turnAt = run.now() + SLICE;
    }
    const section = run.section?.begin("LC", "PCO", step.name);
    run.log?.(`operation ${step.view.index} (${step.name})`);
    try {
      // Most steps answer at once, and waiting for nothing still costs a turn of the microtask queue.
      const done = runStep(section === undefined ? frame : { ...frame, run: { ...run, section } }, step);
      if (done !== undefined) await done;
    } catch (error) {
      throw inOperation(step, error);
    }
    section?.end();
    dropAll(run.engine, values, step.lastUses);
  }
}

/** Lets the event loop turn once. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/** The error with the operation that it happened in. */
function inOperation<Handle>({ view, name }: KernelStep<Handle>, error: unknown): unknown {
  if (error instanceof Late || error instanceof RangeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new OperationError(`operation ${view.index} (${name}): ${message}`);
}

function runStep<Handle>(frame: Frame<Handle>, step: KernelStep<Handle>): Promise<void> | undefined {
  const { code } = step.view.definition;
  if (code === OperationType.IF) return runIf(frame, step);
  if (code === OperationType.WHILE) return runWhile(frame, step);
  const isComplete = step.omittable.every((index) => frame.values[index] !== undefined);
  return step.prepared && isComplete ? runPrepared(frame, step, step.prepared) : runUnprepared(frame, step);
}

function runPrepared<Handle>(
  { plan, values, run }: Frame<Handle>,
  { view }: KernelStep<Handle>,
  { run: kernel, outputs }: PreparedStep<Handle>,
): Promise<void> | undefined {
  const given = kernel(({ index }) => requiredValue(plan, values, index).handle, run);
  if (given instanceof Promise) return given.then((handles) => assign(values, view, outputs, handles));
  assign(values, view, outputs, given);
  return undefined;
}

function assign<Handle>(
  values: Values<Handle>,
  { outputs }: KernelStep<Handle>["view"],
  infos: PreparedStep<Handle>["outputs"],
  handles: readonly Handle[],
): void {
  for (let position = 0; position < outputs.length; position++) {
    values[outputs[position].index] = { info: infos[position], handle: handles[position], holders: 1 };
  }
}

/** Prepares a kernel for the values at hand, runs it, and forgets it. */
async function runUnprepared<Handle>(frame: Frame<Handle>, step: KernelStep<Handle>): Promise<void> {
  const { plan, values, run } = frame;
  const { view, kernel } = step;
  ensure(kernel !== undefined, () => "there is no kernel for it");
  const { form } = view.match;
  const params = layOut(form.params, form.counts, view.inputs.length) ?? [];
  const inputs: (KernelTensor | undefined)[] = [];
  for (const [position, operand] of view.inputs.entries()) {
    const value = isOmitted(operand) ? undefined : valueAt(plan, values, operand.index);
    const isRead = !isTensorType(operand.type) || params[position].read === true;
    const data = value && isRead ? await dataOf(run.engine, value) : undefined;
    inputs.push(value && withFacts(operand, value.info, data));
  }
  const prepared = prepareStep(view, kernel, inputs, run.engine, plan.constants);
  try {
    await runPrepared(frame, step, prepared);
  } finally {
    prepared.close();
  }
}

/** Runs a referenced subgraph. The caller holds what it gives. */
async function runReferenced<Handle>(
  plan: KernelPlan<Handle>,
  inputs: readonly (Value<Handle> | undefined)[],
  run: Run<Handle>,
): Promise<Value<Handle>[]> {
  const values: Values<Handle> = [];
  try {
    plan.graph.inputs.forEach((index, position) => {
      const input = inputs[position];
      const declared = plan.graph.operands[index];
      if (input === undefined || declared === undefined) return;
      ensure(
        combineDimensions(declared.dimensions, input.info.dimensions) !== undefined,
        () =>
          `subgraph input ${position} is declared as ${formatShape(declared.dimensions)}, not ${formatShape(input.info.dimensions)}`,
      );
      values[index] = hold(input);
    });
    await runFrame({ plan, values, run });
    return plan.graph.outputs.map((index) => hold(requiredValue(plan, values, index)));
  } finally {
    dropAll(run.engine, values, values.keys());
  }
}

/** The plan that an operand of IF or WHILE names. */
function planOf<Handle>({ plan }: Frame<Handle>, step: KernelStep<Handle>, position: number): KernelPlan<Handle> {
  const subgraph = step.view.inputs[position].data?.[0];
  const referenced = subgraph === undefined ? undefined : plan.referenced[subgraph];
  ensure(referenced !== undefined, () => `subgraph ${subgraph} does not exist`);
  return referenced;
}

async function isTrue<Handle>(run: Run<Handle>, condition: Value<Handle> | undefined): Promise<boolean> {
  const count = condition === undefined ? 0 : elementCount(condition.info.dimensions);
  ensure(condition !== undefined && count === 1, () => `the condition has ${count} elements where 1 is needed`);
  return (await dataOf(run.engine, condition))[0] !== 0;
}

function inputsFrom<Handle>({ plan, values }: Frame<Handle>, step: KernelStep<Handle>, first: number) {
  const operands = step.view.inputs.slice(first);
  return operands.map((operand) => (isOmitted(operand) ? undefined : valueAt(plan, values, operand.index)));
}

async function runIf<Handle>(frame: Frame<Handle>, step: KernelStep<Handle>): Promise<void> {
  const [condition, ...inputs] = [...inputsFrom(frame, step, 0).slice(0, 1), ...inputsFrom(frame, step, 3)];
  const branch = planOf(frame, step, (await isTrue(frame.run, condition)) ? 1 : 2);
  assignOutputs(frame, step, await runReferenced(branch, inputs, frame.run));
}

async function runWhile<Handle>(frame: Frame<Handle>, step: KernelStep<Handle>): Promise<void> {
  const { run } = frame;
  const condition = planOf(frame, step, 0);
  const body = planOf(frame, step, 1);
  const start = run.now();
  // In-out and state-only values come first and are what the body gives; input-only ones stay.
  let state = inputsFrom(frame, step, 2).map((value) => value && hold(value));
  try {
    for (;;) {
      const verdicts = await runReferenced(condition, state, run);
      const goesOn = await isTrue(run, verdicts[0]).finally(() => {
        for (const verdict of verdicts) drop(run.engine, verdict);
      });
      if (!goesOn) break;
      if (run.now() - start > run.loopTimeoutDuration) {
        throw new Late(`operation ${step.view.index} (WHILE): the loop took longer than ${run.loopTimeoutDuration} ns`);
      }
      const results = await runReferenced(body, state, run);
      for (const value of state.slice(0, results.length)) drop(run.engine, value);
      state = [...results, ...state.slice(results.length)];
    }
    assignOutputs(
      frame,
      step,
      state.slice(0, step.view.outputs.length).map((value) => value && hold(value)),
    );
  } finally {
    for (const value of state) drop(run.engine, value);
  }
}

/** Gives an IF's or WHILE's outputs their values, within what is declared of them; who held `results` held them for these. */
function assignOutputs<Handle>(
  { values, run }: Frame<Handle>,
  step: KernelStep<Handle>,
  results: readonly (Value<Handle> | undefined)[],
): void {
  try {
    step.view.outputs.forEach(({ index, type, dimensions }, position) => {
      const result = results[position];
      ensure(result !== undefined, () => `output ${position} has no value`);
      if (isTensorType(type)) refineDimensions(index, dimensions, result.info.dimensions);
    });
  } catch (error) {
    for (const result of results) drop(run.engine, result);
    throw error;
  }
  step.view.outputs.forEach(({ index }, position) => {
    values[index] = results[position];
  });
}
