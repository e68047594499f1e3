/** Text for a device's log. */
import { errorStatusNames, type Outcome, type Request, TIMING_NOT_MEASURED, type Timing } from "@nnhal/types";

/** The name of a status, with the message if it is not NONE. */
export function outcomeText({ status, message }: Outcome): string {
  const name = errorStatusNames.get(status) ?? `status ${status}`;
  return message === undefined ? name : `${name}: ${message}`;
}

/** The number of supported operations, and the first reasons why others are not supported. */
export function supportText(reasons: readonly (string | undefined)[]): string {
  const refused = reasons.flatMap((reason, index) =>
    reason === undefined ? [] : [`operation ${index + 1}: ${reason}`],
  );
  const shown = refused.slice(0, 3);
  if (refused.length > shown.length) shown.push(`and ${refused.length - shown.length} more`);
  return [`${reasons.length - refused.length} of ${reasons.length} operations supported`, ...shown].join("; ");
}

/** Measured times in microseconds; "" if nothing was measured. */
export function timingText({ timeOnDevice, timeInDriver }: Timing): string {
  if (timeInDriver === TIMING_NOT_MEASURED) return "";
  const onDevice = timeOnDevice === TIMING_NOT_MEASURED ? "" : `, ${timeOnDevice} us on the device`;
  return ` in ${timeInDriver} us${onDevice}`;
}

/** A summary of a request. */
export function requestText({ inputs, outputs, pools }: Request): string {
  return `${inputs.length} inputs and ${outputs.length} outputs in ${pools.length} pools`;
}
