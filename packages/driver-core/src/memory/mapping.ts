/**
 * What a memory is mapped to. Bytes that cannot be shared (a file, where no native library maps it) are a copy; `load`
 * and `store` bring the copy and the file together again, part by part, so that executions under way at the same time do
 * not undo one another's results.
 */
import type { HardwareBufferDescription } from "@nnhal/types";

/** Why a memory cannot be mapped. */
export interface Unmappable {
  readonly unmappable: string;
}

/** The bytes of a memory, and how they get from and to where they belong. */
export interface Mapping {
  readonly bytes: Uint8Array;
  readonly writable: boolean;
  /** Takes over what others have written to a range. Absent where `bytes` are shared. Throws where that fails. */
  load?(offset: number, length: number): void;
  /** Makes what was written to a range last, and others see it. Absent where writing does both. Throws where that fails. */
  store?(offset: number, length: number): void;
  /** A hardware buffer that is no BLOB: only a backend that knows the format can make sense of the bytes. */
  readonly opaque?: HardwareBufferDescription;
}
