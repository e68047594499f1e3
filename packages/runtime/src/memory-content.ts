/**
 * The content of a memory and its permitted uses: plain bytes of a known size, a hardware buffer whose layout is private, or
 * the value of inputs and outputs that a descriptor names.
 */
import type { DataLocation, Memory as HalMemory, IBuffer, Operand, RequestMemoryPool } from "@nnhal/types";
import { combineDimensions } from "@nnhal/utils";
import { sameExtraParams } from "@nnhal/validation";
import type { CompiledModel } from "./compiled-model.ts";
import { type OperandFacts, sizeOfData } from "./operand-facts.ts";

/** An input or an output of a compilation. */
export interface Role {
  readonly compilation: CompiledModel;
  readonly side: "input" | "output";
  /** Index into the model's inputs or outputs. */
  readonly index: number;
}

/** A part of a memory. Default: all of it, or all bytes from `offset` on. */
export interface MemoryRegion {
  /** In bytes. */
  readonly offset?: number | undefined;
  /** In bytes. */
  readonly length?: number | undefined;
}

/** The facts of both sides that a copy needs. */
export interface Metadata {
  /** In bytes; undefined if any size is accepted, or if it is unknown. */
  readonly logicalSize?: number;
  readonly dimensions: readonly number[];
  readonly operand?: MemoryOperand;
}

/** The facts that the operands of all roles share. */
export interface MemoryOperand extends Pick<Operand, "scale" | "zeroPoint" | "extraParams"> {
  readonly facts: OperandFacts;
}

/** See the file's head. */
export interface MemoryContent {
  /** The pool that stands for it in requests. */
  readonly pool: RequestMemoryPool;
  /** Absent if a device holds the bytes. */
  readonly plain?: HalMemory;
  /** The device's buffer; present if a device holds the bytes. */
  readonly buffer?: IBuffer;
  /** True if it was made from a descriptor. */
  readonly isDescribed: boolean;
  /** Returns the location of an argument or, without a role, of a constant; a text if it must not lie there. */
  locate(
    role: (Omit<Role, "compilation"> & { readonly compilation: object }) | undefined,
    region: MemoryRegion,
    dimensions: readonly number[],
  ): Omit<DataLocation, "poolIndex"> | string;
  /** Why it cannot be an input of some extents now; undefined if it can. */
  whyUnreadable(dimensions: readonly number[]): string | undefined;
  /** Records the extents that an execution has written; undefined: it failed. Returns a text if they do not fit. */
  recordWritten(dimensions: readonly number[] | undefined): string | undefined;
  /** Its facts as the source of a copy; a text if it has no value. */
  asSource(): Metadata | string;
  /** Its extents after a copy from a source; a text if the source does not fit. */
  accepts(source: Metadata): readonly number[] | string;
}

/** Plain bytes of a known size. */
export function sizedContent(memory: HalMemory): MemoryContent {
  const { size } = memory;
  return {
    pool: { kind: "memory", memory },
    plain: memory,
    isDescribed: false,
    locate(_role, { offset = 0, length = size - offset }) {
      const isInside = Number.isSafeInteger(offset) && offset >= 0 && Number.isSafeInteger(length) && length > 0;
      if (isInside && offset + length <= size) return { offset, length };
      return `${length} bytes at ${offset} are not within the memory of ${size} bytes`;
    },
    whyUnreadable: () => undefined,
    recordWritten: () => undefined,
    asSource: () => ({ logicalSize: size, dimensions: [] }),
    accepts({ logicalSize = size }) {
      return logicalSize === size ? [] : `the source has ${logicalSize} bytes, the destination ${size}`;
    },
  };
}

/** A hardware buffer of another format than BLOB: an input or an output as a whole, and never a constant. */
export function opaqueContent(memory: HalMemory): MemoryContent {
  return {
    pool: { kind: "memory", memory },
    plain: memory,
    isDescribed: false,
    locate(role, { offset = 0, length = 0 }) {
      if (role === undefined) return "a hardware buffer whose layout is private holds no constants";
      if (offset === 0 && length === 0) return { offset, length };
      return `${length} bytes at ${offset} of a hardware buffer that is used as a whole only`;
    },
    whyUnreadable: () => undefined,
    recordWritten: () => undefined,
    asSource: () => ({ dimensions: [] }),
    accepts: () => [],
  };
}

/** The parts of a described memory. */
export interface Description {
  readonly roles: readonly Role[];
  readonly operand: MemoryOperand;
  /** The extents that the descriptor and the roles fix together. */
  readonly dimensions: readonly number[];
}

/** A buffer that a device has allocated. */
export interface DeviceBuffer {
  readonly buffer: IBuffer;
  /** Names it in requests. */
  readonly token: number;
}

/** The value of some roles, in a device's buffer or in plain bytes. There is no value until an execution or a copy has written it. */
export function describedContent(
  holder: DeviceBuffer | { readonly plain: HalMemory },
  { roles, operand, dimensions: initial }: Description,
): MemoryContent {
  let dimensions = initial;
  let hasValue = false;
  const { facts } = operand;
  const length = "plain" in holder ? holder.plain.size : 0;
  return {
    ...("plain" in holder
      ? { plain: holder.plain, pool: { kind: "memory", memory: holder.plain } }
      : { buffer: holder.buffer, pool: { kind: "token", token: holder.token } }),
    isDescribed: true,
    locate(role, region, given) {
      if (role === undefined) return "memory made of a descriptor holds no constants";
      const { compilation, side, index } = role;
      const isRole = roles.some((one) => one.compilation === compilation && one.side === side && one.index === index);
      if (!isRole) return `the memory was not made for ${side} ${index} of this compilation`;
      if ((region.offset ?? 0) !== 0 || (region.length ?? 0) !== 0) {
        return `${region.length} bytes at ${region.offset} of memory that is used as a whole only`;
      }
      if (combineDimensions(given, initial) === undefined) {
        return `the dimensions [${given}] contradict those of the memory, [${initial}]`;
      }
      return { offset: 0, length };
    },
    whyUnreadable(wanted) {
      if (!hasValue) return "the memory has no value yet";
      if (wanted.length === dimensions.length && wanted.every((extent, axis) => extent === dimensions[axis])) {
        return undefined;
      }
      return `the memory's value has dimensions [${dimensions}] where the execution needs [${wanted}]`;
    },
    recordWritten(actual) {
      const combined = actual && combineDimensions(actual, initial);
      hasValue = combined !== undefined;
      dimensions = combined ?? initial;
      if (hasValue || actual === undefined) return undefined;
      return `the dimensions [${actual}] contradict those of the memory, [${initial}]`;
    },
    asSource() {
      if (!hasValue) return "the source has no value";
      const logicalSize = sizeOfData(facts, dimensions);
      return { ...(logicalSize !== undefined && { logicalSize }), dimensions, operand };
    },
    accepts(source) {
      if (source.operand !== undefined && !isSameOperand(source.operand, operand)) {
        return "source and destination are for operands of different types or quantisation";
      }
      const combined = combineDimensions(source.dimensions, initial);
      if (combined === undefined)
        return `source and destination have dimensions [${source.dimensions}] and [${initial}]`;
      const needed = sizeOfData(facts, combined);
      if (source.logicalSize === undefined || source.logicalSize === needed) return combined;
      return `the source has ${source.logicalSize} bytes, the destination ${needed ?? "no known size"}`;
    },
  };
}

/**
 * Returns whether two operands can share a memory. Codes of extensions differ from model to model, so names are
 * compared.
 */
export function isSameOperand(a: MemoryOperand, b: MemoryOperand): boolean {
  return (
    a.facts.name === b.facts.name &&
    a.scale === b.scale &&
    a.zeroPoint === b.zeroPoint &&
    sameExtraParams(a.extraParams, b.extraParams)
  );
}
