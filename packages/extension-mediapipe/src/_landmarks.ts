/** Shared by the operators of landmarks: options in a FlexBuffer, and matrices of 4 by 4. */
import { ensure, type FlexMap, type FlexValue } from "@nnhal/operations/authoring";

/** Refuses a matrix of another size than 4 by 4. */
export function ensureMatrix({ dimensions }: { readonly dimensions: readonly number[] }): void {
  const size = dimensions.reduce((product, extent) => product * extent, 1);
  ensure(size === 16, () => `the matrix: expected 4 by 4 elements, got [${dimensions}]`);
}

/** An option that is a number. One that is missing is 0, as in MediaPipe. */
export function numberOption(options: FlexMap, name: string): number {
  return numberOf(options[name] ?? 0, name);
}

/** An option that is a list of numbers. One that is missing has none. */
export function numbersOption(options: FlexMap, name: string): number[] {
  const value = options[name] ?? [];
  ensure(Array.isArray(value), () => `${name} is not a list`);
  return value.map((element: FlexValue) => numberOf(element, name));
}

function numberOf(value: FlexValue, name: string): number {
  ensure(typeof value === "number" || typeof value === "boolean", () => `${name} has something other than numbers`);
  return Number(value);
}
