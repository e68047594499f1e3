/** The answer of a device that sets an execution up. */
import { ErrorStatus, type ReusableExecution, type ReusableResult } from "@nnhal/types";
import { hasFields, readOutcome, throwBroken } from "@nnhal/validation";
import { hasMethods } from "./answers.ts";

/** Reads the answer, which can be any value. Throws if it breaks a rule. */
export function readReusable(answer: unknown): ReusableResult {
  const outcome = readOutcome(answer);
  if (outcome.status !== ErrorStatus.NONE) return { ...outcome, execution: null };
  const execution = hasFields(answer) ? answer.execution : undefined;
  return isExecution(execution) ? { ...outcome, execution } : throwBroken("answered NONE without an execution");
}

function isExecution(value: unknown): value is ReusableExecution {
  return hasMethods(value, "execute", "executeFenced");
}
