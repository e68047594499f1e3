/**
 * Checks of arguments that several calls have in common.
 */
import type { Device } from "@nnhal/types";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

/** Throws UNEXPECTED_NULL for an argument that callers without types left out. `what`: the call, `name`: the argument. */
export function expectGiven<Value>(value: Value, what: string, name: string): asserts value is NonNullable<Value> {
  expect(value !== null && value !== undefined, ResultCode.UNEXPECTED_NULL, () => `${what}: ${name} is ${value}`);
}

/** Throws BAD_DATA unless a list of extents is one that the HAL can hold. */
export function expectDimensions(dimensions: readonly number[], what: string): void {
  expectGiven(dimensions, what, "dimensions");
  const wrong = dimensions.find((extent) => extent >>> 0 !== extent);
  expect(
    wrong === undefined,
    ResultCode.BAD_DATA,
    () => `${what}: ${wrong} is no extent; an integer within [0, 2^32) is needed`,
  );
}

/** A timeout in nanoseconds; none for 0n. */
export function timeoutOf(nanoseconds: bigint, what: string): bigint | undefined {
  const isTimeout = typeof nanoseconds === "bigint" && nanoseconds >= 0n;
  expect(isTimeout, ResultCode.BAD_DATA, () => `${what}: ${nanoseconds} is no bigint of nanoseconds >= 0`);
  return nanoseconds === 0n ? undefined : nanoseconds;
}

/** Refuses a list with a device that is missing or listed twice. */
export function expectDevices(devices: readonly Device[], what: string): void {
  expectGiven(devices, what, "devices");
  for (const [index, device] of devices.entries()) expectGiven(device, what, `devices[${index}]`);
  const isOnce = new Set(devices).size === devices.length;
  expect(isOnce, ResultCode.BAD_DATA, () => `${what}: a device is listed twice`);
}

/** What an allocation gives. Throws OUT_OF_MEMORY where there is no room for it. */
export function allocated<Result>(size: number, what: string, allocate: (size: number) => Result): Result {
  try {
    return allocate(size);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NeuralNetworksError(ResultCode.OUT_OF_MEMORY, `${what}: ${size} bytes: ${error.message}`);
  }
}
