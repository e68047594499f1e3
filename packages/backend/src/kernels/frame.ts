/**
 * Walks the steps of a plan: operations in order, IF and WHILE by walking the plans of their subgraphs. All engines run through
 * here. Tensors stay handles; only conditions of IF and WHILE and tensors that shapes depend on are read back.
 */
import {
  combineDimensions,
  elementAt,
  elementCount,
  ensure,
  formatShape,
  heldBytes,
  isTensorType,
  layOut,
  OperationError,
  refineDimensions,
  type TensorInfo,
} from "@nnhal/operations";
import { ErrorStatus, OperationType } from "@nnhal/types";
import type { RunContext, RunSection } from "../contract.ts";
import { StatusError } from "../status-error.ts";
import type { KernelOutcome, KernelTensor, ReadTensor } from "./kernel.ts";
import { noteShape, type OpenOutputs } from "./output-buffers.ts";
import {
  bytesFor,
  isOmitted,
  type KernelPlan,
  type KernelStep,
  type PreparedStep,
  prepareStep,
  withFacts,
} from "./plan.ts";
import { awaitValue, type Check, type Steps, settle } from "./steps.ts";
import { isTurnDue } from "./turns.ts";
import { dataOf, drop, dropAll, dropAt, hold, type Memory, type Value, type Values } from "./values.ts";

/** The context that the frames of one run share. */
export interface Run<Handle> {
  readonly context: RunContext;
  /** The section of the trace that contains the frame; undefined if nothing is traced. */
  readonly section: RunSection | undefined;
  readonly memory: Memory<Handle>;
  /** Throws if the deadline has passed. */
  readonly check: Check;
}

/** A subgraph that is running. */
interface Frame<Handle> {
  readonly plan: KernelPlan<Handle>;
  readonly values: Values<Handle>;
  readonly run: Run<Handle>;
  /** The destinations of outputs of this subgraph that are outputs of the main one; undefined if all their shapes are known. */
  readonly openOutputs: OpenOutputs | undefined;
  readonly read: ReadTensor<Handle>;
}

/** A frame of a plan. `values` has the inputs; the other values are added. The caller drops all of them. */
export function makeFrame<Handle>(
  plan: KernelPlan<Handle>,
  values: Values<Handle>,
  run: Run<Handle>,
  openOutputs?: OpenOutputs,
): Frame<Handle> {
  return { plan, values, run, openOutputs, read: ({ index }) => requiredValue(plan, values, index).handle };
}

/** Walks a step. Returns the rest of it if it must pause or wait: a generator for each step would take longer than many kernels. */
export function walkStep<Handle>(given: Frame<Handle>, step: KernelStep<Handle>): Steps<void> | undefined {
  const section = enterStep(given.run, step);
  const frame = section === undefined ? given : { ...given, run: { ...given.run, section } };
  try {
    const prepared = findPrepared(step, frame.values);
    if (prepared === undefined) return finishStep(frame, step, () => walkUnprepared(frame, step));
    const outcome = startStep(frame, step, prepared);
    if (!isList(outcome)) return finishStep(frame, step, () => finish(frame, step, prepared, outcome));
    assign(frame, step, prepared, outcome);
  } catch (error) {
    throw inOperation(step, error);
  }
  leaveStep(frame, step);
  return undefined;
}

function* finishStep<Handle>(frame: Frame<Handle>, step: KernelStep<Handle>, rest: () => Steps<void>): Steps<void> {
  try {
    yield* rest();
  } catch (error) {
    throw inOperation(step, error);
  }
  leaveStep(frame, step);
}

function leaveStep<Handle>({ values, run }: Frame<Handle>, { lastUses }: KernelStep<Handle>): void {
  run.section?.end();
  for (const index of lastUses) dropAt(run.memory, values, index);
}

/** Checks the deadline, and logs and traces the operation that begins. */
function enterStep<Handle>(run: Run<Handle>, { view, name }: KernelStep<Handle>): RunSection | undefined {
  run.check();
  run.context.log?.(`operation ${view.index + 1} (${name})`);
  return run.section?.begin("LC", "PCO", name);
}

/** The error with the name of the operation that failed. */
function inOperation<Handle>({ view, name }: KernelStep<Handle>, error: unknown): unknown {
  if (error instanceof StatusError || error instanceof RangeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new OperationError(`operation ${view.index + 1} (${name}): ${message}`);
}

/** The prepared step; undefined if it must be prepared for the values of this run. */
function findPrepared<Handle>(
  { prepared, omittable }: KernelStep<Handle>,
  values: Values<Handle>,
): PreparedStep<Handle> | undefined {
  for (const index of omittable) if (values[index] === undefined) return undefined;
  return prepared;
}

/** Starts a kernel if there is room for its outputs. */
function startStep<Handle>(
  frame: Frame<Handle>,
  step: KernelStep<Handle>,
  prepared: PreparedStep<Handle>,
): KernelOutcome<Handle> {
  const { run } = frame;
  checkOutputs(frame, step, prepared);
  run.memory.used += prepared.bytes;
  try {
    return prepared.run(frame.read, run.context);
  } catch (error) {
    run.memory.used -= prepared.bytes;
    throw error;
  }
}

/** Refuses a step whose outputs do not fit their destinations or the limit of temporaries. */
function checkOutputs<Handle>(
  { run, openOutputs }: Frame<Handle>,
  step: KernelStep<Handle>,
  outcome: Pick<PreparedStep<Handle>, "outputs" | "bytes" | "isDynamic">,
): void {
  if (openOutputs !== undefined && !outcome.isDynamic) noteShapes(openOutputs, step, outcome.outputs);
  checkLimit(run, step, outcome);
}

function noteShapes<Handle>(
  openOutputs: OpenOutputs,
  { view }: KernelStep<Handle>,
  infos: readonly TensorInfo[],
): void {
  for (const [position, info] of infos.entries()) noteShape(openOutputs, elementAt(view.outputs, position).index, info);
}

function checkLimit<Handle>(
  { memory, context: { temporaryLimit: limit } }: Run<Handle>,
  { view, name, prepared }: KernelStep<Handle>,
  { bytes, outputs }: Pick<PreparedStep<Handle>, "outputs" | "bytes">,
): void {
  if (limit === undefined || memory.used + bytes <= limit) return;
  const shapes = outputs.map(({ dimensions }) => formatShape(dimensions)).join(", ");
  throw makeExhausted(
    prepared !== undefined && bytes > limit,
    `operation ${view.index + 1} (${name}): outputs of shape ${shapes} need ${bytes} bytes, ` +
      `but ${Math.max(limit - memory.used, 0)} of ${limit} are left for temporaries`,
  );
}

/** Refuses a plan that needs more than the limit of temporaries in every run. */
export function checkPeak<Handle>(
  { peak }: KernelPlan<Handle>,
  { temporaryLimit: limit }: Pick<RunContext, "temporaryLimit">,
): void {
  if (limit === undefined || peak.bytes <= limit) return;
  throw makeExhausted(true, `${peak.operation}: temporaries take ${peak.bytes} bytes, more than the limit of ${limit}`);
}

/** `isLasting`: every run of the model fails. */
function makeExhausted(isLasting: boolean, message: string): StatusError {
  const { RESOURCE_EXHAUSTED_PERSISTENT, RESOURCE_EXHAUSTED_TRANSIENT } = ErrorStatus;
  return new StatusError(isLasting ? RESOURCE_EXHAUSTED_PERSISTENT : RESOURCE_EXHAUSTED_TRANSIENT, message);
}

function isList<Handle>(outcome: KernelOutcome<Handle>): outcome is readonly Handle[] {
  return Array.isArray(outcome);
}

/** Waits for a kernel that is asynchronous or pauses. */
function* finish<Handle>(
  frame: Frame<Handle>,
  step: KernelStep<Handle>,
  prepared: PreparedStep<Handle>,
  outcome: Exclude<KernelOutcome<Handle>, readonly Handle[]>,
): Steps<void> {
  let handles: readonly Handle[];
  try {
    handles = outcome instanceof Promise ? yield* settle(outcome) : yield* outcome;
  } catch (error) {
    frame.run.memory.used -= prepared.bytes;
    throw error;
  }
  assign(frame, step, prepared, handles);
}

/** Assigns the results of a kernel to the outputs of its step. */
function assign<Handle>(
  { values, run, openOutputs }: Frame<Handle>,
  { view: { outputs } }: KernelStep<Handle>,
  { outputs: infos, isDynamic }: PreparedStep<Handle>,
  handles: readonly Handle[],
): void {
  const { memory } = run;
  const { engine } = memory;
  for (let position = 0; position < handles.length; position++) {
    const handle = elementAt(handles, position);
    const { index } = elementAt(outputs, position);
    const inferred = elementAt(infos, position);
    const dimensions = isDynamic ? engine.extentsOf?.(handle) : undefined;
    const info = dimensions === undefined ? inferred : { ...inferred, dimensions };
    const bytes = heldBytes(info);
    if (isDynamic) memory.used += bytes;
    values[index] = { info, handle, bytes, holders: 1 };
  }
  if (handles.length < outputs.length) {
    memory.used -= bytesFor(infos.slice(handles.length), isDynamic);
    throw new OperationError(`the kernel returned ${handles.length} of ${outputs.length} outputs`);
  }
  if (!isDynamic) return;
  for (const { index, dimensions } of outputs) {
    const info = values[index]?.info;
    if (info === undefined) continue;
    refineDimensions(index, dimensions, info.dimensions);
    if (openOutputs !== undefined) noteShape(openOutputs, index, info);
  }
}

/** The value of an operand; undefined if the model or the request omits it. */
function valueAt<Handle>(plan: KernelPlan<Handle>, values: Values<Handle>, index: number): Value<Handle> | undefined {
  return values[index] ?? plan.constants.get(index);
}

/** The value of an operand that must have one. */
export function requiredValue<Handle>(plan: KernelPlan<Handle>, values: Values<Handle>, index: number): Value<Handle> {
  const value = valueAt(plan, values, index);
  ensure(value !== undefined, () => `operand ${index} has no value`);
  return value;
}

function* walkUnprepared<Handle>(frame: Frame<Handle>, step: KernelStep<Handle>): Steps<void> {
  const { code } = step.view.definition;
  if (code === OperationType.IF) yield* walkIf(frame, step);
  else if (code === OperationType.WHILE) yield* walkWhile(frame, step);
  else yield* prepareAndRun(frame, step);
}

/** Prepares a kernel for the values of this run, runs it, and closes it. */
function* prepareAndRun<Handle>(frame: Frame<Handle>, step: KernelStep<Handle>): Steps<void> {
  const { plan, values, run } = frame;
  const { view, kernel } = step;
  ensure(kernel !== undefined, () => "there is no kernel for it");
  const { form } = view.match;
  const params = layOut(form.params, form.counts, view.inputs.length) ?? [];
  const inputs: (KernelTensor | undefined)[] = [];
  for (const [position, operand] of view.inputs.entries()) {
    const value = isOmitted(operand) ? undefined : valueAt(plan, values, operand.index);
    const { name, omittable, read } = elementAt(params, position);
    ensure(
      value !== undefined || omittable === true,
      () => `input ${position} (${name}) has no value, but the operation needs one`,
    );
    const isRead = !isTensorType(operand.type) || read === true;
    const data = value && isRead ? yield* awaitValue(dataOf(run.memory, value)) : undefined;
    inputs.push(value && withFacts(operand, value.info, data));
  }
  const prepared = prepareStep(view, kernel, inputs, run.memory.engine, plan.constants, (outcome) =>
    checkOutputs(frame, step, outcome),
  );
  try {
    const outcome = startStep(frame, step, prepared);
    if (isList(outcome)) assign(frame, step, prepared, outcome);
    else yield* finish(frame, step, prepared, outcome);
  } finally {
    prepared.close();
  }
}

/** Walks a referenced subgraph. The caller holds the values that are returned. */
function* walkReferenced<Handle>(
  plan: KernelPlan<Handle>,
  inputs: readonly (Value<Handle> | undefined)[],
  run: Run<Handle>,
  openOutputs?: OpenOutputs,
): Steps<Value<Handle>[]> {
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
    const frame = makeFrame(plan, values, run, openOutputs);
    for (const step of plan.steps) {
      if (isTurnDue()) yield;
      const rest = walkStep(frame, step);
      if (rest !== undefined) yield* rest;
    }
    run.check();
    return plan.graph.outputs.map((index) => hold(requiredValue(plan, values, index)));
  } finally {
    dropAll(run.memory, values);
  }
}

/** The plan that an operand of IF or WHILE names. */
function planOf<Handle>({ plan }: Frame<Handle>, step: KernelStep<Handle>, position: number): KernelPlan<Handle> {
  const subgraph = step.view.inputs[position]?.data?.[0];
  const referenced = subgraph === undefined ? undefined : plan.referenced[subgraph];
  ensure(referenced !== undefined, () => `subgraph ${subgraph} does not exist`);
  return referenced;
}

/** Returns whether a condition holds. */
function* isTrue<Handle>({ memory }: Run<Handle>, condition: Value<Handle> | undefined): Steps<boolean> {
  const count = condition === undefined ? 0 : elementCount(condition.info.dimensions);
  ensure(condition !== undefined && count === 1, () => `the condition: expected 1 element, got ${count}`);
  const [element] = yield* awaitValue(dataOf(memory, condition));
  return element !== 0;
}

function inputsFrom<Handle>({ plan, values }: Frame<Handle>, step: KernelStep<Handle>, first: number) {
  const operands = step.view.inputs.slice(first);
  return operands.map((operand) => (isOmitted(operand) ? undefined : valueAt(plan, values, operand.index)));
}

function* walkIf<Handle>(frame: Frame<Handle>, step: KernelStep<Handle>): Steps<void> {
  const { run, openOutputs } = frame;
  const verdict = yield* isTrue(run, inputsFrom(frame, step, 0)[0]);
  run.context.log?.(`operation ${step.view.index + 1} (IF): the condition is ${verdict}`);
  const branch = planOf(frame, step, verdict ? 1 : 2);
  const inner = openOutputs && narrowToBranch(openOutputs, step, branch);
  assignOutputs(frame, step, yield* walkReferenced(branch, inputsFrom(frame, step, 3), run, inner));
}

/** The outputs of a branch have the destinations of the outputs of the IF. */
function narrowToBranch<Handle>(
  openOutputs: OpenOutputs,
  { view }: KernelStep<Handle>,
  { graph }: KernelPlan<Handle>,
): OpenOutputs {
  const places = new Map<number, number>();
  view.outputs.forEach(({ index }, position) => {
    const place = openOutputs.places.get(index);
    if (place !== undefined) places.set(elementAt(graph.outputs, position), place);
  });
  return { ...openOutputs, places };
}

function* walkWhile<Handle>(frame: Frame<Handle>, step: KernelStep<Handle>): Steps<void> {
  const { run } = frame;
  const { memory, context } = run;
  const { loopTimeoutDuration } = context;
  const loop = `operation ${step.view.index + 1} (WHILE)`;
  const condition = planOf(frame, step, 0);
  const body = planOf(frame, step, 1);
  const start = context.now();
  // In-out and state-only values come first, and the body returns them; input-only values stay the same.
  let state = inputsFrom(frame, step, 2).map((value) => value && hold(value));
  try {
    for (let iteration = 0; ; iteration++) {
      const verdicts = yield* walkReferenced(condition, state, run);
      let goesOn: boolean;
      try {
        goesOn = yield* isTrue(run, verdicts[0]);
      } finally {
        for (const verdict of verdicts) drop(memory, verdict);
      }
      context.log?.(`${loop}: the condition is ${goesOn} after ${iteration} iterations`);
      if (!goesOn) break;
      if (context.now() - start > loopTimeoutDuration) {
        throw new StatusError(
          ErrorStatus.MISSED_DEADLINE_TRANSIENT,
          `${loop}: the loop took longer than ${loopTimeoutDuration} ns`,
        );
      }
      const results = yield* walkReferenced(body, state, run);
      for (const value of state.slice(0, results.length)) drop(memory, value);
      state = [...results, ...state.slice(results.length)];
    }
    assignOutputs(
      frame,
      step,
      state.slice(0, step.view.outputs.length).map((value) => value && hold(value)),
    );
  } finally {
    for (const value of state) drop(memory, value);
  }
}

/** Assigns results to the outputs of an IF or WHILE, and checks their shapes. Takes over the holds on `results`. */
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
    for (const result of results) drop(run.memory, result);
    throw error;
  }
  step.view.outputs.forEach(({ index }, position) => {
    values[index] = results[position];
  });
}
