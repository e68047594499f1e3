/**
 * Statuses for callers older than HAL 1.3, which do not know them all.
 */
import { type ErrorStatus, errorStatusNames, errorStatuses, type HalVersion, V1_0 } from "@nnhal/types";
import { type Conversion, conversion, type Loss, type WarningSink } from "./conversion.ts";

/** A status as HAL 1.0 – 1.2 know it: what is newer, or no status at all, becomes GENERAL_FAILURE. */
export function narrowStatus(from: ErrorStatus, version: HalVersion, warn?: WarningSink): Conversion<V1_0.ErrorStatus> {
  if (isOldStatus(from)) return { value: from, lost: [] };
  const name = errorStatusNames.get(from);
  const needed = name === undefined ? "is no status" : `needs HAL ${errorStatuses[name].since}`;
  const lost: Loss[] = [{ path: "status", message: `status: ${name ?? from} ${needed}`, harmless: false }];
  return conversion("a status", version, V1_0.ErrorStatus.GENERAL_FAILURE, lost, warn);
}

/** Whether HAL 1.0 knows a status. */
export function isOldStatus(status: ErrorStatus): status is V1_0.ErrorStatus {
  return Object.values<number>(V1_0.ErrorStatus).includes(status);
}
