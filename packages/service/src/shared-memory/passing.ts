/**
 * Passes memories over a connection between two processes. The sender makes a reference of a memory, which any message can
 * carry; the receiver makes a memory of the reference. A file crosses once: later references name it by its number.
 *
 * Memory that lies in a file is shared. Bytes of the sender's own are copied to a copy that is shared: `store` before the other
 * side reads them, `load` after it has written them.
 */
import { closeSync } from "node:fs";
import { type Mapping, mapPool, mappedMemory } from "@nnhal/driver-core/memory";
import type { Memory } from "@nnhal/types";
import type { FileWay, SharedCopy } from "./file-way.ts";
import { decodeReference, encodeReference, type MemoryReference } from "./memory-reference.ts";
import { createSharedMemory, greatestSize, type NoMemory } from "./shared-memory.ts";

/** A memory that can be passed. */
export interface PassedMemory {
  /** Bytes of a message, from which the receiver makes the memory. */
  readonly reference: Uint8Array;
  /** Copies a range of the memory to where the other side reads it. Absent if the bytes are shared. Throws if that fails. */
  store?(offset: number, length: number): void;
  /** Copies a range that the other side has written. Absent if the bytes are shared. Throws if that fails. */
  load?(offset: number, length: number): void;
}

/** One side of a connection over which memories are passed, in both directions. Not for several threads. */
export interface MemoryPassing {
  /** The form in which files are passed: as descriptors, or by names of files that are copied. */
  readonly way: FileWay["way"];
  /** The reference of a memory. */
  pass(memory: Memory): PassedMemory | NoMemory;
  /** Makes zeroed memory that crosses without a copy. Absent: files are copied. */
  readonly allocate?: (size: number) => Memory | NoMemory;
  /** The memory of a reference, which can be any bytes. References of one memory of the sender give memories of the same bytes. */
  receive(reference: Uint8Array): Memory | NoMemory;
  /** The sender no longer needs a file (`onUnused`); its memory lives as long as it is used here. */
  release(id: number): void;
  /** Passes an open file, such as one of a cache, as the number by which the other side takes it. Absent: files do not pass. */
  readonly passFile?: (fd: number) => number | NoMemory;
  /** An open file that the other side has passed. */
  readonly takeFile?: (id: number) => TakenFile | NoMemory;
  /** Bytes of the files that this side has received and not released. */
  readonly receivedBytes: number;
  /** Ends the passing. Memories that were received stay valid. */
  close(): void;
}

/** An open file of the other side, which must be closed after use. */
export interface TakenFile {
  readonly fd: number;
  close(): void;
}

/** Options of passing memories. */
export interface PassingOptions {
  /** Called with the number of a file when its memory is gone here: the other side must be told to `release` it. */
  readonly onUnused?: ((id: number) => void) | undefined;
  /**
   * Most files that this side keeps for the other, and most that it has sent and not released: a memory that needs one more is not
   * passed. Default 4096.
   */
  readonly mostFiles?: number | undefined;
  /** Most bytes of such files. Default 2^36. */
  readonly mostBytes?: number | undefined;
}

/** A file that the other side knows. */
interface Sent {
  readonly id: number;
  readonly file: string;
  readonly length: number;
  readonly copy: SharedCopy | undefined;
}

/** A file that this side knows. */
interface Received {
  readonly memory: Memory;
  readonly length: number;
  readonly protection: number;
}

/** Passes memories in a way: `descriptorWay` or `folderWay`. */
export function createPassing(way: FileWay, options: PassingOptions = {}): MemoryPassing {
  const { onUnused = () => {}, mostFiles = 4096, mostBytes = 2 ** 36 } = options;
  /** Files by what their bytes belong to: a handle, or a buffer. */
  const sent = new WeakMap<object, Sent>();
  /** Files that the other side keeps: a memory that is gone here counts until it is garbage-collected. */
  let sentFiles = 0;
  const received = new Map<number, Received>();
  let receivedBytes = 0;
  let isClosed = false;
  const unused = new FinalizationRegistry<Pick<Sent, "id" | "file">>(({ id, file }) => {
    if (isClosed) return;
    sentFiles--;
    way.forget(file);
    onUnused(id);
  });

  const sendShared = (memory: Memory, fd: number): Sent | NoMemory => {
    const one = way.send(fd);
    return "refused" in one ? one : { ...one, length: memory.size, copy: undefined };
  };
  const sendCopy = (length: number): Sent | NoMemory => {
    if (length > greatestSize) return { refused: `its buffer has ${length} bytes, and ${greatestSize} can be shared` };
    const one = way.sendCopy(length);
    return "refused" in one ? one : { ...one, length };
  };
  const keep = (owner: object, make: () => Sent | NoMemory): Sent | NoMemory => {
    if (sentFiles >= mostFiles) return { refused: `this side has passed ${sentFiles} files, which is the limit` };
    const one = make();
    if ("refused" in one) return one;
    sentFiles++;
    sent.set(owner, one);
    unused.register(owner, { id: one.id, file: one.file });
    return one;
  };

  const pass = (memory: Memory): PassedMemory | NoMemory => {
    const { name, handle, size } = memory;
    // The receiver labels every memory ashmem, so other kinds must be refused here.
    if (name !== "ashmem" && name !== "mmap_fd") return { refused: `a memory of kind ${name} is not passed as a file` };
    if (handle === null) return { refused: `the memory ${memory.name} has no handle` };
    if (handle.kind === "hardwareBuffer") return { refused: "a hardware buffer cannot be passed to another process" };
    if (handle.kind === "fileDescriptor" && way.sharesFiles) {
      const file = sent.get(handle) ?? keep(handle, () => sendShared(memory, handle.fd));
      if ("refused" in file) return file;
      const { id, length } = file;
      const { protection, offset } = handle;
      const reference = encodeReference({ id, file: "", start: offset, length, protection, offset: 0, size });
      // This process's own view of a file can be a copy as well.
      return { reference, ...copiesOf(mapPool(memory)) };
    }
    const mapping = mapPool(memory);
    if ("unmappable" in mapping) return { refused: mapping.unmappable };
    const { bytes, writable } = mapping;
    const known = sent.get(bytes.buffer);
    const fits = known !== undefined && known.length >= bytes.byteOffset + size;
    const one = fits ? known : keep(bytes.buffer, () => sendCopy(bytes.buffer.byteLength));
    if ("refused" in one) return one;
    const { id, file, length, copy } = one;
    const reference = encodeReference({ id, file, start: 0, length, protection: 3, offset: bytes.byteOffset, size });
    const copies = copiesToShared(mapping, copy);
    return { reference, store: copies.store, ...(writable && { load: copies.load }) };
  };

  const take = (reference: MemoryReference): Received | NoMemory => {
    const known = received.get(reference.id);
    if (known !== undefined) return known;
    if (received.size >= mostFiles)
      return { refused: `the other side has passed ${received.size} files and uses all of them` };
    if (receivedBytes + reference.length > mostBytes) {
      return { refused: `the other side has passed ${receivedBytes} bytes of the ${mostBytes} that it may` };
    }
    const memory = way.receive(reference);
    if ("refused" in memory) return memory;
    const one = { memory, length: reference.length, protection: reference.protection };
    received.set(reference.id, one);
    receivedBytes += reference.length;
    return one;
  };

  return {
    way: way.way,
    get receivedBytes() {
      return receivedBytes;
    },
    pass(memory) {
      if (isClosed) return { refused: "the connection is closed" };
      const passed = pass(memory);
      return "refused" in passed ? { refused: `passing a memory of ${memory.size} bytes: ${passed.refused}` } : passed;
    },
    receive(bytes) {
      if (isClosed) return { refused: "the connection is closed" };
      const reference = decodeReference(bytes);
      if ("refused" in reference) return reference;
      const file = take(reference);
      if ("refused" in file) return { refused: `receiving a memory of ${reference.size} bytes: ${file.refused}` };
      return partOf(file, reference);
    },
    ...(way.sharesFiles && { allocate: createSharedMemory }),
    ...filesOf(way),
    release(id) {
      receivedBytes -= received.get(id)?.length ?? 0;
      received.delete(id);
    },
    close() {
      isClosed = true;
      received.clear();
      receivedBytes = 0;
      way.close();
    },
  };
}

/** Copies between bytes of this side and their copy, which the other side sees. */
function copiesToShared(
  { bytes, load, store }: Mapping,
  copy: SharedCopy | undefined,
): Required<Omit<PassedMemory, "reference">> {
  return {
    store(offset, count) {
      load?.(offset, count);
      copy?.write(bytes, offset, count);
    },
    load(offset, count) {
      copy?.read(bytes, offset, count);
      store?.(offset, count);
    },
  };
}

/** Open files cross as descriptors. */
function filesOf({ sharesFiles, send, take }: FileWay): Pick<MemoryPassing, "passFile" | "takeFile"> {
  if (!sharesFiles || take === undefined) return {};
  return {
    passFile(fd) {
      const sent = send(fd);
      return "refused" in sent ? sent : sent.id;
    },
    takeFile(id) {
      const fd = take(id);
      return typeof fd === "number" ? { fd, close: () => closeSync(fd) } : fd;
    },
  };
}

/** Returns the functions that copy the bytes of a mapping from and to its file. */
function copiesOf(mapping: ReturnType<typeof mapPool>): Pick<PassedMemory, "load" | "store"> {
  // Of a memory that cannot be mapped here, this process reads nothing.
  if ("unmappable" in mapping || mapping.load === undefined) return {};
  const { load, store } = mapping;
  return { load, ...(store !== undefined && { store }) };
}

/** The memory of a part of a file. */
function partOf(file: Received, { offset, size, length }: MemoryReference): Memory | NoMemory {
  if (length !== file.length)
    return { refused: `a reference says that its file has ${length} bytes, one before ${file.length}` };
  if (offset + size > length)
    return { refused: `a reference's memory of ${size} bytes at ${offset} is in a file of ${length}` };
  if (offset === 0 && size === length) return file.memory;
  const whole = mapPool(file.memory);
  if ("unmappable" in whole) return { refused: whole.unmappable };
  const bytes = whole.bytes.subarray(offset, offset + size);
  const { buffer, byteOffset } = bytes;
  const memory: Memory = { name: "ashmem", size, handle: { kind: "buffer", buffer, byteOffset } };
  const { load, store } = whole;
  // The whole mapping keeps the file of a copy open.
  const part: Mapping & { readonly whole: Mapping } = {
    ...whole,
    whole,
    bytes,
    ...(load !== undefined && { load: (start, count) => load(offset + start, count) }),
    ...(store !== undefined && { store: (start, count) => store(offset + start, count) }),
  };
  return mappedMemory(memory, part);
}
