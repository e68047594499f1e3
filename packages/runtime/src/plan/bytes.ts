/**
 * Values that the runtime itself reads and writes between steps: through a mapping, or by a copy if the value lies in a
 * device's buffer.
 */
import { type Mapping, mapPool, memoryOf } from "@nnhal/driver-core/memory";
import { ErrorStatus, type Outcome } from "@nnhal/types";
import type { Place } from "./place.ts";

/** The value at a place, of `size` bytes. */
export async function readPlace(place: Place, size: number): Promise<Uint8Array | Outcome> {
  const { pool, offset, buffer } = place;
  if (pool.kind === "token") {
    if (buffer === undefined) return unreachable;
    const copy = new Uint8Array(size);
    const outcome = await buffer.copyTo(memoryOf(copy));
    return outcome.status === ErrorStatus.NONE ? copy : outcome;
  }
  const mapping = mappingOf(place);
  if ("status" in mapping) return mapping;
  mapping.load?.(offset, size);
  return mapping.bytes.subarray(offset, offset + size);
}

/** Writes a value to a place, which must be long enough. */
export async function writePlace(place: Place, bytes: Uint8Array, dimensions: readonly number[]): Promise<Outcome> {
  const { pool, offset, buffer } = place;
  if (pool.kind === "token") return buffer === undefined ? unreachable : buffer.copyFrom(memoryOf(bytes), dimensions);
  const mapping = mappingOf(place);
  if ("status" in mapping) return mapping;
  if (!mapping.writable) {
    return { status: ErrorStatus.INVALID_ARGUMENT, message: "it lies in memory that is not writable" };
  }
  mapping.bytes.set(bytes, offset);
  mapping.store?.(offset, bytes.length);
  return { status: ErrorStatus.NONE };
}

const unreachable: Outcome = {
  status: ErrorStatus.GENERAL_FAILURE,
  message: "the value lies in a device's buffer that the runtime did not allocate",
};

function mappingOf({ pool }: Place): Mapping | Outcome {
  if (pool.kind === "token") return unreachable;
  const mapping = mapPool(pool.memory);
  if ("unmappable" in mapping) return { status: ErrorStatus.GENERAL_FAILURE, message: mapping.unmappable };
  if (mapping.opaque === undefined) return mapping;
  return {
    status: ErrorStatus.GENERAL_FAILURE,
    message: "the value lies in a hardware_buffer, whose layout is private to its driver",
  };
}
