/**
 * The values of a running graph: handles with their facts. Holders are counted, so a tensor that several subgraphs share is released
 * when the last of them drops it.
 */
import type { TensorData, TensorInfo } from "@nnhal/operations";
import type { OperandView } from "../graph.ts";
import type { KernelEngine } from "./kernel.ts";

/** A live tensor. */
export interface Value<Handle> {
  readonly info: TensorInfo;
  readonly handle: Handle;
  /** The elements, if they are known without a download. */
  readonly data?: TensorData;
  /** The bytes that it counts in `Memory.used`: 0 for inputs and constants. */
  readonly bytes: number;
  /** The number of frames, loops and buffers that hold it. */
  holders: number;
}

/** The values of a subgraph's operands while it runs, by operand index. */
export type Values<Handle> = (Value<Handle> | undefined)[];

/** An engine, and the memory that the outputs of kernels take in it. */
export interface Memory<Handle> {
  readonly engine: KernelEngine<Handle>;
  /** Bytes. */
  used: number;
}

/** Adds a holder. */
export function hold<Handle>(value: Value<Handle>): Value<Handle> {
  value.holders++;
  return value;
}

/** Removes a holder. Without a holder the handle is released. */
export function drop<Handle>(memory: Memory<Handle>, value: Value<Handle> | undefined): void {
  if (value === undefined || --value.holders > 0) return;
  memory.used -= value.bytes;
  memory.engine.release(value.handle);
}

/** Drops all values. */
export function dropAll<Handle>(memory: Memory<Handle>, values: Values<Handle>): void {
  for (let index = 0; index < values.length; index++) dropAt(memory, values, index);
}

/** Drops the value of an operand. */
export function dropAt<Handle>(memory: Memory<Handle>, values: Values<Handle>, index: number): void {
  drop(memory, values[index]);
  values[index] = undefined;
}

/** The elements of a value. */
export function dataOf<Handle>(
  { engine }: Memory<Handle>,
  { data, handle, info }: Value<Handle>,
): TensorData | Promise<TensorData> {
  // Elements are copied and compared by bytes: see `TensorData`.
  return data ?? (engine.download(handle, info) as TensorData | Promise<TensorData>);
}

/** The constants of a subgraph: uploaded when they are first needed, and held until `close`. */
export interface Constants<Handle> {
  /** The value of a constant; undefined for other operands. */
  get(index: number): Value<Handle> | undefined;
  /** Releases the constants that have not been used since the last trim. They are uploaded again if they are needed. */
  trim(): void;
  close(): void;
}

/** The constants among some operands. */
export function createConstants<Handle>(
  memory: Memory<Handle>,
  operands: readonly (OperandView | undefined)[],
): Constants<Handle> {
  const uploaded: (Value<Handle> | undefined)[] = [];
  let used = new Set<number>();
  const upload = (index: number): Value<Handle> | undefined => {
    const operand = operands[index];
    if (operand?.data === undefined) return undefined;
    const { data } = operand;
    const value = { info: operand, handle: memory.engine.upload(operand, data), data, bytes: 0, holders: 1 };
    uploaded[index] = value;
    return value;
  };
  return {
    get(index) {
      const value = uploaded[index] ?? upload(index);
      if (value !== undefined) used.add(index);
      return value;
    },
    trim() {
      for (const index of uploaded.keys()) {
        if (used.has(index)) continue;
        dropAt(memory, uploaded, index);
      }
      used = new Set();
    },
    close() {
      dropAll(memory, uploaded);
    },
  };
}
