/**
 * Where a device buffer's value lies: in bytes that grow with it, or in the backend's own memory.
 */
import type { GuardedPlace } from "../device/guarded-place.ts";
import type { BufferBudget } from "./budget.ts";

/** Where a value lies. */
export interface BufferStorage {
  /** The backend's place; undefined: the value lies in `bytes`. */
  readonly place: GuardedPlace | undefined;
  /** Room for a value, whose bytes come first. Empty if the backend has the value. */
  bytes: Uint8Array;
  /** Makes room, of which the bytes are gone then. Throws OutOfRoom if there is none. */
  reserve(size: number): void;
  /** Something uses the value from now on; `release` has to follow. */
  retain(): void;
  /** Frees the place once the last user has gone, the buffer itself among them. */
  release(): void;
}

/** Storage with one user. Throws OutOfRoom if there is no room for it. */
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
