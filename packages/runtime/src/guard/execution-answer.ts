/**
 * The answer of a device to an execution, read once and checked against the request and the model. A reader throws `broken` for
 * an answer that breaks a rule.
 */
import { elementAt, factsByCode } from "@nnhal/operations";
import {
  ErrorStatus,
  type ExecutionResult,
  type Extension,
  type HalVersion,
  type Model,
  type Request,
  type RequestArgument,
  TIMING_NOT_MEASURED,
  type Timing,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { broken, checkResult, type ExpectedOutput, hasFields, type ResultValidationOptions } from "@nnhal/validation";

/** How to read the answers of one prepared model. */
export interface AnswerReader {
  /** `isBurst`: the answer is a burst's, which can leave out known shapes (HAL 1.2 notify_1_2). */
  read(answer: unknown, request: Request, isBurst?: boolean): ExecutionResult;
}

/**
 * The reader for a prepared model. `model`: its model; undefined: outputs are known from requests only.
 * Drivers older than HAL 1.2 answer no shapes: the known ones are used. `extensions`: as the device describes them.
 */
export function answerReader(
  model: Model | undefined,
  halVersion: HalVersion,
  extensions: readonly Extension[] = [],
): AnswerReader {
  const factsOf = factsByCode(model?.extensionNameToPrefix ?? [], extensions);
  const known = model?.main.outputIndexes.map((index): ExpectedOutput => {
    const { type, dimensions } = elementAt(model.main.operands, index);
    return { facts: factsOf(type), dimensions };
  });
  return {
    // Called for each execution of each step.
    read(answer, request, isBurst = false) {
      const options = isBurst || halVersion < "1.2" ? omittingShapes : strict;
      const checked = checkResult(answer, refined(known, request), options);
      if ("issue" in checked) return broken(`answered a result that is not valid: ${checked.issue.message}`);
      const { status, outputShapes } = checked;
      if (status !== ErrorStatus.NONE) return { ...checked, timing: notMeasured };
      return { status, outputShapes, timing: timingOf(hasFields(answer) ? answer.timing : undefined) };
    },
  };
}

/** The outputs of a request: those of the model, with the dimensions that the request states. */
function refined(known: readonly ExpectedOutput[] | undefined, { outputs }: Request): readonly ExpectedOutput[] {
  if (known?.length === outputs.length && outputs.every(isAsInModel)) return known;
  return outputs.map(({ hasNoValue, dimensions }, index): ExpectedOutput => {
    const { facts, dimensions: own } = known?.[index] ?? undescribed;
    return { facts, dimensions: dimensions.length > 0 ? dimensions : own, isOmitted: hasNoValue };
  });
}

function isAsInModel({ hasNoValue, dimensions }: RequestArgument): boolean {
  return !hasNoValue && dimensions.length === 0;
}

const strict: ResultValidationOptions = { mayOmitShapes: false };
const omittingShapes: ResultValidationOptions = { mayOmitShapes: true };

/** Facts of an output of an unknown model. */
const undescribed: ExpectedOutput = { facts: undefined, dimensions: [] };

/** Durations; unknown ones for a value that is not a pair of durations. */
export function timingOf(timing: unknown): Timing {
  if (timing === notMeasured || !hasFields(timing)) return notMeasured;
  const { timeOnDevice, timeInDriver } = timing;
  if (timeOnDevice === TIMING_NOT_MEASURED && timeInDriver === TIMING_NOT_MEASURED) return notMeasured;
  return isTime(timeOnDevice) && isTime(timeInDriver) ? { timeOnDevice, timeInDriver } : notMeasured;
}

function isTime(time: unknown): time is bigint {
  return typeof time === "bigint" && time >= 0n;
}
