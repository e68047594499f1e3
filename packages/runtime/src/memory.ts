/**
 * Memory: holds inputs, outputs and constants instead of a caller's array (NNAPI: ANeuralNetworksMemory).
 */
import { allocateMemory, mapMemory } from "@nnhal/driver-core/memory";
import type { Memory as HalMemory } from "@nnhal/types";
import { defaultLogger, type Logger, whenCollected } from "@nnhal/utils";
import { poolIssues } from "@nnhal/validation";
import { allocateOrThrow, expectRight } from "./checks.ts";
import { close } from "./close.ts";
import { expectGiven, expectKind, optionsOf } from "./given.ts";
import { type MemoryContent, opaqueContent, sizedContent } from "./memory-content.ts";
import { copyContent } from "./memory-copy.ts";
import type { MemoryDesc } from "./memory-desc.ts";
import { mapFile } from "./memory-file.ts";
import { greatestSize } from "./operand-facts.ts";
import { expect, ResultCode } from "./result-code.ts";

/**
 * A memory. Allocated, or made from a file or a hardware buffer, it is plain bytes for any use. Made from a MemoryDesc, it is
 * the value of the roles that the descriptor names, in the best place for the device.
 *
 * Throws a NeuralNetworksError: BAD_DATA for an argument that breaks a rule, BAD_STATE after `close`.
 */
export class Memory {
  readonly #content: MemoryContent;
  readonly #release: () => void;
  readonly #log: Logger;
  readonly #whenClosed = new Set<WeakRef<(pool: HalMemory) => void>>();
  #uses = 0;
  #isKept = false;
  #isClosed = false;
  #isReleased = false;

  /** For this package: applications use the functions below. `release`: frees what the content holds. */
  constructor(content: MemoryContent, what: string, release: () => void = () => {}, log: Logger = plainLog()) {
    this.#content = content;
    this.#release = release;
    this.#log = log;
    log.VLOG("MEMORY", () => `${what} makes ${this.#text()}`);
  }

  /** Zeroed memory of a size in bytes, that all threads of this process can share. Throws OUT_OF_MEMORY. */
  static allocate(size: number): Memory {
    const what = "Memory.allocate";
    expectSize(size, what);
    return new Memory(sizedContent(allocateOrThrow(size, what, allocateMemory)), what);
  }

  /** Makes a memory of one in the HAL's form, such as an importer or a transport returns. */
  static from(memory: HalMemory): Memory {
    expectHalMemory(memory, "Memory.from");
    return new Memory(memory.name === "hardware_buffer" ? opaqueContent(memory) : sizedContent(memory), "Memory.from");
  }

  /**
   * A part of a file. `protection`: the sum of `Protection.READ` and `Protection.WRITE`. `offset`: in bytes. The descriptor
   * remains the caller's, who may close it if the system lets the memory have a separate descriptor.
   */
  static createFromFd(size: number, protection: number, fd: number, offset = 0): Memory {
    const what = "Memory.createFromFd";
    expectSize(size, what);
    const { memory, release } = mapFile(size, protection, fd, offset, what);
    return new Memory(sizedContent(memory), what, release);
  }

  /**
   * A hardware buffer, as `allocateBlob` and `allocateHardwareBuffer` of @nnhal/driver-core/memory make them. A BLOB is plain
   * bytes. A buffer of another format can be an argument as a whole, but not a constant.
   */
  static createFromAHardwareBuffer(hardwareBuffer: HalMemory): Memory {
    const what = "Memory.createFromAHardwareBuffer";
    expectHardwareBuffer(hardwareBuffer, what);
    return Memory.from(hardwareBuffer);
  }

  /**
   * Makes a memory for the roles of a finished descriptor: a device's own if one device has all of them, else plain bytes.
   * Rejects with BAD_STATE for a descriptor that is not finished, with OP_FAILED if no device allocates it and plain bytes
   * cannot be used because a size is unknown or a compilation is for an explicit list of devices.
   */
  static async createFromDesc(desc: MemoryDesc): Promise<Memory> {
    expectKind(desc, "MemoryDesc", "Memory.createFromDesc", "desc");
    const content = await desc.allocate();
    const { buffer } = content;
    const finalizer = { cancel: () => {} };
    const release = () => {
      finalizer.cancel();
      close(buffer);
    };
    const memory = new Memory(content, "Memory.createFromDesc", release, desc.log);
    if (buffer !== undefined) finalizer.cancel = whenCollected(memory, buffer, close);
    return memory;
  }

  /**
   * Copies all of one memory to another. Rejects with BAD_DATA if the source has no value, or if sizes, dimensions or operands
   * differ, with UNMAPPABLE if a memory cannot be mapped. A described destination has no value after a failure.
   */
  static async copy(source: Memory, destination: Memory): Promise<void> {
    const what = "Memory.copy";
    expectKind(source, "Memory", what, "source");
    expectKind(destination, "Memory", what, "destination");
    const from = source.content(what);
    const to = destination.content(what);
    if (source === destination) return;
    source.retain();
    destination.retain();
    try {
      await copyContent(from, to);
    } finally {
      source.giveBack();
      destination.giveBack();
    }
  }

  /** In bytes; 0 for memory that can only be used as a whole. */
  get size(): number {
    const { plain, isDescribed } = this.#content;
    return plain === undefined || isDescribed || plain.name === "hardware_buffer" ? 0 : plain.size;
  }

  /** The bytes, shared. Throws UNMAPPABLE if they cannot be mapped, and for described memory, which must be copied. */
  map(): Uint8Array {
    const { plain, isDescribed } = this.content("map");
    const isPlain = plain !== undefined && !isDescribed;
    expect(isPlain, ResultCode.UNMAPPABLE, () => "map: memory made of a descriptor is read and written by copying");
    const bytes = mapMemory(plain);
    if ("unmappable" in bytes) expect(false, ResultCode.UNMAPPABLE, () => `map: ${bytes.unmappable}`);
    this.#log.VLOG("MEMORY", () => `map: ${this.#text()}`);
    return bytes;
  }

  /** Closes the memory. Running executions are not affected; models and compilations that use it for constants keep it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { plain } = this.#content;
    if (plain !== undefined) for (const tell of this.#whenClosed) tell.deref()?.(plain);
    this.#whenClosed.clear();
    this.#releaseWhenIdle();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** For this package. Throws BAD_STATE after `close`. */
  content(what: string): MemoryContent {
    expect(!this.#isClosed, ResultCode.BAD_STATE, () => `${what}: the memory is closed`);
    return this.#content;
  }

  /** For this package: an execution uses the memory until `giveBack`. */
  retain(): void {
    this.#uses++;
  }

  giveBack(): void {
    this.#uses--;
    this.#releaseWhenIdle();
  }

  /** For this package: a model uses the memory, for an unknown time. */
  keep(): void {
    this.#isKept = true;
  }

  /** For this package: calls back when the memory is closed. Does not keep the callback alive. */
  whenClosed(tell: (pool: HalMemory) => void): void {
    for (const known of this.#whenClosed) if (known.deref() === undefined) this.#whenClosed.delete(known);
    this.#whenClosed.add(new WeakRef(tell));
  }

  #releaseWhenIdle(): void {
    if (!this.#isClosed || this.#uses > 0 || this.#isKept || this.#isReleased) return;
    this.#isReleased = true;
    this.#log.VLOG("MEMORY", () => `freed: ${this.#text()}`);
    this.#release();
  }

  #text(): string {
    const { plain, pool, isDescribed } = this.#content;
    const where = plain === undefined ? "a buffer of a device" : `${plain.size} bytes of ${plain.name}`;
    const token = pool.kind === "token" ? ` with token ${pool.token}` : "";
    return `${where}${token}${isDescribed ? ", for the roles of a descriptor" : ""}`;
  }
}

/** The logger of memories that belong to no model. A program may call this first, so the tags are read. */
function plainLog(): Logger {
  defaultLogger.initVLogMask();
  return defaultLogger;
}

function expectSize(size: number, what: string): void {
  const isSize = Number.isInteger(size) && size > 0 && size <= greatestSize;
  expectRight(isSize, what, "a size, an integer within [1, 2^32)", size);
}

function expectHalMemory(memory: HalMemory, what: string): void {
  expectGiven(memory, what, "memory");
  const isHal = typeof memory === "object" && "handle" in memory;
  expectRight(isHal, what, "memory in the HAL's form", memory);
  const [issue] = poolIssues(memory);
  expect(issue === undefined, ResultCode.BAD_DATA, () => `${what}: ${issue?.path}: ${issue?.message}`);
}

function expectHardwareBuffer(memory: HalMemory, what: string): void {
  expectGiven(memory, what, "hardwareBuffer");
  const { handle } = optionsOf(memory, what, undefined, "hardwareBuffer");
  expectRight(handle?.kind === "hardwareBuffer", what, "a memory that lies in a hardware buffer", memory);
}
