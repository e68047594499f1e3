/**
 * What callers pass to a device, taken once: every field is read a single time, into plain data of the device's own. What the
 * caller's object holds later, or would say if it were asked again, does not matter then.
 */
import {
  type BufferRole,
  type CompilationCache,
  type ExecuteOptions,
  ExecutionPreference,
  type FencedExecuteOptions,
  MeasureTiming,
  type Memory,
  type Model,
  type Operand,
  type OperandExtraParams,
  type PrepareOptions,
  Priority,
  type Request,
  type RequestArgument,
  type RequestMemoryPool,
  type Subgraph,
} from "@nnhal/types";
import {
  type Issue,
  type ModelValidationOptions,
  modelIssues,
  requestIssues,
  show,
  validateExecutionPreference,
  validatePriority,
} from "@nnhal/validation";
import { formatIssues } from "./format-issues.ts";
import { invalid, messageOf, type Refusal } from "./refusal.ts";

/** Options of a preparation. */
export interface PrepareArguments {
  readonly preference: ExecutionPreference;
  readonly priority: Priority;
  readonly deadline: bigint | undefined;
  readonly cache: CompilationCache | undefined;
}

/** Takes the options of a preparation. They may be anything. */
export function prepareArguments(options: PrepareOptions | undefined): PrepareArguments | Refusal {
  return taking(options, (given) => {
    const { preference = ExecutionPreference.FAST_SINGLE_ANSWER, priority = Priority.MEDIUM, deadline, cache } = given;
    if (!validateExecutionPreference(preference)) {
      return invalid(`the execution preference is ${show(preference)} where 0, 1 or 2 is needed`);
    }
    if (!validatePriority(priority)) return invalid(`the priority is ${show(priority)} where 0, 1 or 2 is needed`);
    return timeProblem("deadline", deadline) ?? { preference, priority, deadline, cache };
  });
}

const noOptions: ExecuteOptions = {};

/** Takes the options of an execution. They may be anything. */
export function executeArguments(options: ExecuteOptions | undefined): ExecuteOptions | Refusal {
  return options === undefined ? noOptions : taking(options, takeExecuteOptions);
}

/** Takes the options of a fenced execution. They may be anything. */
export function fencedArguments(options: FencedExecuteOptions | undefined): FencedExecuteOptions | Refusal {
  return taking(options, (given) => {
    const { duration } = given;
    const taken = timeProblem("duration", duration) ?? takeExecuteOptions(given);
    return "status" in taken || duration === undefined ? taken : { ...taken, duration };
  });
}

function takeExecuteOptions({ measure, deadline, loopTimeoutDuration }: ExecuteOptions): ExecuteOptions | Refusal {
  if (measure !== undefined && measure !== MeasureTiming.NO && measure !== MeasureTiming.YES) {
    return invalid(`measure is ${show(measure)} where 0 or 1 is needed`);
  }
  const problem = timeProblem("deadline", deadline) ?? timeProblem("loopTimeoutDuration", loopTimeoutDuration);
  if (problem !== undefined) return problem;
  return {
    ...(measure !== undefined && { measure }),
    ...(deadline !== undefined && { deadline }),
    ...(loopTimeoutDuration !== undefined && { loopTimeoutDuration }),
  };
}

function timeProblem(what: string, time: unknown): Refusal | undefined {
  if (time === undefined || typeof time === "bigint") return undefined;
  return invalid(`the ${what} is ${show(time)} where a bigint of nanoseconds is needed`);
}

/** Takes options, or says why they cannot be. */
function taking<Options extends object, Taken>(
  options: Options | undefined,
  take: (options: Options) => Taken | Refusal,
): Taken | Refusal {
  const given: unknown = options ?? (options === undefined ? {} : options);
  if (typeof given !== "object" || given === null) {
    return invalid(`the options are ${show(given)} where an object is needed`);
  }
  try {
    // It is an object, and `take` checks each field.
    return take(given as Options);
  } catch (error) {
    return invalid(`the options cannot be read: ${messageOf(error)}`);
  }
}

/** Something in what a caller passed has not the structure that it must have. */
class Unreadable extends Error {}

/** A list claims to be longer than any that is used. Nothing of it is looked at. */
class TooLong extends Unreadable {}

/** Most elements of a list: a longer one could not be kept, and would take too long to look at. */
export const longestList = 2 ** 24;

/** The elements of a list, each taken. Stops at the first that is not one, however long the list claims to be. */
function takeList<Item, Taken>(list: readonly Item[], what: string, take: (item: Item) => Taken): Taken[] {
  if (!Array.isArray(list)) throw new Unreadable(`${what} is ${show(list)} where an array is needed`);
  const taken: Taken[] = [];
  const { length } = list;
  if (length > longestList) throw new TooLong(`${what} has ${length} elements where ${longestList} are the most`);
  for (let index = 0; index < length; index++) taken.push(take(list[index]));
  return taken;
}

function takeNumber(value: number): number {
  if (typeof value !== "number") throw new Unreadable(`${show(value)} stands where a number is needed`);
  return value;
}

const none: readonly number[] = [];

function takeNumbers(list: readonly number[], what: string): readonly number[] {
  return Array.isArray(list) && list.length === 0 ? none : takeList(list, what, takeNumber);
}

/** What a model is used with from now on, and the memories whose bytes are its pools. */
export interface TakenModel {
  readonly model: Model;
  /** As the caller passed them: memory is mapped once for each object. */
  readonly memories: readonly Memory[];
}

/** Takes a model and validates what was taken. It may be anything. */
export function takeModel(model: Model, options: ModelValidationOptions): TakenModel | Refusal {
  let taken: TakenModel;
  try {
    taken = takenModel(model);
  } catch (error) {
    return unreadable("model", () => modelIssues(model, options), error);
  }
  const issues = modelIssues(taken.model, options);
  return issues.length > 0 ? invalid(`the model is not valid: ${formatIssues(issues)}`) : taken;
}

/** Validation says best what is wrong, if what it reads is still wrong. */
function unreadable(what: string, validate: () => readonly Issue[], error: unknown): Refusal {
  const issues = error instanceof TooLong ? [] : validate();
  return issues.length > 0
    ? invalid(`the ${what} is not valid: ${formatIssues(issues)}`)
    : invalid(`the ${what} cannot be read: ${messageOf(error)}`);
}

function takenModel(given: Model): TakenModel {
  const { main, referenced, operandValues, pools, relaxComputationFloat32toFloat16, extensionNameToPrefix } = given;
  const memories = takeList(pools, "pools", (memory) => {
    if (typeof memory !== "object" || memory === null) throw new Unreadable(`a pool is ${show(memory)}`);
    return memory;
  });
  const model: Model = {
    main: takeSubgraph(main),
    referenced: takeList(referenced, "referenced", takeSubgraph),
    operandValues,
    pools: memories.map(takeMemory),
    relaxComputationFloat32toFloat16,
    extensionNameToPrefix: takeList(extensionNameToPrefix, "extensionNameToPrefix", ({ name, prefix }) => {
      return { name, prefix };
    }),
  };
  return { model, memories };
}

function takeMemory({ name, size, handle }: Memory): Memory {
  return { name, size, handle: handle === null ? handle : { ...handle } };
}

function takeSubgraph({ operands, operations, inputIndexes, outputIndexes }: Subgraph): Subgraph {
  return {
    operands: takeList(operands, "operands", takeOperand),
    operations: takeList(operations, "operations", ({ type, inputs, outputs }) => {
      return { type, inputs: takeNumbers(inputs, "inputs"), outputs: takeNumbers(outputs, "outputs") };
    }),
    inputIndexes: takeNumbers(inputIndexes, "inputIndexes"),
    outputIndexes: takeNumbers(outputIndexes, "outputIndexes"),
  };
}

function takeOperand(operand: Operand): Operand {
  const { type, dimensions, numberOfConsumers, scale, zeroPoint, lifetime, location, extraParams } = operand;
  const { poolIndex, offset, length } = location;
  return {
    type,
    dimensions: takeNumbers(dimensions, "dimensions"),
    numberOfConsumers,
    scale,
    zeroPoint,
    lifetime,
    location: { poolIndex, offset, length },
    extraParams: takeExtraParams(extraParams),
  };
}

function takeExtraParams(params: OperandExtraParams): OperandExtraParams {
  if (params.kind !== "channelQuant") return { ...params };
  const { scales, channelDim } = params.channelQuant;
  return { kind: "channelQuant", channelQuant: { scales: takeNumbers(scales, "scales"), channelDim } };
}

/** Takes a request and validates what was taken against its model. It may be anything. */
export function takeRequest(request: Request, model: Model, allowUnspecifiedOutput: boolean): Request | Refusal {
  let taken: Request;
  try {
    taken = takenRequest(request, model);
  } catch (error) {
    return unreadable("request", () => requestIssues(request, model, { allowUnspecifiedOutput }), error);
  }
  const issues = requestIssues(taken, model, { allowUnspecifiedOutput, isModelSound: true });
  return issues.length > 0 ? invalid(`the request is not valid: ${formatIssues(issues)}`) : taken;
}

function takenRequest({ inputs, outputs, pools }: Request, { main }: Model): Request {
  return {
    inputs: takeArguments(inputs, "inputs", main.inputIndexes.length),
    outputs: takeArguments(outputs, "outputs", main.outputIndexes.length),
    pools: takePools(pools),
  };
}

// The lists of a request are taken for each execution: loops of their own, without a function for each element.

function takeArguments(list: readonly RequestArgument[], what: string, count: number): RequestArgument[] {
  if (!Array.isArray(list) || list.length !== count)
    throw new Unreadable(`there are ${show(list)} as ${what} where ${count} are needed`);
  const taken: RequestArgument[] = [];
  for (let index = 0; index < count; index++) {
    const { hasNoValue, location, dimensions } = list[index];
    const { poolIndex, offset, length } = location;
    taken.push({
      hasNoValue,
      location: { poolIndex, offset, length },
      dimensions: takeNumbers(dimensions, "dimensions"),
    });
  }
  return taken;
}

function takePools(pools: readonly RequestMemoryPool[]): RequestMemoryPool[] {
  const { length } = pools;
  if (!Array.isArray(pools)) throw new Unreadable(`pools is ${show(pools)} where an array is needed`);
  if (length > longestList) throw new TooLong(`pools has ${length} elements where ${longestList} are the most`);
  const taken: RequestMemoryPool[] = [];
  for (let index = 0; index < length; index++) {
    const pool = pools[index];
    taken.push(pool.kind === "memory" ? { kind: "memory", memory: pool.memory } : { kind: "token", token: pool.token });
  }
  return taken;
}

/** What is asked of a buffer, taken. */
export interface AllocateArguments {
  readonly dimensions: readonly number[];
  /** The caller's prepared models: objects, or whatever else stands in the list. */
  readonly preparedModels: readonly unknown[];
  readonly inputRoles: readonly BufferRole[];
  readonly outputRoles: readonly BufferRole[];
}

/** Takes the arguments of allocate. They may be anything. */
export function allocateArguments(
  desc: { readonly dimensions: readonly number[] },
  preparedModels: readonly unknown[],
  inputRoles: readonly BufferRole[],
  outputRoles: readonly BufferRole[],
): AllocateArguments | Refusal {
  const takeRole = (role: BufferRole): BufferRole => {
    if (typeof role !== "object" || role === null)
      throw new Unreadable(`a role is ${show(role)} where an object is needed`);
    const { modelIndex, ioIndex, frequency } = role;
    return { modelIndex, ioIndex, frequency };
  };
  try {
    const dimensions: readonly number[] | undefined = desc?.dimensions;
    return {
      dimensions: takeNumbers(dimensions, "desc.dimensions"),
      preparedModels: takeList(preparedModels, "preparedModels", (model) => {
        if (model === undefined) throw new Unreadable("preparedModels has undefined where a prepared model is needed");
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
