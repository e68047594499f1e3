/** Models as inputs: bytes in the form in which they also go to devices of other processes, with their constants. */
import { allocateMemory, mapMemory } from "@nnhal/driver-core/memory";
import type { Memory, Model } from "@nnhal/types";
import {
  bytes,
  type Codec,
  decode,
  encode,
  list,
  type ModelStructure,
  modelStructure,
  struct,
  UnreadableBytes,
  Unwritable,
} from "@nnhal/utils/codec";

/** A model with elements for its inputs. */
export interface ModelInput {
  readonly structure: ModelStructure;
  readonly operandValues: Uint8Array;
  readonly pools: readonly Uint8Array[];
  /** The elements of inputs are these bytes, over and over. */
  readonly elements: Uint8Array;
}

const modelInput: Codec<ModelInput> = struct<ModelInput>({
  structure: modelStructure,
  operandValues: bytes,
  pools: list(bytes),
  elements: bytes,
});

/** The value of some bytes; undefined if they have none. */
export function readAs<Value>(codec: Codec<Value>, input: Uint8Array): Value | undefined {
  try {
    return decode(codec, input);
  } catch (error) {
    if (error instanceof UnreadableBytes) return undefined;
    throw error;
  }
}

/** The bytes of a value; undefined if no bytes can hold it. */
export function writeAs<Value>(codec: Codec<Value>, value: Value): Uint8Array | undefined {
  try {
    return encode(codec, value);
  } catch (error) {
    if (error instanceof Unwritable) return undefined;
    throw error;
  }
}

export const readModel = (input: Uint8Array) => readAs(modelInput, input);
export const writeModel = (model: ModelInput) => writeAs(modelInput, model);

/** The model of an input. */
export function modelOf({ structure, operandValues, pools }: ModelInput): Model {
  return { ...structure, operandValues: operandValues.slice(), pools: pools.map(memoryWith) };
}

/** A memory with some content. */
export function memoryWith(content: Uint8Array): Memory {
  const memory = allocateMemory(content.length);
  bytesOf(memory).set(content);
  return memory;
}

/** The bytes of a memory. */
export function bytesOf(memory: Memory): Uint8Array {
  const mapped = mapMemory(memory);
  if ("unmappable" in mapped) throw new Error(mapped.unmappable);
  return mapped;
}
