/**
 * Executions whose result is known.
 */
import { elementAt } from "@nnhal/operations";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  type Memory,
  type PreparedModel,
  type Request,
} from "@nnhal/types";
import type { ElementType } from "../needs.ts";
import { executeBy, type Way, type WayResult } from "./bench.ts";
import { expectExecution, expectSame, expectStatus, expectThat } from "./check.ts";
import type { SmallModel } from "./small-models.ts";
import { emptyMemory, memoryWith, requestFor, sizeOf, valuesIn } from "./values.ts";

/** A request with memory for each argument, and the expected outputs. */
export interface Trial {
  readonly request: Request;
  readonly outputs: readonly Memory[];
  /** Ends the case if the outputs hold anything else, each at the start of its memory. */
  check(what: string): void;
}

/** Memory and a request for some values. */
export function trialOf(
  type: ElementType,
  inputs: readonly (readonly number[])[],
  expected: readonly (readonly number[])[],
  dimensions: readonly number[] = [],
): Trial {
  const given = inputs.map((values) => ({ at: memoryWith(type, values), dimensions }));
  const outputs = expected.map((values) => emptyMemory(sizeOf(type, [values.length])));
  return {
    request: requestFor(given, outputs),
    outputs,
    check(what) {
      for (const [index, values] of expected.entries()) {
        expectValues(`${what}: output ${index}`, type, elementAt(outputs, index), values);
      }
    },
  };
}

/** A trial of a small model on different values for each `salt`. */
export function trialFor(
  small: SmallModel,
  inputs: readonly (readonly number[])[],
  dimensions?: readonly number[],
): Trial {
  return trialOf(small.type, inputs, small.compute(inputs), dimensions);
}

/** Ends the case if a memory does not begin with some elements; floats may differ in their last digits. */
export function expectValues(what: string, type: ElementType, memory: Memory, expected: readonly number[]): void {
  const actual = valuesIn(type, memory).slice(0, expected.length);
  const tolerance = (value: number) => (type.includes("QUANT") ? 1 : 5e-3 + 5e-3 * Math.abs(value));
  const isClose = actual.every(
    (value, index) => Math.abs(value - elementAt(expected, index)) <= tolerance(elementAt(expected, index)),
  );
  if (!isClose || actual.length !== expected.length) expectSame(what, actual, expected);
}

/** Executes a trial that has to succeed, and looks at all of the answer. */
export async function runTrial(
  preparedModel: PreparedModel,
  trial: Trial,
  options?: ExecuteOptions,
): Promise<ExecutionResult> {
  const result = await preparedModel.execute(trial.request, options);
  expectExecution("execute", result, ErrorStatus.NONE);
  expectShapes("execute", result, trial.request);
  trial.check("execute");
  return result;
}

/** Checks the shapes of an answer with NONE: none at all, or one for each output, all sufficient. */
export function expectShapes(
  call: string,
  { outputShapes }: Pick<ExecutionResult, "outputShapes">,
  { outputs }: Request,
): void {
  const { length } = outputShapes;
  expectThat(length === 0 || length === outputs.length, () => `${call}: ${length} shapes of ${outputs.length} outputs`);
  const short = outputShapes.findIndex(({ isSufficient }) => !isSufficient);
  expectThat(short < 0, () => `${call}: NONE, but output ${short} is said not to fit`);
}

/** Executes once on values that are given and expected. */
export async function runOnce(
  preparedModel: PreparedModel,
  type: ElementType,
  inputs: readonly (readonly number[])[],
  expected: readonly (readonly number[])[],
): Promise<void> {
  await runTrial(preparedModel, trialOf(type, inputs, expected));
}

/** Executes in some way a request that must end with one of some statuses, and checks that an error carries nothing else. */
export async function expectBy(
  way: Way,
  preparedModel: PreparedModel,
  request: Request,
  options: ExecuteOptions,
  ...allowed: readonly ErrorStatus[]
): Promise<WayResult> {
  const result = await executeBy(way, preparedModel, request, options);
  const { outputShapes, timing } = result;
  if (outputShapes === undefined || timing === undefined) expectStatus(way.name, result, ...allowed);
  else expectExecution(way.name, { ...result, outputShapes, timing }, ...allowed);
  return result;
}
