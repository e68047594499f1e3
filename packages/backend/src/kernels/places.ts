/**
 * Device memory: values that an engine keeps between runs. A buffer holds a handle, so a value that one run writes and the next
 * one reads is not downloaded in between.
 */
import {
  byteLength,
  createData,
  decodeTensorData,
  elementCount,
  encodeTensorData,
  tensorInfo,
} from "@nnhal/operations";
import type { BackendBuffer, BufferInfo } from "../contract.ts";
import { drop, hold, type Memory, type Value } from "./values.ts";

/** The buffers of an engine. */
export interface Places<Handle> {
  allocate(value: BufferInfo): BackendBuffer;
  /** The value in a buffer, with one more holder. Throws if there is no value. */
  take(place: BackendBuffer): Value<Handle>;
  /** Replaces the value in a buffer. The caller keeps its own hold. */
  put(place: BackendBuffer, value: Value<Handle>): void;
}

/** Creates the buffers of an engine; there are none at first. */
export function createPlaces<Handle>(memory: Memory<Handle>): Places<Handle> {
  const { engine } = memory;
  const held = new WeakMap<BackendBuffer, Value<Handle>>();
  const set = (place: BackendBuffer, value: Value<Handle> | undefined) => {
    const before = held.get(place);
    if (value === undefined) held.delete(place);
    else held.set(place, value);
    drop(memory, before);
  };
  const valueIn = (place: BackendBuffer): Value<Handle> => {
    const value = held.get(place);
    if (value === undefined) throw new Error("the buffer holds no value of this engine");
    return value;
  };
  return {
    allocate(declared) {
      const { type } = declared;
      const place: BackendBuffer = {
        async read(bytes) {
          const value = hold(valueIn(place));
          try {
            const needed = byteLength(type, elementCount(value.info.dimensions));
            if (needed > 0) encodeTensorData(type, await engine.download(value.handle, value.info), bytes);
          } finally {
            drop(memory, value);
          }
        },
        write(bytes, dimensions) {
          const info = tensorInfo(declared, dimensions);
          const data = decodeTensorData(type, bytes, elementCount(dimensions));
          set(place, { info, handle: engine.upload(info, data), bytes: 0, holders: 1 });
        },
        close: () => set(place, undefined),
      };
      return place;
    },
    take: (place) => hold(valueIn(place)),
    put(place, value) {
      // Elements of a request may be in the caller's memory, and change there.
      set(place, value.data === undefined ? hold(value) : uploadAgain(memory, value));
    },
  };
}

function uploadAgain<Handle>({ engine }: Memory<Handle>, { info, data }: Value<Handle>): Value<Handle> {
  return { info, handle: engine.upload(info, data ?? createData(info.type, 0)), bytes: 0, holders: 1 };
}
