/**
 * Copies of the arguments of a device: every field is read once into plain data. Later changes of the caller's object,
 * and getters that return another value, have no effect.
 */
import type { Hint } from "@nnhal/backend";
import {
  type BufferRole,
  type CompilationCache,
  type ExecuteOptions,
  ExecutionPreference,
  type FencedExecuteOptions,
  MeasureTiming,
  type Model,
  type PrepareOptions,
  Priority,
  type Request,
  type RequestArgument,
  type RequestMemoryPool,
} from "@nnhal/types";
import {
  deviceRequestIssues,
  hasFields,
  longestList,
  show,
  TooLong,
  takeList,
  takeNumbers,
  Unreadable,
  validateExecutionPreference,
  validatePriority,
} from "@nnhal/validation";
import type { ModelRecord } from "../engine/record.ts";
import { formatIssues } from "../guard/format-issues.ts";
import type { HintsTaker } from "../guard/hints.ts";
import { invalid, messageOf, type Refusal } from "../guard/refusal.ts";

/** Options of an execution, with the hints that the engine reads. */
export interface RunOptions extends Omit<ExecuteOptions, "hints"> {
  readonly hints?: readonly Hint[] | undefined;
}

/** Options of a fenced execution. */
export type FencedRunOptions = RunOptions & Pick<FencedExecuteOptions, "duration">;

/** Options of a preparation. */
export interface PrepareArguments {
  readonly preference: ExecutionPreference;
  readonly priority: Priority;
  readonly deadline: bigint | undefined;
  readonly cache: CompilationCache | undefined;
  /** Undefined if there are none that the engine reads. */
  readonly hints: readonly Hint[] | undefined;
}

/** Copies and checks the options of a preparation. They can be any value. `takeHints`: absent if the engine reads none; they are ignored then. */
export function prepareArguments(
  options: PrepareOptions | undefined,
  takeHints: HintsTaker | undefined,
): PrepareArguments | Refusal {
  return takeOptions(options, (given) => {
    const { preference = ExecutionPreference.FAST_SINGLE_ANSWER, priority = Priority.MEDIUM, deadline, cache } = given;
    if (!validateExecutionPreference(preference)) {
      return invalid(`the execution preference: expected 0, 1 or 2, got ${show(preference)}`);
    }
    if (!validatePriority(priority)) return invalid(`the priority: expected 0, 1 or 2, got ${show(priority)}`);
    const hints = given.hints && takeHints?.(given.hints);
    if (hints !== undefined && "status" in hints) return hints;
    return timeProblem("deadline", deadline) ?? { preference, priority, deadline, cache, hints };
  });
}

const noOptions: RunOptions = {};

/** Copies and checks the options of an execution. They can be any value. */
export function executeArguments(
  options: ExecuteOptions | undefined,
  takeHints: HintsTaker | undefined,
): RunOptions | Refusal {
  return options === undefined ? noOptions : takeOptions(options, (given) => takeExecuteOptions(given, takeHints));
}

/** Copies and checks the options of a fenced execution. They can be any value. */
export function fencedArguments(
  options: FencedExecuteOptions | undefined,
  takeHints: HintsTaker | undefined,
): FencedRunOptions | Refusal {
  return takeOptions(options, (given) => {
    const { duration } = given;
    const taken = timeProblem("duration", duration) ?? takeExecuteOptions(given, takeHints);
    return "status" in taken || duration === undefined ? taken : { ...taken, duration };
  });
}

function takeExecuteOptions(given: ExecuteOptions, takeHints: HintsTaker | undefined): RunOptions | Refusal {
  const { measure, deadline, loopTimeoutDuration, signal } = given;
  if (measure !== undefined && measure !== MeasureTiming.NO && measure !== MeasureTiming.YES) {
    return invalid(`measure: expected 0 or 1, got ${show(measure)}`);
  }
  const problem = timeProblem("deadline", deadline) ?? timeProblem("loopTimeoutDuration", loopTimeoutDuration);
  if (problem !== undefined) return problem;
  if (signal !== undefined && !isStopSignal(signal))
    return invalid(`the signal: expected an AbortSignal, got ${show(signal)}`);
  const hints = given.hints && takeHints?.(given.hints);
  if (hints !== undefined && "status" in hints) return hints;
  const isPlain =
    deadline === undefined && loopTimeoutDuration === undefined && signal === undefined && hints === undefined;
  if (isPlain && measure !== MeasureTiming.YES) return noOptions;
  return {
    ...(measure !== undefined && { measure }),
    ...(deadline !== undefined && { deadline }),
    ...(loopTimeoutDuration !== undefined && { loopTimeoutDuration }),
    ...(signal !== undefined && { signal }),
    ...(hints !== undefined && { hints }),
  };
}

function isStopSignal(value: unknown): boolean {
  return hasFields(value) && typeof value.aborted === "boolean";
}

function timeProblem(what: string, time: unknown): Refusal | undefined {
  if (time === undefined || typeof time === "bigint") return undefined;
  return invalid(`the ${what}: expected a bigint of nanoseconds, got ${show(time)}`);
}

/** Copies options, or returns the fault in them. */
function takeOptions<Options extends object, Taken>(
  options: Options | undefined,
  take: (options: Options) => Taken | Refusal,
): Taken | Refusal {
  const given: unknown = options === undefined ? {} : options;
  if (!hasFields(given)) {
    return invalid(`the options: expected an object, got ${show(given)}`);
  }
  try {
    // It is an object; `take` checks each field.
    return take(given as Options);
  } catch (error) {
    return invalid(`the options cannot be read: ${messageOf(error)}`);
  }
}

/** Copies a request and validates the copy against its model. The request can be any value. */
export function takeRequest(
  request: Request,
  { model, factsOf }: Pick<ModelRecord, "model" | "factsOf">,
  allowUnspecifiedOutput: boolean,
): Request | Refusal {
  let taken: Request;
  try {
    taken = takenRequest(request, model);
  } catch (error) {
    // Validation has the best message, if it finds the fault too.
    const issues =
      error instanceof TooLong ? [] : deviceRequestIssues(request, model, { allowUnspecifiedOutput, factsOf });
    if (issues.length === 0) return invalid(`the request cannot be read: ${messageOf(error)}`);
    return invalid(`the request is not valid: ${formatIssues(issues)}`);
  }
  const issues = deviceRequestIssues(taken, model, { allowUnspecifiedOutput, isModelSound: true, factsOf });
  return issues.length > 0 ? invalid(`the request is not valid: ${formatIssues(issues)}`) : taken;
}

function takenRequest({ inputs, outputs, pools }: Request, { main }: Model): Request {
  return {
    inputs: takeArguments(inputs, "inputs", main.inputIndexes.length),
    outputs: takeArguments(outputs, "outputs", main.outputIndexes.length),
    pools: takePools(pools),
  };
}

// The lists of a request are copied for each execution, so each has a loop without a callback for each element.

function takeArguments(list: readonly RequestArgument[], what: string, count: number): RequestArgument[] {
  if (!Array.isArray(list) || list.length !== count)
    throw new Unreadable(`${what}: expected ${count} arguments, got ${show(list)}`);
  const taken: RequestArgument[] = [];
  for (let index = 0; index < count; index++) {
    const { hasNoValue, location, dimensions } = list[index];
    const { poolIndex, offset, length, padding } = location;
    taken.push({
      hasNoValue,
      location: padding === undefined ? { poolIndex, offset, length } : { poolIndex, offset, length, padding },
      dimensions: takeNumbers(dimensions, "dimensions"),
    });
  }
  return taken;
}

function takePools(pools: readonly RequestMemoryPool[]): RequestMemoryPool[] {
  const { length } = pools;
  if (!Array.isArray(pools)) throw new Unreadable(`pools: expected an array, got ${show(pools)}`);
  if (length > longestList) throw new TooLong(`pools: expected at most ${longestList} elements, got ${length}`);
  const taken: RequestMemoryPool[] = [];
  for (let index = 0; index < length; index++) {
    const pool = pools[index];
    taken.push(pool.kind === "memory" ? { kind: "memory", memory: pool.memory } : { kind: "token", token: pool.token });
  }
  return taken;
}

/** The copied arguments of allocate. */
export interface AllocateArguments {
  readonly dimensions: readonly number[];
  /** The caller's prepared models; other values in the list are kept as they are. */
  readonly preparedModels: readonly unknown[];
  readonly inputRoles: readonly BufferRole[];
  readonly outputRoles: readonly BufferRole[];
}

/** Copies and checks the arguments of allocate. They can be any values. */
export function allocateArguments(
  desc: { readonly dimensions: readonly number[] },
  preparedModels: readonly unknown[],
  inputRoles: readonly BufferRole[],
  outputRoles: readonly BufferRole[],
): AllocateArguments | Refusal {
  const takeRole = (role: BufferRole): BufferRole => {
    if (!hasFields(role)) throw new Unreadable(`a role: expected an object, got ${show(role)}`);
    const { modelIndex, ioIndex, frequency } = role;
    return { modelIndex, ioIndex, frequency };
  };
  try {
    const dimensions: readonly number[] | undefined = desc?.dimensions;
    return {
      dimensions: takeNumbers(dimensions, "desc.dimensions"),
      preparedModels: takeList(preparedModels, "preparedModels", (model) => {
        if (model === undefined) throw new Unreadable("preparedModels: expected prepared models, got undefined");
        return model;
      }),
      inputRoles: takeList(inputRoles, "inputRoles", takeRole),
      outputRoles: takeList(outputRoles, "outputRoles", takeRole),
    };
  } catch (error) {
    const what = error instanceof Unreadable ? error.message : `the arguments cannot be read: ${messageOf(error)}`;
    return invalid(what);
  }
}
