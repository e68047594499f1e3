/** The storage of a device buffer: bytes that grow with the value, or a place in the backend's memory. */
import type { GuardedPlace } from "../engine/guarded-place.ts";
import type { BufferBudget } from "./budget.ts";

/** The storage of a value. */
export interface BufferStorage {
  /** The backend's place; undefined if the value lies in `bytes`. */
  readonly place: GuardedPlace | undefined;
  /** Memory that begins with the value. Empty if the value lies in the backend's place. */
  bytes: Uint8Array;
  /** Makes room for `size` bytes; the value is lost then. Throws OutOfMemory if there is none. */
  reserve(size: number): void;
  /** Adds a user of the value; `release` must follow. */
  retain(): void;
  /** Removes a user; the last one, which can be the buffer itself, frees the storage. */
  release(): void;
}

/** Storage with one user. Throws OutOfMemory if there is no room for it. */
export function createStorage(place: GuardedPlace | undefined, size: number, budget: BufferBudget): BufferStorage {
  let users = 1;
  if (place !== undefined) budget.take(size);
  const storage: BufferStorage = {
    place,
    bytes: place === undefined ? budget.bytes(size) : new Uint8Array(0),
    reserve(needed) {
      const { length } = storage.bytes;
      if (place === undefined && length < needed) storage.bytes = budget.bytes(needed, length);
    },
    retain() {
      users++;
    },
    release() {
      if (--users > 0) return;
      budget.giveBack(place === undefined ? storage.bytes.length : size);
      place?.close();
    },
  };
  return storage;
}
