/**
 * A device buffer as its client sees it: copying to and from memory, and letting go.
 */
import { ErrorStatus, type IBuffer, type Memory, type Outcome } from "@nnhal/types";
import { poolIssues } from "@nnhal/validation";
import { failure, invalid, messageOf } from "../device/refusal.ts";
import type { Mapping } from "../memory/mapping.ts";
import { mapPool } from "../memory/memory.ts";
import { type DeviceBuffer, dimensionsProblem, initialise, reset, sizeOf, valueSize } from "./device-buffer.ts";

const ok: Outcome = { status: ErrorStatus.NONE };

/** The interface of a buffer. `close`: frees it and its token. */
export function bufferInterface(buffer: DeviceBuffer, close: () => void): IBuffer {
  const { storage } = buffer;
  const during = async (what: string, work: () => Promise<Outcome>): Promise<Outcome> => {
    if (buffer.isClosed) return invalid(`${what}: the buffer is closed`);
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
    copyTo: (dst) => during("copying from a device buffer", () => copyTo(buffer, dst)),
    copyFrom: (src, dimensions) =>
      during("copying to a device buffer", async () => {
        reset(buffer);
        return copyFrom(buffer, src, dimensions);
      }),
    close,
  };
}

async function copyTo(buffer: DeviceBuffer, dst: Memory): Promise<Outcome> {
  const mapping = mapMemoryFor(dst);
  if ("status" in mapping) return mapping;
  const needed = valueSize(buffer);
  if (needed !== undefined && mapping.bytes.length !== needed) {
    return invalid(`the memory has ${mapping.bytes.length} bytes where the value has ${needed}`);
  }
  if (!mapping.writable) return invalid("the memory may not be written");
  if (!buffer.initialised) return failure("the buffer has no value");
  await buffer.storage.read(mapping.bytes);
  mapping.store?.(0, mapping.bytes.length);
  return ok;
}

async function copyFrom(buffer: DeviceBuffer, src: Memory, dimensions: readonly number[]): Promise<Outcome> {
  if (!Array.isArray(dimensions) || !dimensions.every((extent) => extent >>> 0 === extent)) {
    return invalid(`the dimensions are ${String(dimensions)} where an array of integers is needed`);
  }
  const mapping = mapMemoryFor(src);
  if ("status" in mapping) return mapping;
  const problem = dimensionsProblem(buffer, dimensions);
  if (problem !== undefined) return invalid(problem);
  const actual = dimensions.length === 0 ? buffer.operand.dimensions : dimensions;
  const needed = sizeOf(buffer.type, actual);
  if (mapping.bytes.length !== needed) {
    return invalid(
      `the memory has ${mapping.bytes.length} bytes where a value of dimensions [${actual}] has ${needed}`,
    );
  }
  mapping.load?.(0, mapping.bytes.length);
  await buffer.storage.write(mapping.bytes, actual);
  initialise(buffer, [...actual]);
  return ok;
}

/** Maps a memory whose bytes can be copied: any kind but a hardware buffer that is no BLOB. */
function mapMemoryFor(memory: Memory): Mapping | Outcome {
  const [issue] = poolIssues(memory);
  if (issue !== undefined) return invalid(`the memory is not valid: ${issue.path}: ${issue.message}`);
  if (memory.name === "hardware_buffer") return invalid("the memory is a hardware_buffer, whose layout is private");
  const mapping = mapPool(memory);
  return "unmappable" in mapping ? failure(mapping.unmappable) : mapping;
}
