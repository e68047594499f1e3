/**
 * The mapping of a memory. Bytes that cannot be shared (a file without a native library) are a copy; `load` and `store`
 * copy parts from and to the file, so that concurrent executions do not overwrite one another's results.
 */
import type { HardwareBufferDescription } from "@nnhal/types";
import type { Signal } from "./signal.ts";

/** Why a memory cannot be mapped. */
export interface Unmappable {
  readonly unmappable: string;
}

/** The bytes of a memory, with the functions that synchronise a copy with its file. */
export interface Mapping {
  readonly bytes: Uint8Array;
  readonly writable: boolean;
  /** Reads a range of the file into `bytes`. Absent if `bytes` are shared. Throws if that fails. */
  load?(offset: number, length: number): void;
  /** Writes a range of `bytes` to the file. Absent if `bytes` are shared and need no flush. Throws if that fails. */
  store?(offset: number, length: number): void;
  /**
   * The description of a hardware buffer that is not a BLOB: only a backend that knows the format can read the bytes.
   */
  readonly opaque?: HardwareBufferDescription;
  /** Signal with which those who share the bytes sleep and wake each other. Absent: Atomics, within this process. */
  readonly signal?: Signal;
}
