import { ErrorStatus } from "@nnhal/types";

/** Returns whether another device can recover from a failure: not if the request or the deadline is the cause. */
export function isRecoverable(status: ErrorStatus): boolean {
  return (
    status !== ErrorStatus.NONE &&
    status !== ErrorStatus.OUTPUT_INSUFFICIENT_SIZE &&
    status !== ErrorStatus.MISSED_DEADLINE_TRANSIENT &&
    status !== ErrorStatus.MISSED_DEADLINE_PERSISTENT
  );
}
