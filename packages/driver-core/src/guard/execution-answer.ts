/**
 * The answer of a device to an execution, read once and checked against the request and the model. A reader throws `BrokenAnswer`
 * for an answer that breaks a rule.
 */
import type { FactsByCode } from "@nnhal/operations";
import {
  ErrorStatus,
  type ExecutionResult,
  MeasureTiming,
  type Model,
  type Operand,
  type Request,
  type RequestArgument,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { checkResult, type ExpectedOutput, hasFields, throwBroken } from "@nnhal/validation";
import { readTiming } from "./answers.ts";

/** Reader of the answers of one prepared model. */
export interface AnswerReader {
  /** Each output of a request before it runs. Throws for a request that cannot be read. */
  expect(request: Request): readonly ExpectedOutput[];
  /** `expected`: from `expect`. */
  read(answer: unknown, expected: readonly ExpectedOutput[], options?: ReadOptions): ExecutionResult;
}

/** Options for reading one answer. */
export interface ReadOptions {
  /** If true, known shapes may be omitted with NONE (HAL 1.2 notify_1_2). Default: false. */
  readonly mayOmitShapes?: boolean;
  /** NO: durations are left out. Default: YES. */
  readonly measure?: MeasureTiming | undefined;
}

/**
 * The reader for a prepared model. `model`: its model; undefined if it came from a cache: outputs are known from requests only.
 * `factsOf`: the facts of its operand types.
 */
export function answerReader(model: Model | undefined, factsOf: FactsByCode): AnswerReader {
  const known = model && expectedOutputs(model, factsOf);
  return {
    expect: (request) => refine(known, request),
    // Called for each execution of each step.
    read(answer, expected, { mayOmitShapes = false, measure } = {}) {
      const checked = checkResult(answer, expected, mayOmitShapes ? omittingShapes : strict);
      if ("issue" in checked) return throwBroken(`answered a result that is not valid: ${checked.issue.message}`);
      const { status, outputShapes } = checked;
      if (status !== ErrorStatus.NONE) return { ...checked, timing: notMeasured };
      const isTimed = measure !== MeasureTiming.NO && hasFields(answer);
      return { status, outputShapes, timing: isTimed ? readTiming(answer.timing) : notMeasured };
    },
  };
}

/** The operands of a model's outputs; undefined for an index that the model does not have. */
export function outputOperands({ main }: Model): (Operand | undefined)[] {
  return main.outputIndexes.map((index) => main.operands[index]);
}

function expectedOutputs(model: Model, factsOf: FactsByCode): readonly ExpectedOutput[] {
  return outputOperands(model).map((operand) =>
    operand === undefined ? undescribed : { facts: factsOf(operand.type), dimensions: operand.dimensions },
  );
}

/** The outputs of a request: those of the model, with the dimensions that the request states. */
function refine(known: readonly ExpectedOutput[] | undefined, { outputs }: Request): readonly ExpectedOutput[] {
  if (known?.length === outputs.length && outputs.every(isAsInModel)) return known;
  return outputs.map(({ hasNoValue, dimensions }, index): ExpectedOutput => {
    const { facts, dimensions: own } = known?.[index] ?? undescribed;
    return { facts, dimensions: dimensions.length > 0 ? dimensions : own, isOmitted: hasNoValue };
  });
}

function isAsInModel({ hasNoValue, dimensions }: RequestArgument): boolean {
  return !hasNoValue && dimensions.length === 0;
}

const strict = { mayOmitShapes: false };
const omittingShapes = { mayOmitShapes: true };

/** An output of an unknown model. */
const undescribed: ExpectedOutput = { facts: undefined, dimensions: [] };
