/**
 * What a device writes into its log.
 */
import { errorStatusNames, type Outcome, type Request, TIMING_NOT_MEASURED, type Timing } from "@nnhal/types";

/** The name of a status, and why it is not NONE. */
export function outcomeText({ status, message }: Outcome): string {
  const name = errorStatusNames.get(status) ?? `status ${status}`;
  return message === undefined ? name : `${name}: ${message}`;
}

/** How many operations a device takes, and why not the others: the first few reasons. */
export function supportText(reasons: readonly (string | undefined)[]): string {
  const refused = reasons.flatMap((reason, index) => (reason === undefined ? [] : [`operation ${index}: ${reason}`]));
  const shown = refused.slice(0, 3);
  if (refused.length > shown.length) shown.push(`and ${refused.length - shown.length} more`);
  return [`${reasons.length - refused.length} of ${reasons.length} operations supported`, ...shown].join("; ");
}

/** Measured times in microseconds; "" where nothing was measured. */
export function timingText({ timeOnDevice, timeInDriver }: Timing): string {
  if (timeInDriver === TIMING_NOT_MEASURED) return "";
  const onDevice = timeOnDevice === TIMING_NOT_MEASURED ? "" : `, ${timeOnDevice} us on the device`;
  return ` in ${timeInDriver} us${onDevice}`;
}

/** What a request brings. */
export function requestText({ inputs, outputs, pools }: Request): string {
  return `${inputs.length} inputs and ${outputs.length} outputs in ${pools.length} pools`;
}
