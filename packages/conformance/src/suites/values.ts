/**
 * Values of small tensors, the memory that they lie in, and requests for them.
 */
import { encodeTensorData } from "@nnhal/backend";
import { allocateMemory, mapMemory } from "@nnhal/driver-core/memory";
import { byteSize, createData } from "@nnhal/operations";
import {
  type Memory,
  type OperandTypeName,
  operandTypes,
  type Request,
  type RequestArgument,
  type RequestMemoryPool,
} from "@nnhal/types";
import { readElements } from "../vectors/elements.ts";

/** The little-endian bytes of some elements. */
export function bytesOf(type: OperandTypeName, values: readonly number[]): Uint8Array {
  const data = createData(type, values.length);
  data.set(values);
  const bytes = new Uint8Array(operandTypes[type].elementSize * values.length);
  encodeTensorData(type, data, bytes);
  return bytes;
}

/** Bytes of a value. */
export function sizeOf(type: OperandTypeName, dimensions: readonly number[]): number {
  return byteSize(operandTypes[type], dimensions);
}

/** The bytes of a memory of this process. */
export function bytesIn(memory: Memory): Uint8Array {
  const bytes = mapMemory(memory);
  if ("unmappable" in bytes) throw new TypeError(bytes.unmappable);
  return bytes;
}

/**
 * Makes the memory of cases: that of the device of the case that runs (`Device.createMemory`), so that one in another process sees it.
 * Memory of one device is valid for all others.
 */
let make: (size: number) => Memory = allocateMemory;

/** Sets the function that makes the memory of cases from here on. */
export function makeMemoryBy(maker: (size: number) => Memory): void {
  make = maker;
}

/** Memory of some bytes. */
export function newMemory(size: number): Memory {
  // A device that makes memory itself makes none without bytes.
  return size > 0 ? make(size) : allocateMemory(size);
}

/** Memory that holds some elements. */
export function memoryWith(type: OperandTypeName, values: readonly number[]): Memory {
  const bytes = bytesOf(type, values);
  const memory = newMemory(bytes.length);
  bytesIn(memory).set(bytes);
  return memory;
}

/** The elements in a memory. */
export function valuesIn(type: OperandTypeName, memory: Memory): number[] {
  return [...readElements(type, bytesIn(memory))];
}

/** Byte that fills an output's memory before the execution. */
export const untouched = 0xa5;

/** Memory of some bytes that no execution has written. */
export function emptyMemory(size: number): Memory {
  const memory = newMemory(size);
  bytesIn(memory).fill(untouched);
  return memory;
}

/** Where an argument lies: in all of a memory, or in the buffer of a token. */
export type Place = Memory | number;

/** An argument, where it says more than where it lies. */
export interface PlacedArgument {
  readonly at: Place;
  /** Default: the model's. */
  readonly dimensions?: readonly number[];
  /** Default 0. */
  readonly offset?: number;
  /** Default: all after the offset. */
  readonly length?: number;
}

/** A request whose arguments each have a pool of their own, but that the same token or memory is one pool. */
export function requestFor(
  inputs: readonly (Place | PlacedArgument)[],
  outputs: readonly (Place | PlacedArgument)[],
): Request {
  const pools: RequestMemoryPool[] = [];
  const known = new Map<Place, number>();
  const argument = (placed: Place | PlacedArgument): RequestArgument => {
    const { at, dimensions = [], offset = 0, length } = isPlaced(placed) ? placed : { at: placed };
    const isToken = typeof at === "number";
    const poolIndex =
      known.get(at) ?? pools.push(isToken ? { kind: "token", token: at } : { kind: "memory", memory: at }) - 1;
    known.set(at, poolIndex);
    const rest = isToken ? 0 : at.size - offset;
    return { hasNoValue: false, location: { poolIndex, offset, length: length ?? rest }, dimensions };
  };
  return { inputs: inputs.map(argument), outputs: outputs.map(argument), pools };
}

function isPlaced(placed: Place | PlacedArgument): placed is PlacedArgument {
  return typeof placed === "object" && "at" in placed;
}
