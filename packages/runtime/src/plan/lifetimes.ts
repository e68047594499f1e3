/**
 * The temporaries that one step of a plan writes and another reads: their sizes and lifetimes.
 */
import type { Plan } from "@nnhal/driver-core/partition";
import { byteSize, elementAt } from "@nnhal/operations";
import { type Operand, OperandLifeTime, operandTypeNames, operandTypes } from "@nnhal/types";
import type { Lifetime } from "./layout.ts";
import { readsOf } from "./levels.ts";

/** The lifetimes of the operands that one step writes and another reads, except for outputs, which lie in the caller's memory. */
export function lifetimesOf({ model, steps }: Plan, levels: readonly (readonly number[])[]): Lifetime[] {
  const lives = new Map<number, { first: number; last: number }>();
  levels.forEach((level, number) => {
    for (const index of level) {
      for (const operand of elementAt(steps, index).outputs) lives.set(operand, { first: number, last: number });
    }
    for (const index of level) {
      for (const operand of readsOf(elementAt(steps, index))) {
        const life = lives.get(operand);
        if (life !== undefined) life.last = number;
      }
    }
  });
  return [...lives]
    .filter(([operand]) => elementAt(model.main.operands, operand).lifetime === OperandLifeTime.TEMPORARY_VARIABLE)
    .map(([operand, life]) => ({ operand, size: operandSize(elementAt(model.main.operands, operand)), ...life }));
}

/** Bytes of an operand of known size. */
export function operandSize({ type, dimensions }: Operand): number {
  const name = operandTypeNames.get(type);
  return byteSize(name === undefined ? { kind: "tensor", elementSize: 1 } : operandTypes[name], dimensions);
}
