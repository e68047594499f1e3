/** Differences of the bytes of a quantised tensor from the right ones. */
import { elementAt } from "@nnhal/operations";

/** Engines round at different steps. */
const allowed = 1;

/** Returns the fault in elements of 8 bits; undefined if none is more than one step off. */
export function differenceOf(actual: Uint8Array, expected: Uint8Array, isSigned: boolean): string | undefined {
  if (actual.length !== expected.length) return `expected ${expected.length} bytes, got ${actual.length}`;
  const elementOf = (byte: number) => (isSigned ? (byte << 24) >> 24 : byte);
  let wrong = 0;
  let most = 0;
  for (const [place, byte] of actual.entries()) {
    const difference = Math.abs(elementOf(byte) - elementOf(elementAt(expected, place)));
    if (difference > allowed) wrong++;
    most = Math.max(most, difference);
  }
  return wrong === 0 ? undefined : `${wrong} of ${actual.length} elements are off, by up to ${most}`;
}
