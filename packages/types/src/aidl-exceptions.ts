/** Failures of calls of AIDL: a method of an interface returns its result, or throws one of these. */
import { type ErrorStatus, errorStatusNames } from "./enums.ts";

/** A failure that the service reports (AIDL's EX_SERVICE_SPECIFIC). */
export class ServiceSpecificException extends Error {
  override readonly name = "ServiceSpecificException";
  /** The number that the service sent; a status other than NONE if the service keeps the rules. */
  readonly errorCode: ErrorStatus;

  constructor(errorCode: ErrorStatus, message: string = errorStatusNames.get(errorCode) ?? `status ${errorCode}`) {
    super(message);
    this.errorCode = errorCode;
  }
}

/** The process of the service is gone (AIDL's EX_TRANSACTION_FAILED with DEAD_OBJECT). */
export class DeadObjectException extends Error {
  override readonly name = "DeadObjectException";

  constructor(message = "the service is gone") {
    super(message);
  }
}
