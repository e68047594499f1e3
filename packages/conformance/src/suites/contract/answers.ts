/**
 * The contract's rules for each answer, whatever the question was. Each function returns the broken rule with the actual value,
 * in words that follow the name of the method, or undefined.
 */
import { combineDimensions, elementAt } from "@nnhal/operations";
import {
  type AllocateResult,
  type BurstResult,
  type Capabilities,
  DeviceStatus,
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionInfo,
  type ExecutionResult,
  type Extension,
  type FencedResult,
  type FenceState,
  MeasureTiming,
  type Model,
  OperandType,
  type Outcome,
  type OutputShape,
  type PrepareResult,
  type Request,
  type ReusableResult,
  type SupportedOperations,
  type Timing,
} from "@nnhal/types";
import { isErrorStatus } from "@nnhal/utils";
import { orderProblem, statusName, unmeasuredProblem } from "../check.ts";

type Problem = string | undefined;

const { NONE, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

/** Every answer has a status. */
export function outcomeProblem(outcome: Outcome): Problem {
  if (typeof outcome !== "object" || outcome === null) return `the answer is ${show(outcome)}, not an object`;
  const { status, message } = outcome;
  if (!isErrorStatus(status)) return `status ${show(status)} is not an ErrorStatus`;
  const isText = message === undefined || typeof message === "string";
  return isText ? undefined : `the message is ${show(message)}, not text`;
}

/** A value in a message, at most some characters of it. */
function show(value: unknown): string {
  const text =
    typeof value === "object" && value !== null
      ? `of type ${Array.isArray(value) ? "array" : "object"}`
      : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** An answer that has a status and, with NONE, something of a kind. */
function withOutcome<Answer extends Outcome>(further: (answer: Answer) => Problem) {
  return (answer: Answer): Problem => outcomeProblem(answer) ?? further(answer);
}

/** Both numbers of a performance are above 0. Infinity means that the device does not support it. */
function performanceProblem(name: string, info: { readonly execTime: number; readonly powerUsage: number }): Problem {
  if (typeof info !== "object" || info === null) return `${name} is ${show(info)}, not a PerformanceInfo`;
  const { execTime, powerUsage } = info;
  if (execTime > 0 && powerUsage > 0) return undefined;
  return `${name}: expected execTime and powerUsage above 0, got ${show(execTime)} and ${show(powerUsage)}`;
}

/** getCapabilities. */
export const capabilitiesProblem = withOutcome<Outcome & { readonly capabilities: Capabilities }>(
  ({ status, capabilities }) => {
    if (status !== NONE) return undefined;
    if (typeof capabilities !== "object" || capabilities === null) return `capabilities are ${show(capabilities)}`;
    const { operandPerformance, ...performances } = capabilities;
    if (!Array.isArray(operandPerformance)) return `operandPerformance is ${show(operandPerformance)}, not a list`;
    const named: readonly (keyof typeof performances)[] = [
      "relaxedFloat32toFloat16PerformanceScalar",
      "relaxedFloat32toFloat16PerformanceTensor",
      "ifPerformance",
      "whilePerformance",
    ];
    for (const name of named) {
      const problem = performanceProblem(name, performances[name]);
      if (problem !== undefined) return problem;
    }
    let before = -1;
    for (const { type, info } of operandPerformance) {
      if (!(type > before)) return `type ${show(type)} follows type ${before}, but the list must be sorted`;
      before = type;
      const problem = performanceProblem(`operandPerformance of type ${type}`, info);
      if (problem !== undefined) return problem;
    }
    const hasSubgraph = operandPerformance.some(({ type }) => type === OperandType.SUBGRAPH);
    return hasSubgraph ? "SUBGRAPH has a performance" : undefined;
  },
);

/** getType. Which numbers there are depends on the HAL version. */
export const typeProblem = withOutcome<Outcome & { readonly type: number }>(({ status, type }) =>
  status !== NONE || Number.isInteger(type) ? undefined : `type ${show(type)} is not a DeviceType`,
);

/** getVersionString. */
export const versionProblem = withOutcome<Outcome & { readonly version: string }>(({ status, version }) => {
  if (status !== NONE) return undefined;
  if (typeof version !== "string") return `the version is ${show(version)}, not text`;
  return version.length > 0 ? undefined : "the version is empty";
});

/** getSupportedExtensions. */
export const extensionsProblem = withOutcome<Outcome & { readonly extensions: readonly Extension[] }>(
  ({ status, extensions }) => {
    if (status !== NONE) return undefined;
    if (!Array.isArray(extensions)) return `extensions are ${show(extensions)}, not a list`;
    const wrong = extensions.findIndex(
      (extension) => typeof extension?.name !== "string" || !Array.isArray(extension.operandTypes),
    );
    return wrong < 0 ? undefined : `extension ${wrong} has no name or no list of operand types`;
  },
);

/** getNumberOfCacheFilesNeeded. Which numbers are allowed is the affair of a case. */
export const cacheFilesProblem = withOutcome<
  Outcome & { readonly numModelCache: number; readonly numDataCache: number }
>(({ status, numModelCache, numDataCache }) => {
  if (status !== NONE) return undefined;
  for (const [name, count] of Object.entries({ numModelCache, numDataCache })) {
    if (!Number.isInteger(count) || count < 0) return `${name}: expected 0 to 32, got ${show(count)}`;
  }
  return undefined;
});

/** getStatus. */
export function deviceStatusProblem(status: DeviceStatus): Problem {
  const isKnown = Object.values(DeviceStatus).some((known) => known === status);
  return isKnown ? undefined : `${show(status)} is not a DeviceStatus`;
}

/** The list of yes and no in an answer about a model of some operations. */
export function supportedProblem(
  status: ErrorStatus,
  supported: readonly boolean[],
  operations: number | undefined,
): Problem {
  if (!Array.isArray(supported)) return `the list of supported operations is ${show(supported)}`;
  const expected = status === NONE ? operations : 0;
  if (expected !== undefined && supported.length !== expected) {
    return status === NONE
      ? `${supported.length} answers about ${expected} operations`
      : `${supported.length} answers beside ${statusName(status)}`;
  }
  const wrong = supported.findIndex((answer) => typeof answer !== "boolean");
  return wrong < 0 ? undefined : `the answer about operation ${wrong} is ${show(supported[wrong])}, not true or false`;
}

/** getSupportedOperations of a model; `operations`: how many the model has, undefined if the model cannot be read. */
export function supportProblem(answer: SupportedOperations, operations: number | undefined): Problem {
  const problem = outcomeProblem(answer) ?? supportedProblem(answer.status, answer.supported, operations);
  if (problem !== undefined) return problem;
  const { supported, reasons, dispatches } = answer;
  if (!Array.isArray(reasons) || reasons.length !== supported.length) {
    return `${Array.isArray(reasons) ? reasons.length : "no"} reasons beside ${supported.length} answers`;
  }
  const isReason = (reason: unknown) => typeof reason === "string" && reason !== "";
  const wrong = supported.findIndex((isSupported, index) =>
    isSupported ? reasons[index] !== undefined : !isReason(reasons[index]),
  );
  if (wrong >= 0) {
    return supported[wrong]
      ? `operation ${wrong} is supported, with the reason ${show(reasons[wrong])} against it`
      : `operation ${wrong} is not supported, and there is no reason`;
  }
  if (dispatches !== undefined && dispatches.length !== supported.length) {
    return `${dispatches.length} numbers of dispatches beside ${supported.length} answers`;
  }
  return undefined;
}

/** prepareModel and prepareModelFromCache. */
export const prepareProblem = withOutcome<PrepareResult>(({ status, preparedModel }) =>
  besideProblem("prepared model", status, preparedModel),
);

/** configureExecutionBurst. */
export const burstProblem = withOutcome<BurstResult>(({ status, context }) =>
  besideProblem("context", status, context),
);

/** createReusableExecution. */
export const reusableProblem = withOutcome<ReusableResult>(({ status, execution }) =>
  besideProblem("reusable execution", status, execution),
);

/** Checks a value that must be there exactly if the status is NONE. */
function besideProblem(what: string, status: ErrorStatus, value: unknown): Problem {
  const isNone = value === null || value === undefined;
  if (status === NONE) return isNone ? `NONE without a ${what}` : undefined;
  return isNone ? undefined : `a ${what} beside ${statusName(status)}`;
}

/** allocate. */
export const allocateProblem = withOutcome<AllocateResult>(({ status, buffer, token }) => {
  const problem = besideProblem("buffer", status, buffer);
  if (problem !== undefined) return problem;
  if (status === NONE)
    return Number.isInteger(token) && token > 0 ? undefined : `NONE: expected a token above 0, got ${show(token)}`;
  return token === 0 ? undefined : `with the error: expected token 0, got ${show(token)}`;
});

/** The request of an execution, as far as its answer depends on it. */
export interface Asked {
  readonly request: Request;
  readonly options: ExecuteOptions | undefined;
  /** Undefined if the prepared model came from a cache. */
  readonly model: Model | undefined;
  /** True if shapes may be left out if all are known beforehand: by a HAL method, but not by the contract's. */
  readonly mayOmitShapes: boolean;
  /** Duration of the call. */
  readonly milliseconds: number;
}

/** execute, executeSynchronously and executeSynchronously_1_3. */
export function executionProblem(result: ExecutionResult, asked: Asked): Problem {
  const problem = outcomeProblem(result);
  if (problem !== undefined) return problem;
  const { status, outputShapes, timing } = result;
  return shapesProblem(status, outputShapes, asked) ?? timingProblem(status, timing, asked.options, asked.milliseconds);
}

function shapesProblem(status: ErrorStatus, shapes: readonly OutputShape[], asked: Asked): Problem {
  if (!Array.isArray(shapes)) return `outputShapes are ${show(shapes)}, not a list`;
  if (status !== NONE && status !== OUTPUT_INSUFFICIENT_SIZE) {
    return shapes.length === 0 ? undefined : `${shapes.length} output shapes beside ${statusName(status)}`;
  }
  const { outputs } = asked.request;
  if (shapes.length === 0 && status === NONE && asked.mayOmitShapes) return undefined;
  if (shapes.length !== outputs.length) {
    return `${shapes.length} shapes of ${outputs.length} outputs beside ${statusName(status)}`;
  }
  for (const [index, shape] of shapes.entries()) {
    const problem = shapeProblem(shape, index, asked);
    if (problem !== undefined) return problem;
  }
  const short = shapes.findIndex(({ isSufficient }) => !isSufficient);
  if (status === NONE && short >= 0) return `NONE, but output ${short} is said not to fit: isSufficient is false`;
  if (status !== NONE && short < 0) return "OUTPUT_INSUFFICIENT_SIZE, but isSufficient is true of every output";
  return undefined;
}

function shapeProblem({ dimensions, isSufficient }: OutputShape, index: number, { request, model }: Asked): Problem {
  if (!Array.isArray(dimensions)) return `output ${index}: dimensions are ${show(dimensions)}, not a list`;
  if (typeof isSufficient !== "boolean") return `output ${index}: isSufficient is ${show(isSufficient)}`;
  if (!dimensions.every((extent) => Number.isInteger(extent) && extent >= 0 && extent <= 0xffff_ffff)) {
    return `output ${index}: dimensions [${dimensions.map(show).join(", ")}] are not extents`;
  }
  const argument = elementAt(request.outputs, index);
  if (argument.hasNoValue) return undefined;
  const operand = model?.main.operands[elementAt(model.main.outputIndexes, index)];
  const known = combineDimensions(operand?.dimensions ?? [], argument.dimensions);
  if (known === undefined || combineDimensions(known, dimensions) !== undefined) return undefined;
  const rank = known.length === dimensions.length ? "" : `: expected rank ${known.length}, got ${dimensions.length}`;
  return `output ${index}: expected dimensions [${known.join(", ")}], got [${dimensions.join(", ")}]${rank}`;
}

/** Durations must be there only for measured successes, each within the one around it, none longer than the call. */
function timingProblem(
  status: ErrorStatus,
  timing: Timing,
  options: ExecuteOptions | undefined,
  milliseconds: number,
): Problem {
  const problem = durationsProblem(timing);
  if (problem !== undefined) return problem;
  const isMeasured = status === NONE && options?.measure === MeasureTiming.YES;
  return isMeasured ? (orderProblem(timing) ?? lengthProblem(timing, milliseconds)) : unmeasuredProblem(timing);
}

const greatest = 0xffff_ffff_ffff_ffffn;

function durationsProblem(timing: Timing): Problem {
  if (typeof timing !== "object" || timing === null) return `the timing is ${show(timing)}, not a Timing`;
  for (const [name, duration] of Object.entries({
    timeOnDevice: timing.timeOnDevice,
    timeInDriver: timing.timeInDriver,
  })) {
    if (typeof duration !== "bigint" || duration < 0n || duration > greatest) {
      return `${name} is ${show(duration)}, which is not a duration`;
    }
  }
  return undefined;
}

/** Clocks may differ by some thousandths, and a timer's tick. */
function lengthProblem({ timeInDriver }: Timing, milliseconds: number): Problem {
  const most = BigInt(Math.ceil(milliseconds * 1010 + 5000));
  if (timeInDriver === greatest || timeInDriver <= most) return undefined;
  return `${timeInDriver} microseconds in the driver, but the call took ${milliseconds.toFixed(1)} ms`;
}

/** executeFenced. */
export const fencedProblem = withOutcome<FencedResult>(({ status, syncFence, callback }) => {
  const problem = besideProblem("callback", status, callback);
  if (problem !== undefined || status === NONE) return problem;
  return syncFence === null || syncFence === undefined ? undefined : `a fence beside ${statusName(status)}`;
});

/** getExecutionInfo. `state`: that of the execution's fence before the call. */
export function infoProblem(
  info: ExecutionInfo,
  {
    state,
    options,
    milliseconds,
  }: { readonly state: FenceState | undefined } & Pick<Asked, "options" | "milliseconds">,
): Problem {
  const problem = outcomeProblem(info);
  if (problem !== undefined) return problem;
  const { status, timingLaunched, timingFenced } = info;
  if (state === "ERROR" && status === NONE) return "the callback says NONE, but the fence is ERROR";
  if (state === "SIGNALED" && status !== NONE) {
    return `the fence is SIGNALED, but the callback says ${statusName(status)}`;
  }
  for (const timing of [timingLaunched, timingFenced]) {
    const wrong = timingProblem(status, timing, options, milliseconds);
    if (wrong !== undefined) return wrong;
  }
  const [fenced, launched] = [timingFenced.timeInDriver, timingLaunched.timeInDriver];
  if (fenced === greatest || launched === greatest || fenced <= launched) return undefined;
  return `${fenced} microseconds since the fences are more than the ${launched} since the launch`;
}

const fenceStates: readonly FenceState[] = ["ACTIVE", "SIGNALED", "ERROR", "UNKNOWN"];

/** The state of a fence. */
export function stateProblem(state: FenceState): Problem {
  return fenceStates.includes(state) ? undefined : `${show(state)} is not a state of a fence`;
}

/** Checks the state with which a fence's wait resolves. */
export function waitProblem(state: FenceState): Problem {
  return state === "ACTIVE" ? "resolved with ACTIVE, but the fence has to have left it" : stateProblem(state);
}
