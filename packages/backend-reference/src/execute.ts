/**
 * Runs a plan: operations in order, IF and WHILE by running the plans of their subgraphs. Everything here is a generator
 * that pauses between operations and inside long kernels; `drive` decides what a pause is used for.
 */
import {
  byteLength,
  decodeInput,
  encodeTensorData,
  type InputBuffer,
  type OutputBuffer,
  type RunContext,
  type RunResult,
  refineDimensions,
  settleOutput,
} from "@nnhal/backend";
import {
  type AnyOutputs,
  bindArguments,
  bindOutputs,
  combineDimensions,
  createData,
  elementCount,
  ensure,
  formatShape,
  inferOutputs,
  OperationError,
  type OutputTensor,
  roundAllToFloat16,
  type Tensor,
} from "@nnhal/operations";
import { ErrorStatus, OperationType, operandTypes } from "@nnhal/types";
import type { Plan, Step } from "./plan.ts";
import type { Scratch } from "./scratch.ts";

/** The values of a subgraph's operands while it runs, by operand index. */
type Values = (Tensor | undefined)[];

/** What subgraphs running inside one another share. */
interface Run extends RunContext {
  /** What model and request know of the outputs of the main subgraph, by operand index. */
  readonly outputDimensions: ReadonlyMap<number, readonly number[]>;
  readonly scratch: Scratch;
}

/** A loop that took longer than it may. */
class LoopTimeout extends Error {}

/** Runs the main subgraph on buffers. Does not throw. */
export function* runMain(
  plan: Plan,
  inputs: readonly (InputBuffer | undefined)[],
  outputs: readonly OutputBuffer[],
  context: RunContext,
  scratch: Scratch,
): Generator<void, RunResult> {
  const section = context.section?.begin("LC", "PE", "run");
  context.log?.(`run: ${plan.steps.length} operations in the main subgraph`);
  try {
    const { graph } = plan;
    const values: Values = [...plan.constants];
    const decoding = section?.begin("LC", "PTR", "decode inputs");
    inputs.forEach((input, position) => {
      if (input !== undefined) values[graph.inputs[position]] = decodeInput(graph, graph.inputs[position], input);
    });
    decoding?.end();
    const outputDimensions = new Map(outputs.map((output, position) => [graph.outputs[position], output.dimensions]));
    const start = context.now();
    yield* runPlan(plan, values, { ...context, outputDimensions, scratch, ...(section && { section }) });
    const timeOnDevice = context.now() - start;
    const encoding = section?.begin("LC", "PR", "encode outputs");
    const stored = store(
      graph.outputs.map((index) => requiredValue(values, index)),
      outputs,
    );
    encoding?.end();
    return { ...stored, ...(context.measure && { timeOnDevice }) };
  } catch (error) {
    return failure(error);
  } finally {
    // With it ends what an error left open inside.
    section?.end();
  }
}

function failure(error: unknown): RunResult {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof LoopTimeout) {
    return { status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, message, outputShapes: [] };
  }
  // What engines throw when an allocation is too large.
  if (error instanceof RangeError) {
    return { status: ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, message, outputShapes: [] };
  }
  return { status: ErrorStatus.GENERAL_FAILURE, message, outputShapes: [] };
}

/** Writes the results that fit their buffers, and says the shapes of all. */
function store(results: readonly Tensor[], outputs: readonly OutputBuffer[]): RunResult {
  const outputShapes = results.map(({ type, dimensions, data }, position) => {
    const { bytes } = outputs[position];
    const isSufficient = byteLength(type, data.length) <= bytes.length;
    if (isSufficient) encodeTensorData(type, data, bytes);
    return { dimensions, isSufficient };
  });
  const short = outputShapes.findIndex((shape) => !shape.isSufficient);
  if (short < 0) return { status: ErrorStatus.NONE, outputShapes };
  const needed = byteLength(results[short].type, results[short].data.length);
  return {
    status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
    message: `output ${short} of shape ${formatShape(results[short].dimensions)} needs ${needed} bytes, not ${outputs[short].bytes.length}`,
    outputShapes,
  };
}

/** The value of an operand that has to have one. */
function requiredValue(values: Values, index: number): Tensor {
  const value = values[index];
  ensure(value !== undefined, () => `operand ${index} has no value`);
  return value;
}

function* runPlan(plan: Plan, values: Values, run: Run): Generator<void, void> {
  // Read once: most runs have neither.
  const { section: around, log, scratch } = run;
  for (const step of plan.steps) {
    yield;
    const section = around?.begin("LC", "PCO", step.view.definition.name);
    log?.(`operation ${step.view.index} (${step.view.definition.name})`);
    try {
      yield* runStep(plan, step, values, section === undefined ? run : { ...run, section });
    } catch (error) {
      throw inOperation(step, error);
    }
    section?.end();
    for (const operand of step.given) {
      const value = values[operand];
      if (value !== undefined) scratch.giveBack(value.type, value.data);
    }
    for (const operand of step.lastUses) values[operand] = undefined;
  }
}

/** The error with the operation that it happened in. */
function inOperation({ view }: Step, error: unknown): unknown {
  if (!(error instanceof OperationError)) return error;
  return new OperationError(`operation ${view.index} (${view.definition.name}): ${error.message}`);
}

function* runStep(plan: Plan, step: Step, values: Values, run: Run): Generator<void, void> {
  const { definition } = step.view;
  if (definition.code === OperationType.IF) return yield* runIf(plan, step, values, run);
  if (definition.code === OperationType.WHILE) return yield* runWhile(plan, step, values, run);
  const { form } = step.view.match;
  const inputs = step.inputs.map((index) => inputValue(values, index));
  const args = bindArguments(definition, form, inputs);
  const infos = step.outputInfos ?? inferOutputs(definition, form, args, step.view.outputs);
  const outputs = step.view.outputs.map((declared, position): OutputTensor => {
    if (definition.dynamic) {
      const { type, scale, zeroPoint } = declared;
      return { type, scale, zeroPoint, ...quantisationOf(infos[position]), dimensions: [0], data: createData(type, 0) };
    }
    const info = settleOutput(
      declared,
      knownDimensions(run, plan, declared.index, declared.dimensions),
      infos[position],
    );
    return { ...info, data: run.scratch.take(info.type, elementCount(info.dimensions)) };
  });
  const result = definition.reference?.(args, recordOf(form, outputs), { random: run.random });
  if (result) yield* iterate(result);
  outputs.forEach((output, position) => {
    const declared = step.view.outputs[position];
    if (definition.dynamic) {
      settleOutput(declared, knownDimensions(run, plan, declared.index, declared.dimensions), output);
    }
    if (output.type === "TENSOR_FLOAT16" && output.data instanceof Float32Array) roundAllToFloat16(output.data);
    values[declared.index] = output;
  });
}

function recordOf(form: Step["view"]["match"]["form"], outputs: readonly OutputTensor[]): AnyOutputs {
  return bindOutputs(form, outputs);
}

function quantisationOf({ scale, zeroPoint }: { scale?: number; zeroPoint?: number }) {
  return scale === undefined ? {} : { scale, zeroPoint: zeroPoint ?? 0 };
}

function* iterate(steps: Iterator<void, void>): Generator<void, void> {
  while (!steps.next().done) yield;
}

/** The value of an input; undefined where the model or the request omits it. */
function inputValue(values: Values, index: number | undefined): Tensor | undefined {
  return index === undefined ? undefined : values[index];
}

/** What is known of a shape before the operation runs: the request's knowledge for outputs of the main subgraph. */
function knownDimensions(run: Run, plan: Plan, index: number, declared: readonly number[]): readonly number[] {
  return (plan.isMain ? run.outputDimensions.get(index) : undefined) ?? declared;
}

/** Runs a referenced subgraph on tensors, and gives its outputs. */
function* runReferenced(
  plan: Plan,
  inputs: readonly (Tensor | undefined)[],
  run: Run,
): Generator<void, (Tensor | undefined)[]> {
  const values: Values = [...plan.constants];
  plan.graph.inputs.forEach((index, position) => {
    const input = inputs[position];
    const declared = plan.graph.operands[index];
    if (input === undefined || declared === undefined) return;
    ensure(
      combineDimensions(declared.dimensions, input.dimensions) !== undefined,
      () =>
        `subgraph input ${position} is declared as ${formatShape(declared.dimensions)}, not ${formatShape(input.dimensions)}`,
    );
    values[index] = input;
  });
  yield* runPlan(plan, values, run);
  return plan.graph.outputs.map((index) => requiredValue(values, index));
}

function referencedPlan(plan: Plan, values: Values, index: number | undefined): Plan {
  const subgraph = index === undefined ? undefined : requiredValue(values, index).data[0];
  const referenced = subgraph === undefined ? undefined : plan.referenced[subgraph];
  ensure(referenced !== undefined, () => `subgraph ${subgraph} does not exist`);
  return referenced;
}

function isTrue(condition: Tensor | undefined): boolean {
  ensure(
    condition?.data.length === 1,
    () => `the condition has ${condition?.data.length ?? 0} elements where 1 is needed`,
  );
  return condition.data[0] !== 0;
}

function* runIf(plan: Plan, step: Step, values: Values, run: Run): Generator<void, void> {
  const [condition, thenIndex, elseIndex, ...rest] = step.inputs;
  const verdict = isTrue(inputValue(values, condition));
  run.log?.(`operation ${step.view.index} (IF): the condition is ${verdict}`);
  const branch = verdict ? thenIndex : elseIndex;
  const inputs = rest.map((index) => inputValue(values, index));
  const outputs = yield* runReferenced(referencedPlan(plan, values, branch), inputs, run);
  assignOutputs(plan, step, outputs, values, run);
}

function* runWhile(plan: Plan, step: Step, values: Values, run: Run): Generator<void, void> {
  const [conditionIndex, bodyIndex, ...rest] = step.inputs;
  const condition = referencedPlan(plan, values, conditionIndex);
  const body = referencedPlan(plan, values, bodyIndex);
  const start = run.now();
  // In-out and state-only values come first and are what the body gives; input-only ones stay.
  let state = rest.map((index) => inputValue(values, index));
  for (let iteration = 0; ; iteration++) {
    const [verdict] = yield* runReferenced(condition, state, run);
    run.log?.(
      `operation ${step.view.index} (WHILE): the condition is ${isTrue(verdict)} after ${iteration} iterations`,
    );
    if (!isTrue(verdict)) break;
    if (run.now() - start > run.loopTimeoutDuration) {
      throw new LoopTimeout(
        `operation ${step.view.index} (WHILE): the loop took longer than ${run.loopTimeoutDuration} ns`,
      );
    }
    const results = yield* runReferenced(body, state, run);
    state = [...results, ...state.slice(results.length)];
  }
  assignOutputs(plan, step, state.slice(0, step.outputs.length), values, run);
}

/** Gives an IF's or WHILE's outputs their values, within what is declared of them. */
function assignOutputs(
  plan: Plan,
  step: Step,
  results: readonly (Tensor | undefined)[],
  values: Values,
  run: Run,
): void {
  step.view.outputs.forEach((declared, position) => {
    const result = results[position];
    ensure(result !== undefined, () => `output ${position} has no value`);
    const { index, type, scale, zeroPoint } = declared;
    const known = knownDimensions(run, plan, index, declared.dimensions);
    if (operandTypes[type].kind === "tensor") refineDimensions(index, known, result.dimensions);
    values[index] = { ...result, scale, zeroPoint };
  });
}
