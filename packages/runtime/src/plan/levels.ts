/**
 * Levels of a plan: steps of one level depend only on steps of lower ones, so they may run at the same time.
 */
import type { Step } from "@nnhal/driver-core/partition";

/** The operands that a step reads. Constants inside the subgraphs of an interpreted step are not among them. */
export function readsOf(step: Step): readonly number[] {
  return step.kind === "if" ? [step.condition, ...step.inputs] : step.inputs;
}

/** The indexes of steps by level, in plan order within a level. */
export function levelsOf(steps: readonly Step[]): number[][] {
  const written = new Map<number, number>();
  const levels: number[][] = [];
  steps.forEach((step, index) => {
    let level = 0;
    for (const operand of readsOf(step)) level = Math.max(level, (written.get(operand) ?? -1) + 1);
    for (const operand of step.outputs) written.set(operand, level);
    const inLevel = levels[level];
    if (inLevel === undefined) levels.push([index]);
    else inLevel.push(index);
  });
  return levels;
}
