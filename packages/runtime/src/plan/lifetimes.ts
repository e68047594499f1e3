/**
 * The temporaries that one step of a plan writes and another reads: their sizes and lifetimes.
 */
import type { Plan } from "@nnhal/driver-core/partition";
import { byteSize, elementAt, type FactsByCode, factsByCode } from "@nnhal/operations";
import { type Operand, OperandLifeTime } from "@nnhal/types";
import type { Lifetime } from "./layout.ts";
import { readsOf } from "./levels.ts";

/** The lifetimes of the operands that one step writes and another reads, except for outputs, which lie in the caller's memory. */
export function lifetimesOf(plan: Plan, levels: readonly (readonly number[])[]): Lifetime[] {
  const { model, steps } = plan;
  const { operands } = model.main;
  const factsOf = planFacts(plan);
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
    .filter(([operand]) => elementAt(operands, operand).lifetime === OperandLifeTime.TEMPORARY_VARIABLE)
    .map(([operand, life]) => ({ operand, size: operandSize(elementAt(operands, operand), factsOf), ...life }));
}

/** The facts of the operand types of a plan's model. */
export function planFacts({ model, extensions }: Plan): FactsByCode {
  return factsByCode(model.extensionNameToPrefix, extensions);
}

/** Bytes of an operand; 0 if an extent or the type is unknown. Values between steps always have a size: planning sees to it. */
export function operandSize({ type, dimensions }: Pick<Operand, "type" | "dimensions">, factsOf: FactsByCode): number {
  const facts = factsOf(type);
  return facts === undefined ? 0 : byteSize(facts, dimensions);
}
