/** The memories that a client has defined, for its server: each one object here too, so that it is mapped once. */
import { allocateMemory, mapPool } from "@nnhal/driver-core/memory";
import { ErrorStatus, type Memory } from "@nnhal/types";
import { type Handler, makeMessageHandler } from "../protocol/answers.ts";
import type { Connection } from "../protocol/connection.ts";
import { notices } from "../protocol/methods.ts";
import { Refused } from "../protocol/refused.ts";
import type { MemoryDefinition } from "../protocol/values.ts";
import type { MemoryPassing } from "./passing.ts";
import { type Range, sendRange } from "./pieces.ts";

/** Limits of one client's memories. */
export interface MemoryLimits {
  /** Most memories. */
  readonly mostMemories: number;
  /** Most bytes of memories that are copied. */
  readonly mostCopiedBytes: number;
}

/** See the file's head. */
export interface ServerMemories {
  /** The memory of a number. Throws Refused. */
  get(id: number): Memory;
  /** Returns whether the client sees the bytes of a memory only if they are sent. */
  isCopied(id: number): boolean;
  /** Sends ranges of a copied memory to the client. Undefined if there is nothing to send. */
  send(id: number, ranges: readonly Range[]): Promise<void> | undefined;
  readonly handlers: readonly Handler[];
  /** Bytes of copied memories. */
  readonly copiedBytes: number;
  close(): void;
}

interface Entry {
  readonly memory: Memory;
  readonly copiedBytes: number;
}

/** The memories of one connection. */
export function createServerMemories(
  passing: MemoryPassing,
  connection: () => Connection,
  { mostMemories, mostCopiedBytes }: MemoryLimits,
): ServerMemories {
  const entries = new Map<number, Entry | Refused>();
  let copiedBytes = 0;

  const forget = (id: number) => {
    const entry = entries.get(id);
    if (entry !== undefined && !(entry instanceof Refused)) copiedBytes -= entry.copiedBytes;
    entries.delete(id);
  };
  const exhaust = (why: string) => new Refused(ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, why);

  const define = (definition: MemoryDefinition, attachments: readonly SharedArrayBuffer[]): Entry | Refused => {
    switch (definition.kind) {
      case "shared": {
        const memory = passing.receive(definition.reference, attachments);
        if (!("refused" in memory)) return { memory, copiedBytes: 0 };
        return new Refused(ErrorStatus.GENERAL_FAILURE, `a memory was not passed: ${memory.refused}`);
      }
      case "unusable": {
        const { name, size, hasHandle } = definition;
        const nothing = { kind: "buffer", buffer: new ArrayBuffer(0), byteOffset: 0 } as const;
        return { memory: { name, size, handle: hasHandle ? nothing : null }, copiedBytes: 0 };
      }
      case "copied": {
        const { name, size, description } = definition;
        if (!Number.isSafeInteger(size) || size < 0) {
          return new Refused(ErrorStatus.INVALID_ARGUMENT, `a memory of ${size} bytes cannot be copied`);
        }
        if (copiedBytes + size > mostCopiedBytes) {
          return exhaust(`${copiedBytes} + ${size} bytes of memory would be copied: ${mostCopiedBytes} is the limit`);
        }
        const { handle } = allocateMemory(size);
        if (handle?.kind !== "buffer") return exhaust("memory cannot be allocated");
        const whole =
          description === undefined ? handle : ({ kind: "hardwareBuffer", description, content: handle } as const);
        return { memory: { name, size, handle: whole }, copiedBytes: size };
      }
    }
  };
  const entryOf = (id: number): Entry => {
    const entry = entries.get(id);
    if (entry === undefined) throw new Refused(ErrorStatus.INVALID_ARGUMENT, `memory ${id} is not defined`);
    if (entry instanceof Refused) throw entry;
    return entry;
  };

  return {
    get: (id) => entryOf(id).memory,
    isCopied: (id) => entryOf(id).copiedBytes > 0,
    get copiedBytes() {
      return copiedBytes;
    },
    send(id, ranges) {
      const entry = entries.get(id);
      if (entry === undefined || entry instanceof Refused || entry.copiedBytes === 0) return undefined;
      const mapping = mapPool(entry.memory);
      if ("unmappable" in mapping || ranges.length === 0) return undefined;
      return (async () => {
        for (const range of ranges) await sendRange(connection(), id, mapping.bytes, range);
      })();
    },
    handlers: [
      makeMessageHandler(notices.defineMemory, ({ memory, definition }, attachments) => {
        forget(memory);
        if (entries.size >= mostMemories) {
          // Nothing is kept of it: calls with the number are refused.
          return;
        }
        const entry = define(definition, attachments);
        if (!(entry instanceof Refused)) copiedBytes += entry.copiedBytes;
        entries.set(memory, entry);
      }),
      makeMessageHandler(notices.forgetMemory, ({ memory }) => forget(memory)),
      makeMessageHandler(notices.releaseShared, ({ id }) => passing.release(id)),
      makeMessageHandler(notices.writeMemory, ({ memory, offset, content }) => {
        const entry = entries.get(memory);
        if (entry === undefined || entry instanceof Refused || entry.copiedBytes === 0) return;
        const mapping = mapPool(entry.memory);
        if ("unmappable" in mapping) return;
        if (!Number.isSafeInteger(offset) || offset < 0 || offset + content.length > mapping.bytes.length) return;
        mapping.bytes.set(content, offset);
      }),
    ],
    close() {
      entries.clear();
      copiedBytes = 0;
      passing.close();
    },
  };
}
