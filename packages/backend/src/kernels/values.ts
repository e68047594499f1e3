/**
 * The values of a running graph: handles with their facts, counted, so that a tensor which several subgraphs see is released
 * when the last of them is done with it.
 */
import type { TensorData, TensorInfo } from "@nnhal/operations";
import type { OperandView } from "../graph.ts";
import type { KernelEngine } from "./kernel.ts";

/** A tensor while it is alive. */
export interface Value<Handle> {
  readonly info: TensorInfo;
  readonly handle: Handle;
  /** The elements, where they are known without a download. */
  readonly data?: TensorData;
  /** Frames and loops that hold it. */
  holders: number;
}

/** The values of a subgraph's operands while it runs, by operand index. */
export type Values<Handle> = (Value<Handle> | undefined)[];

/** One more holder of a value. */
export function hold<Handle>(value: Value<Handle>): Value<Handle> {
  value.holders++;
  return value;
}

/** One holder less; the last one releases the handle. */
export function drop<Handle>(engine: KernelEngine<Handle>, value: Value<Handle> | undefined): void {
  if (value !== undefined && --value.holders === 0) engine.release(value.handle);
}

/** Drops the values of some operands. */
export function dropAll<Handle>(engine: KernelEngine<Handle>, values: Values<Handle>, indexes: Iterable<number>): void {
  for (const index of indexes) {
    drop(engine, values[index]);
    values[index] = undefined;
  }
}

/** The elements of a value. */
export function dataOf<Handle>(
  engine: KernelEngine<Handle>,
  { data, handle, info }: Value<Handle>,
): TensorData | Promise<TensorData> {
  return data ?? engine.download(handle, info);
}

/** The constants of a subgraph: uploaded when they are first needed, and held until `close`. */
export interface Constants<Handle> {
  /** The value of a constant; undefined for operands that are none. */
  get(index: number): Value<Handle> | undefined;
  /** Releases those that nothing has got since the last trim; they are uploaded again if something does. */
  trim(): void;
  close(): void;
}

/** The constants among some operands. */
export function createConstants<Handle>(
  engine: KernelEngine<Handle>,
  operands: readonly (OperandView | undefined)[],
): Constants<Handle> {
  const uploaded = new Map<number, Value<Handle>>();
  let used = new Set<number>();
  return {
    get(index) {
      const operand = operands[index];
      if (operand?.data === undefined) return undefined;
      used.add(index);
      let value = uploaded.get(index);
      if (value === undefined) {
        value = { info: operand, handle: engine.upload(operand, operand.data), data: operand.data, holders: 1 };
        uploaded.set(index, value);
      }
      return value;
    },
    trim() {
      for (const [index, value] of uploaded) {
        if (used.has(index)) continue;
        uploaded.delete(index);
        drop(engine, value);
      }
      used = new Set();
    },
    close() {
      for (const value of uploaded.values()) drop(engine, value);
      uploaded.clear();
    },
  };
}
