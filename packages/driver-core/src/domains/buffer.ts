/** A device buffer as its client sees it: copies to and from memory, and close. */
import { combineDimensions, isTensorType, typeText } from "@nnhal/operations";
import { ErrorStatus, type IBuffer, type Memory, type Outcome } from "@nnhal/types";
import { poolIssues, show } from "@nnhal/validation";
import type { Client } from "../engine/client.ts";
import { sizeOf } from "../engine/value-size.ts";
import { failure, invalid, messageOf, type Refusal } from "../guard/refusal.ts";
import type { Mapping } from "../memory/mapping.ts";
import { mapPool } from "../memory/memory.ts";
import { type DeviceBuffer, initialise, reset, usedByLateRun } from "./device-buffer.ts";

const ok: Outcome = { status: ErrorStatus.NONE };

/** The interface of a buffer of a client. `close`: frees it and its token. */
export function bufferInterface(buffer: DeviceBuffer, client: Client, close: () => void): IBuffer {
  const { storage } = buffer;
  const during = (what: string, work: () => Promise<Outcome>) => client.waitOnClose(attempt(what, work));
  const attempt = async (what: string, work: () => Promise<Outcome>): Promise<Outcome> => {
    if (client.gone !== undefined) return client.gone;
    if (buffer.isClosed) return invalid(`${what}: the buffer is closed`);
    if (buffer.lateRuns > 0) return failure(`${what}: ${usedByLateRun}`);
    storage.retain();
    try {
      const { status, message } = await work();
      return message === undefined ? { status } : { status, message: `${what}: ${message}` };
    } catch (error) {
      return failure(`${what}: ${messageOf(error)}`);
    } finally {
      storage.release();
    }
  };
  return {
    copyTo: (dst) => during("copying from a device buffer", () => copyTo(buffer, dst, client)),
    copyFrom: (src, dimensions) =>
      during("copying to a device buffer", async () => {
        reset(buffer);
        return copyFrom(buffer, src, dimensions, client);
      }),
    close,
  };
}

async function copyTo(buffer: DeviceBuffer, dst: Memory, client: Client): Promise<Outcome> {
  const mapping = mapMemoryFor(dst);
  if ("status" in mapping) return mapping;
  const needed = valueSize(buffer);
  if (needed !== undefined && mapping.bytes.length !== needed) {
    return invalid(`the memory: expected the ${needed} bytes of the value, got ${mapping.bytes.length}`);
  }
  if (!mapping.writable) return invalid("the memory is not writable");
  if (!buffer.initialised) return failure("the buffer has no value");
  const { bytes } = mapping;
  const { place, bytes: value } = buffer.storage;
  const refusal = await place?.read(bytes, client);
  if (refusal !== undefined) return refusal;
  if (place === undefined) bytes.set(value.subarray(0, bytes.length));
  mapping.store?.(0, mapping.bytes.length);
  return ok;
}

async function copyFrom(buffer: DeviceBuffer, src: Memory, given: readonly number[], client: Client): Promise<Outcome> {
  const dimensions = dimensionsIn(given);
  if ("status" in dimensions) return dimensions;
  const mapping = mapMemoryFor(src);
  if ("status" in mapping) return mapping;
  const problem = dimensionsProblem(buffer, dimensions);
  if (problem !== undefined) return invalid(problem);
  const actual = dimensions.length === 0 ? buffer.operand.dimensions : dimensions;
  const needed = sizeOf(buffer.type, actual);
  if (mapping.bytes.length !== needed) {
    return invalid(
      `the memory: expected ${needed} bytes for a value of dimensions [${actual}], got ${mapping.bytes.length}`,
    );
  }
  mapping.load?.(0, mapping.bytes.length);
  const { storage } = buffer;
  if (storage.place === undefined) {
    storage.reserve(mapping.bytes.length);
    storage.bytes.set(mapping.bytes);
  } else {
    const refusal = await storage.place.write(mapping.bytes, actual, client);
    if (refusal !== undefined) return refusal;
  }
  initialise(buffer, [...actual]);
  return ok;
}

/** The caller's dimensions, read once. They can be any value. */
function dimensionsIn(given: readonly number[]): readonly number[] | Refusal {
  const problem = () => invalid(`the dimensions: expected an array of integers >= 0, got ${show(given)}`);
  try {
    if (!Array.isArray(given)) return problem();
    const { length } = given;
    // No operand has more.
    if (length > 1024) return problem();
    const dimensions: number[] = [];
    for (let axis = 0; axis < length; axis++) {
      const extent: unknown = given[axis];
      if (typeof extent !== "number" || extent >>> 0 !== extent) return problem();
      dimensions.push(extent);
    }
    return dimensions;
  } catch (error) {
    return invalid(`the dimensions cannot be read: ${messageOf(error)}`);
  }
}

/** Maps a memory whose bytes can be copied: any kind except a hardware buffer that is not a BLOB. */
function mapMemoryFor(memory: Memory): Mapping | Outcome {
  // A request's pool contains a memory; it is not itself a memory.
  const [issue] = poolIssues({ kind: "memory", memory });
  if (issue !== undefined) return invalid(`the memory is not valid: ${issue.path}: ${issue.message}`);
  if (memory.name === "hardware_buffer") return invalid("the memory is a hardware_buffer, whose layout is private");
  const mapping = mapPool(memory);
  return "unmappable" in mapping ? failure(mapping.unmappable) : mapping;
}

/** Bytes of the buffer's value; undefined if it has none and its shape is not known. */
function valueSize({ type, dimensions, initialised }: DeviceBuffer): number | undefined {
  return sizeOf(type, dimensions, initialised);
}

/**
 * Why `dimensions` are not valid as the shape of a new value (rules of IBuffer.copyFrom); undefined if they are. No
 * dimensions mean the buffer's own.
 */
function dimensionsProblem({ type, operand }: DeviceBuffer, dimensions: readonly number[]): string | undefined {
  const known = operand.dimensions;
  if (!isTensorType(type)) {
    return dimensions.length === 0
      ? undefined
      : `the dimensions of a ${typeText(type)}: expected none, got [${dimensions}]`;
  }
  if (dimensions.length === 0) {
    if (sizeOf(type, known) !== undefined) return undefined;
    return `no dimensions are given, but the buffer's own, [${known}], are not all known`;
  }
  if (dimensions.includes(0)) return `the dimensions [${dimensions}] have an extent of 0, which is unknown`;
  if (combineDimensions(known, dimensions) !== undefined) return undefined;
  return `the dimensions [${dimensions}] contradict the buffer's [${known}]`;
}
