/** Making and mapping memories of the HAL. Each memory has one mapping for as long as it is referenced. */
import type { BufferHandle, FileDescriptorHandle, Memory } from "@nnhal/types";
import { mapFile } from "#file-mapping";
import { hardwareBufferFacts } from "./hardware-buffer.ts";
import type { Mapping, Unmappable } from "./mapping.ts";
import type { FileMapper } from "./native.ts";
import { shareable } from "./shareable.ts";

/** Allocates zeroed memory of a size in bytes that all threads of this process can share. */
export function allocateMemory(size: number): Memory {
  return { name: "ashmem", size, handle: { kind: "buffer", buffer: shareable(size), byteOffset: 0 } };
}

/** The memory that some bytes lie in: a view, not a copy. */
export function memoryOf(bytes: Uint8Array): Memory {
  return new BytesMemory(bytes);
}

/**
 * A memory of bytes that are mapped already. A class, because each execution makes one for each array of its caller: a private field
 * costs less than an entry in the table of mappings.
 */
class BytesMemory implements Memory {
  readonly name = "ashmem";
  readonly size: number;
  readonly handle: BufferHandle;
  readonly #mapping: Mapping;

  constructor(given: Uint8Array) {
    const { buffer, byteOffset, byteLength } = given;
    this.size = byteLength;
    this.handle = { kind: "buffer", buffer, byteOffset };
    // Views of other classes, such as Buffer, behave differently when a part of them is taken.
    const isPlain = Object.getPrototypeOf(given) === Uint8Array.prototype;
    this.#mapping = { bytes: isPlain ? given : new Uint8Array(buffer, byteOffset, byteLength), writable: true };
  }

  /** The mapping of a memory that `memoryOf` made; undefined for any other. */
  static mappingOf(memory: Memory): Mapping | undefined {
    return #mapping in memory ? memory.#mapping : undefined;
  }
}

const mapped = new WeakMap<Memory, Mapping>();

/** Returns `memory`, whose bytes are mapped already: `mapPool` returns `mapping` for it. */
export function mappedMemory(memory: Memory, mapping: Mapping): Memory {
  mapped.set(memory, mapping);
  return memory;
}

/** Maps a memory. The same memory always has the same mapping. Never throws, even for an invalid memory. */
export function mapPool(memory: Memory): Mapping | Unmappable {
  try {
    const known = BytesMemory.mappingOf(memory) ?? mapped.get(memory);
    // There are fewer bytes if their buffer has been transferred to another thread.
    if (known !== undefined && known.bytes.length === memory.size) return known;
    const mapping = mapAnew(memory);
    if (!("unmappable" in mapping)) mapped.set(memory, mapping);
    return mapping;
  } catch (error) {
    return { unmappable: `a memory cannot be read: ${error instanceof Error ? error.message : "it throws"}` };
  }
}

/**
 * The bytes of a memory. If they are a copy of a file (see `mapPool`), they have the content of the first mapping or of
 * the last execution that read the file.
 */
export function mapMemory(memory: Memory): Uint8Array | Unmappable {
  const mapping = mapPool(memory);
  if ("unmappable" in mapping) return mapping;
  if (mapping.opaque !== undefined) return { unmappable: "the layout of a hardware_buffer is private to its driver" };
  return mapping.bytes;
}

/** Maps a memory even if it has been mapped before. `mapper` maps files. Default: see `mapFile`. */
export function mapAnew(memory: Memory, mapper?: FileMapper): Mapping | Unmappable {
  const { name, size, handle } = memory;
  if (handle === null) return { unmappable: `memory ${name} has no handle` };
  switch (name) {
    case "ashmem":
    case "hardware_buffer_blob":
      break;
    case "mmap_fd":
      if (handle.kind === "fileDescriptor") break;
      return { unmappable: `memory mmap_fd: expected a file descriptor, got a ${handle.kind}` };
    case "hardware_buffer":
      if (handle.kind === "hardwareBuffer") break;
      return { unmappable: `memory hardware_buffer lies in a ${handle.kind}, and nothing describes its format` };
    default:
      return { unmappable: `memory of kind ${name} is not known` };
  }
  if (handle.kind !== "hardwareBuffer") return mapContent(name, size, handle, mapper);
  const facts = hardwareBufferFacts(memory, handle);
  if ("unmappable" in facts) return facts;
  if (facts.isBlob && !facts.readable) {
    return { unmappable: `memory ${name} has usage 0x${handle.description.usage.toString(16)}: CPUs cannot read it` };
  }
  const mapping = mapContent(name, size, handle.content, mapper);
  if ("unmappable" in mapping) return mapping;
  if (!facts.isBlob) return { ...mapping, opaque: handle.description };
  return facts.writable ? mapping : { ...mapping, writable: false };
}

function mapContent(
  name: string,
  size: number,
  content: BufferHandle | FileDescriptorHandle,
  mapper: FileMapper | undefined,
): Mapping | Unmappable {
  if (content.kind === "fileDescriptor") return mapFile(name, size, content, mapper);
  const { buffer, byteOffset } = content;
  if (byteOffset + size > buffer.byteLength) {
    return { unmappable: `memory ${name} claims ${size} bytes at ${byteOffset} of a buffer of ${buffer.byteLength}` };
  }
  return { bytes: new Uint8Array(buffer, byteOffset, size), writable: true };
}
