/** The values of a network on both sides, each kept until the last operation that reads it. */
import { elementAt } from "@nnhal/operations";
import type { Model } from "@nnhal/types";
import type { Compared } from "./allowance.ts";
import type { TensorValue } from "./prepared-part.ts";

/** A value that something else has computed. */
export interface RecordedValue extends TensorValue {
  /**
   * The type of its elements, if it is not that of the operand: a float tensor that stands for a quantised one, say. The operations of the
   * device get it in the type of the operand, rounded once, and results are held against the value as it is. Default: the operand's.
   */
  readonly as?: Compared | undefined;
}

/** The value of the judge for an operand, as operations get it. */
export interface JudgeValue extends TensorValue {
  /** The value as it was recorded, if that has another type. */
  readonly recorded?: RecordedValue | undefined;
}

/** Values of one side in one run, by operand. */
export type SideValues = Map<number, JudgeValue>;

/** Values of all runs. */
export interface Values {
  /** By run. */
  readonly judge: readonly SideValues[];
  /** By run. A value that equals the judge's is the same object. */
  readonly suspect: readonly SideValues[];
  /** Frees the values that only operations up to this one read. Results of the network stay. */
  forget(operation: number): void;
}

/** Begins with the inputs of each run. `own`: those of the device, if they may be others. */
export function createValues(
  { main }: Model,
  inputs: readonly (readonly TensorValue[])[],
  own: readonly (readonly TensorValue[])[] = inputs,
): Values {
  const begin = (all: readonly (readonly TensorValue[])[]) =>
    all.map((given, run): SideValues => {
      const valueAt = (place: number) => {
        const [right, value] = [elementAt(elementAt(inputs, run), place), elementAt(given, place)];
        return sameValue(right, value) ? right : value;
      };
      return new Map(main.inputIndexes.map((index, place) => [index, valueAt(place)] as const));
    });
  const [judge, suspect] = [begin(inputs), begin(own)];
  const results = new Set(main.outputIndexes);
  const lastUse = new Map<number, number>();
  for (const [index, operation] of main.operations.entries()) {
    for (const operand of [...operation.inputs, ...operation.outputs]) lastUse.set(operand, index);
  }
  const endingAt = new Map<number, number[]>();
  for (const [operand, index] of lastUse) {
    if (!results.has(operand)) endingAt.set(index, [...(endingAt.get(index) ?? []), operand]);
  }
  return {
    judge,
    suspect,
    forget(operation) {
      for (const operand of endingAt.get(operation) ?? []) {
        for (const side of [...judge, ...suspect]) side.delete(operand);
      }
    },
  };
}

/** True if two values have the same shape and bytes. */
export function sameValue(one: TensorValue, other: TensorValue): boolean {
  if (one === other) return true;
  const { bytes, dimensions } = one;
  if (bytes.length !== other.bytes.length || String(dimensions) !== String(other.dimensions)) return false;
  for (let index = 0; index < bytes.length; index++) if (bytes[index] !== other.bytes[index]) return false;
  return true;
}

/** The values of some operands, which were computed before. */
export function valuesOf(side: SideValues, operands: readonly number[]): TensorValue[] {
  return operands.map((operand) => requireValue(side.get(operand)));
}

/** A value that was computed before. */
export function requireValue(value: TensorValue | undefined): TensorValue {
  if (value === undefined) throw new TypeError("expected the value of an operand that was computed before, got none");
  return value;
}
