/**
 * Checks of arguments that several calls share.
 */
import { describe, expectList } from "./given.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

/** Throws BAD_DATA unless an argument is right: `expected` says what it must be, such as `a priority`. */
export function expectRight(isRight: boolean, what: string, expected: string, given: unknown): asserts isRight {
  expect(isRight, ResultCode.BAD_DATA, () => `${what}: expected ${expected}, got ${describe(given)}`);
}

/** Throws BAD_DATA unless an argument is a duration. */
export function expectNanoseconds(given: bigint, what: string): void {
  expectRight(typeof given === "bigint" && given >= 0n, what, "a bigint of nanoseconds >= 0", given);
}

/** Throws BAD_DATA unless every extent fits in the HAL's 32 bits. */
export function expectDimensions(dimensions: readonly number[], what: string): void {
  expectList(dimensions, what, "dimensions");
  if (dimensions.length === 0) return;
  for (const extent of dimensions) {
    if (extent >>> 0 === extent) continue;
    const message = `${what}: expected an extent, an integer within [0, 2^32), got ${extent}`;
    throw new NeuralNetworksError(ResultCode.BAD_DATA, message);
  }
}

/** A timeout in nanoseconds; undefined for 0n, which means none. */
export function timeoutOf(nanoseconds: bigint, what: string): bigint | undefined {
  expectNanoseconds(nanoseconds, what);
  return nanoseconds === 0n ? undefined : nanoseconds;
}

/** The result of an allocation. Throws OUT_OF_MEMORY if there is no room for it. */
export function allocateOrThrow<Result>(size: number, what: string, allocate: (size: number) => Result): Result {
  try {
    return allocate(size);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NeuralNetworksError(ResultCode.OUT_OF_MEMORY, `${what}: ${size} bytes: ${error.message}`);
  }
}
