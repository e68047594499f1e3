/** Tells texts of numbers from others, by their first letters. */

const LETTERS = 200;

/** True for the bytes of a text that has numbers alone, with what separates them. */
export function isNumberText(bytes: Uint8Array): boolean {
  return /^[\s[\]\d.,;+\-eEnaif]+$/.test(new TextDecoder().decode(bytes.subarray(0, LETTERS)));
}
