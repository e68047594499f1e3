/** Statuses of the canonical contract as exceptions of AIDL, and the other way round. */
import { ErrorStatus, type Outcome } from "@nnhal/types";
import { ServiceSpecificException } from "@nnhal/types/aidl";
import { BrokenAnswer, hasFields } from "@nnhal/validation";
import { failure, invalid, messageOf } from "../../guard/refusal.ts";
import { soundStatus } from "../callback.ts";

/** Throws for a status other than NONE. */
export function raise(outcome: Outcome): void {
  if (outcome.status !== ErrorStatus.NONE) throw exceptionOf(outcome);
}

/** The exception of a failure. */
export function exceptionOf({ status, message }: Outcome): ServiceSpecificException {
  return new ServiceSpecificException(status, message);
}

/**
 * Reads the arguments of a method. Throws INVALID_ARGUMENT for those that cannot be read.
 */
export function take<Arguments>(read: () => Arguments): Arguments {
  try {
    return read();
  } catch (error) {
    throw exceptionOf(invalid(`the arguments cannot be read: ${messageOf(error)}`));
  }
}

/**
 * The outcome that an exception of a service stands for. A number that is none of a failure is GENERAL_FAILURE, and so is any other error;
 * of a service that is gone, DEVICE_UNAVAILABLE.
 */
export function outcomeOf(error: unknown): Outcome {
  const message = messageOf(error);
  // A broken answer is one that the lift itself found.
  if (!hasFields(error) || error instanceof BrokenAnswer) return failure(message);
  if (error.name === "DeadObjectException") return { status: ErrorStatus.DEVICE_UNAVAILABLE, message };
  if (error.name !== "ServiceSpecificException") return failure(message);
  const status = soundStatus(error.errorCode);
  return status === ErrorStatus.NONE ? failure(message) : { status, message };
}
