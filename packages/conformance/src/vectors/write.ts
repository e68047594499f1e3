/**
 * Examples as lines of a vectors file, which `readVectorFile` and `parseExample` read.
 */
import type { Example } from "./example.ts";

/** An example as one line, without its end. */
export function exampleLine({ main, referenced, minSupportedVersion: version, ...rest }: Example): string {
  const whole = {
    ...rest,
    minSupportedVersion: version === undefined ? "UNKNOWN" : `V${version.replace(".", "_")}`,
    model: { main, referenced },
  };
  return JSON.stringify(whole, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
  );
}
