/**
 * Passes memories over a connection without a copy. The sender makes a reference, which a frame carries, and the receiver
 * makes a memory from it. A memory that cannot be passed is copied in frames.
 */
import { allocateMemory } from "@nnhal/driver-core/memory";
import type { BufferHandle, FileDescriptorHandle, Memory } from "@nnhal/types";
import {
  type Codec,
  decode,
  encode,
  float64,
  optional,
  struct,
  text,
  UnreadableBytes,
  uint8,
  union,
} from "@nnhal/utils/codec";
import { hardwareBuffer } from "../protocol/values.ts";

/** Why a memory is not passed. */
export interface NotPassed {
  readonly refused: string;
}

/** A memory that can be passed. */
export interface PassedMemory {
  /** The description from which the receiver makes the memory. */
  readonly reference: Uint8Array;
  /** Buffers that go with the reference. Default: none. */
  readonly attachments?: readonly SharedArrayBuffer[];
  /** Copies a range of the memory to where the other side reads it. Absent if the bytes are shared. Throws if that fails. */
  store?(offset: number, length: number): void;
  /** Copies a range that the other side has written. Absent if the bytes are shared. Throws if that fails. */
  load?(offset: number, length: number): void;
}

/** One side of a connection over which memories pass. `MemoryPassing` of @nnhal/service/shared-memory is one, between processes. */
export interface MemoryPassing {
  pass(memory: Memory): PassedMemory | NotPassed;
  /** The memory of a reference, which can be any bytes. */
  receive(reference: Uint8Array, attachments: readonly SharedArrayBuffer[]): Memory | NotPassed;
  /** Makes zeroed memory that passes without a copy. Absent: there is none. */
  readonly allocate?: ((size: number) => Memory | NotPassed) | undefined;
  /** The sender does not use a file any more. */
  release(id: number): void;
  /** Ends the passing. Memories that were received stay valid. */
  close(): void;
  /** True if both sides see the same bytes, as the queues of bursts need. Default: true. */
  readonly sharesMemory?: boolean | undefined;
  /**
   * Passes an open file, as the number by which the other side takes it. Default: files do not pass, so that there is no
   * compilation cache.
   */
  readonly passFile?: ((fd: number) => number | NotPassed) | undefined;
  /** Takes an open file that the other side has passed. It must be closed after the call. */
  readonly takeFile?: ((id: number) => TakenFile | NotPassed) | undefined;
}

/** See `MemoryPassing.takeFile`. */
export interface TakenFile {
  readonly fd: number;
  close(): void;
}

/** Makes a side's passing. `onUnused`: the sender's call when a file is not used any more. */
export type PassingFactory = (onUnused: (id: number) => void) => MemoryPassing;

interface Shared {
  readonly name: string;
  readonly size: number;
  readonly content: Content;
  readonly description: Parameters<typeof hardwareBuffer.write>[0] | undefined;
}

/** Where the bytes are: in the first attachment, or in a file of this process. */
type Content =
  | { readonly kind: "buffer"; readonly byteOffset: number }
  | { readonly kind: "fileDescriptor"; readonly fd: number; readonly protection: number; readonly offset: number };

const shared: Codec<Shared> = struct<Shared>({
  name: text,
  size: float64,
  content: union<Content>({
    buffer: struct({ byteOffset: float64 }),
    fileDescriptor: struct({ fd: float64, protection: uint8, offset: float64 }),
  }),
  description: optional(hardwareBuffer),
});

/**
 * For two ends in one process, in one thread or two: buffers that threads share pass as they are, and so do open files. Both
 * sides are trusted with all files of the process.
 */
export const threadPassing: PassingFactory = () => ({
  pass({ name, size, handle }) {
    if (handle === null) return { refused: "it has no handle" };
    const isHardwareBuffer = handle.kind === "hardwareBuffer";
    const content: BufferHandle | FileDescriptorHandle = isHardwareBuffer ? handle.content : handle;
    const description = isHardwareBuffer ? handle.description : undefined;
    if (content.kind === "fileDescriptor") return { reference: encode(shared, { name, size, content, description }) };
    const { buffer } = content;
    if (!(buffer instanceof SharedArrayBuffer)) return { refused: "its bytes lie in an ArrayBuffer" };
    return { reference: encode(shared, { name, size, content, description }), attachments: [buffer] };
  },
  receive(reference, [buffer]) {
    try {
      const { name, size, content, description } = decode(shared, reference);
      if (content.kind === "buffer" && buffer === undefined) return { refused: "its buffer has not come with it" };
      // The absence of a buffer was refused above.
      const handle = content.kind === "buffer" ? { ...content, buffer: buffer as SharedArrayBuffer } : content;
      if (description === undefined) return { name, size, handle };
      return { name, size, handle: { kind: "hardwareBuffer", description, content: handle } };
    } catch (error) {
      if (error instanceof UnreadableBytes) return { refused: error.message };
      throw error;
    }
  },
  allocate: allocateMemory,
  release() {},
  close() {},
  passFile: (fd) => fd,
  takeFile: (fd) => ({ fd, close() {} }),
});

/** For connections that share nothing: all memories are copied. */
export const noPassing: PassingFactory = () => ({
  sharesMemory: false,
  pass: () => ({ refused: "the connection copies memories" }),
  receive: () => ({ refused: "the connection copies memories" }),
  release() {},
  close() {},
});
