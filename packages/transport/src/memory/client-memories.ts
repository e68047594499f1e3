/**
 * The memories of a client, as its server knows them: each is defined once, and named by a number afterwards, until nothing
 * uses it here. Bytes that cannot be shared are sent before the server reads them, and taken over when it has written them.
 */
import { type Mapping, mapPool } from "@nnhal/driver-core/memory";
import type { Memory } from "@nnhal/types";
import { Unwritable } from "@nnhal/utils/codec";
import { type Handler, makeMessageHandler } from "../protocol/answers.ts";
import type { Connection } from "../protocol/connection.ts";
import { textOf } from "../protocol/frames.ts";
import { notices } from "../protocol/methods.ts";
import type { MemoryDefinition } from "../protocol/values.ts";
import type { MemoryPassing, PassedMemory } from "./passing.ts";
import { type Range, sendRange } from "./pieces.ts";

/** A memory that the server knows. */
interface Known {
  readonly id: number;
  /** Copies of its bytes for the server; undefined if they are shared. */
  readonly copying: Copying | undefined;
}

interface Copying {
  readonly mapping: Mapping;
  readonly passed: PassedMemory | undefined;
}

/** See the file's head. */
export interface ClientMemories {
  /** The number of a memory, which is defined if it is new. Throws Unwritable for a value that is not a memory. */
  idOf(memory: Memory): number;
  /** Makes ranges of a memory visible to the server. Undefined if there is nothing to wait for. */
  store(memory: Memory, ranges: readonly Range[]): Promise<void> | undefined;
  /** Makes ranges visible here that the server has written. */
  load(memory: Memory, ranges: readonly Range[]): void;
  /** Returns whether the server sees changes of a memory immediately. */
  isShared(memory: Memory): boolean;
  /** Returns whether this side may write a memory that is not shared. */
  isWritable(memory: Memory): boolean;
  /** The handlers of the server's messages about memories. */
  readonly handlers: readonly Handler[];
}

/** The memories of one connection, which exists when the first memory is used. */
export function createClientMemories(passing: MemoryPassing, connection: () => Connection): ClientMemories {
  const known = new WeakMap<Memory, Known>();
  /** The bytes of copied memories, for the server's answers. Weak: a memory that is not used here needs no answers. */
  const copied = new Map<number, WeakRef<Mapping>>();
  const unused = new FinalizationRegistry<number>((id) => {
    copied.delete(id);
    connection().send(notices.forgetMemory, { memory: id });
  });
  let lastId = 0;

  const define = (memory: Memory): Known => {
    checkMemory(memory);
    const id = ++lastId;
    const { name, size, handle } = memory;
    const unusable: MemoryDefinition = { kind: "unusable", name, size, hasHandle: handle !== null };
    let definition: MemoryDefinition = unusable;
    let copying: Copying | undefined;
    let attachments: readonly SharedArrayBuffer[] = [];
    const passed = handle === null ? { refused: "it has no handle" } : passSafely(passing, memory);
    if ("reference" in passed) {
      definition = { kind: "shared", reference: passed.reference };
      attachments = passed.attachments ?? [];
      const mapping = passed.store === undefined && passed.load === undefined ? undefined : mapPool(memory);
      if (mapping !== undefined && !("unmappable" in mapping)) copying = { mapping, passed };
    } else {
      const mapping = mapPool(memory);
      if (!("unmappable" in mapping)) {
        const description = handle?.kind === "hardwareBuffer" ? handle.description : undefined;
        definition = { kind: "copied", name: name === "mmap_fd" ? "ashmem" : name, size, description };
        copying = { mapping, passed: undefined };
        copied.set(id, new WeakRef(mapping));
      }
    }
    connection().send(notices.defineMemory, { memory: id, definition }, attachments);
    const entry: Known = { id, copying };
    known.set(memory, entry);
    unused.register(memory, id);
    return entry;
  };
  const entryOf = (memory: Memory) => known.get(memory) ?? define(memory);

  return {
    idOf: (memory) => entryOf(memory).id,
    isShared: (memory) => entryOf(memory).copying === undefined,
    isWritable: (memory) => entryOf(memory).copying?.mapping.writable ?? true,
    store(memory, ranges) {
      const { id, copying } = entryOf(memory);
      if (copying === undefined) return undefined;
      const { mapping, passed } = copying;
      if (passed !== undefined) {
        for (const { offset, length } of clip(ranges, mapping)) passed.store?.(offset, length);
        return undefined;
      }
      return sendAll(connection(), id, mapping, clip(ranges, mapping));
    },
    load(memory, ranges) {
      const copying = known.get(memory)?.copying;
      if (copying?.passed?.load === undefined) return;
      for (const { offset, length } of clip(ranges, copying.mapping)) copying.passed.load(offset, length);
    },
    handlers: [
      makeMessageHandler(notices.writeMemory, ({ memory, offset, content }) => {
        const mapping = copied.get(memory)?.deref();
        if (mapping === undefined || !mapping.writable) return;
        if (!Number.isSafeInteger(offset) || offset < 0 || offset + content.length > mapping.bytes.length) return;
        mapping.bytes.set(content, offset);
        mapping.store?.(offset, content.length);
      }),
    ],
  };
}

function passSafely(passing: MemoryPassing, memory: Memory) {
  try {
    return passing.pass(memory);
  } catch (error) {
    return { refused: textOf(error) };
  }
}

async function sendAll(connection: Connection, id: number, mapping: Mapping, ranges: readonly Range[]): Promise<void> {
  for (const range of ranges) {
    mapping.load?.(range.offset, range.length);
    await sendRange(connection, id, mapping.bytes, range);
  }
}

/** The parts of ranges that are in a memory. */
function clip(ranges: readonly Range[], { bytes }: Mapping): Range[] {
  return ranges
    .map(({ offset, length }) => ({ offset, length: Math.min(length, bytes.length - offset) }))
    .filter(({ length }) => length > 0);
}

/** Callers can pass any value as a memory. */
function checkMemory(memory: Memory): void {
  const isObject = typeof memory === "object" && memory !== null;
  if (!isObject || typeof memory.name !== "string" || typeof memory.size !== "number") {
    throw new Unwritable("a value that is not a memory");
  }
  const { handle } = memory;
  if (handle !== null && (typeof handle !== "object" || typeof handle.kind !== "string")) {
    throw new Unwritable("a memory whose handle is not a handle");
  }
}
