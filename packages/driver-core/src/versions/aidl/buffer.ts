/** Buffers of devices: from canonical ones to those of AIDL, and back. */
import { ErrorStatus, type IBuffer, type Memory, type Outcome } from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { hasFields, show } from "@nnhal/validation";
import { invalid } from "../../guard/refusal.ts";
import { outcomeOf, raise, take } from "./exceptions.ts";
import { readIndexes, readMemory } from "./read.ts";
import { writeMemory } from "./write.ts";

/** A device's buffer behind the interface of AIDL. */
export function bufferFace(buffer: IBuffer, facts: AIDL1.AidlInterface): AIDL1.IBuffer {
  return {
    ...facts,
    async copyFrom(src, dimensions) {
      const memory = take(() => readMemory(src, "src"));
      raise(
        await buffer.copyFrom(
          memory,
          take(() => readIndexes(dimensions, "dimensions")),
        ),
      );
    },
    async copyTo(dst) {
      raise(await buffer.copyTo(take(() => readMemory(dst, "dst"))));
    },
    close: () => buffer.close?.(),
  };
}

/** A buffer of a driver of AIDL, in canonical terms. */
export function liftBuffer(buffer: AIDL1.IBuffer): IBuffer {
  const copy = async (memory: Memory, call: () => Promise<void>): Promise<Outcome> => {
    if (!hasFields(memory)) return invalid(`the memory: expected an object, got ${show(memory)}`);
    if (typeof memory.name !== "string")
      return invalid(`the memory's name: expected a string, got ${show(memory.name)}`);
    try {
      await call();
      return { status: ErrorStatus.NONE };
    } catch (error) {
      return outcomeOf(error);
    }
  };
  return {
    copyTo: (dst) => copy(dst, () => buffer.copyTo(writeMemory(dst))),
    copyFrom: (src, dimensions) => copy(src, () => buffer.copyFrom(writeMemory(src), dimensions)),
    close: () => buffer.close?.(),
  };
}
