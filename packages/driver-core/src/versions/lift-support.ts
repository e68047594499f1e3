/**
 * The operations of a model that a driver supports: an older driver is asked about the slice that its HAL version can
 * express.
 */
import { operationText } from "@nnhal/operations";
import {
  type Awaitable,
  ErrorStatus,
  type HalVersion,
  type Model,
  type Outcome,
  type SupportedOperations,
} from "@nnhal/types";
import { validateModel } from "@nnhal/validation";
import { failureOf } from "../guard/attempt.ts";
import { failure } from "../guard/refusal.ts";
import { soundStatus, whenAnswered } from "./callback.ts";
import { aidlNeed } from "./compliance/needs.ts";
import { complianceWith } from "./compliant-with.ts";
import type { LiftContext } from "./lift-context.ts";
import { sliceModel } from "./slice.ts";

/** Asks a driver which operations of a valid model it supports. */
export function supportOf(model: Model, context: LiftContext): Awaitable<SupportedOperations> {
  const { name, driver } = context;
  const { version } = driver;
  if (version === "1.3" ? aidlNeed(model) === undefined : complianceWith(version).model(model)) {
    const every = model.main.operations.map((_, index) => index);
    return ask(model, every, model, context);
  }
  const slice = sliceModel(model, version);
  if ("unsliceable" in slice) return answer(model, new Map(), context);
  if (!isValid(slice.model, version, context)) {
    const what = `the slice for HAL ${version} of a model is not valid`;
    context.log(`${name}: ${what}`);
    if (context.strictSlicing) return failWith(failure(`${name}: getSupportedOperations: ${what}`));
    return answer(model, new Map(), context);
  }
  return ask(slice.model, slice.operationIndexes, model, context);
}

function isValid(model: Model, version: HalVersion, { extensions }: LiftContext): boolean {
  return validateModel(model, { version, mode: "runtime", ...(extensions && { extensions }) });
}

/** Asks about a model whose operations are those of `original` at some indexes. */
function ask(
  model: Model,
  indexes: readonly number[],
  original: Model,
  context: LiftContext,
): Awaitable<SupportedOperations> {
  const { name, driver, log } = context;
  /** Reads the driver's answer. Throws if it cannot be read. */
  const read = ({
    status,
    message,
    supportedOperations,
  }: Awaited<ReturnType<typeof driver.getSupportedOperations>>) => {
    if (status !== ErrorStatus.NONE) {
      return failWith({ status: soundStatus(status), ...(message !== undefined && { message }) });
    }
    if (supportedOperations.length === indexes.length) {
      return answer(original, new Map(indexes.map((index, at) => [index, supportedOperations[at] === true])), context);
    }
    log(`${name}: ${supportedOperations.length} answers about ${indexes.length} operations are ignored`);
    return answer(original, new Map(indexes.map((index) => [index, false])), context);
  };
  try {
    return whenAnswered(driver.getSupportedOperations(model), read);
  } catch (error) {
    return failWith(failureOf(`${name}: getSupportedOperations`, error));
  }
}

/** Extends an answer about some operations of a model to all of them. */
function answer(
  { main, extensionNameToPrefix }: Model,
  asked: ReadonlyMap<number, boolean>,
  { name, driver }: LiftContext,
): SupportedOperations {
  const supported = main.operations.map((_, index) => asked.get(index) ?? false);
  const reasons = main.operations.map(({ type }, index) => {
    if (supported[index]) return undefined;
    const operation = operationText(type, extensionNameToPrefix);
    if (asked.has(index)) return `${operation}: ${name} does not support it`;
    return `${operation}: ${name} is of HAL ${driver.version}, which does not have it with these operands`;
  });
  return { status: ErrorStatus.NONE, supported, reasons };
}

function failWith(outcome: Outcome): SupportedOperations {
  return { ...outcome, supported: [], reasons: [] };
}
