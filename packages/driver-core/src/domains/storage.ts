/**
 * Where a device buffer's value lies: in bytes that grow with it, or in the backend's own memory.
 */
import type { BackendBuffer } from "@nnhal/backend";

/** Where a value lies. */
export interface BufferStorage {
  /** The backend's place; undefined: the value lies in `bytes`. */
  readonly place: BackendBuffer | undefined;
  /** Room for a value, whose bytes come first. Empty where the backend has the value. */
  bytes: Uint8Array;
  /** Makes room. What lay in the bytes is gone. */
  reserve(size: number): void;
  /** Copies the value of so many bytes out. */
  read(bytes: Uint8Array): void | Promise<void>;
  write(bytes: Uint8Array, dimensions: readonly number[]): void | Promise<void>;
  /** Somebody uses the value from now on; `release` has to follow. */
  retain(): void;
  /** Frees the place once the last user has gone, the buffer itself among them. */
  release(): void;
}

/** Storage with one user. */
export function createStorage(place: BackendBuffer | undefined, size: number): BufferStorage {
  let users = 1;
  const storage: BufferStorage = {
    place,
    bytes: new Uint8Array(place === undefined ? size : 0),
    reserve(needed) {
      if (place === undefined && storage.bytes.length < needed) storage.bytes = new Uint8Array(needed);
    },
    read(bytes) {
      if (place !== undefined) return place.read(bytes);
      bytes.set(storage.bytes.subarray(0, bytes.length));
    },
    write(bytes, dimensions) {
      if (place !== undefined) return place.write(bytes, dimensions);
      storage.reserve(bytes.length);
      storage.bytes.set(bytes);
    },
    retain() {
      users++;
    },
    release() {
      if (--users === 0) place?.close();
    },
  };
  return storage;
}
