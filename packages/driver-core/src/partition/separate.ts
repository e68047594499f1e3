/** A plan with one step for each operation, so that each can be timed by itself. */
import { elementAt, factsByCode } from "@nnhal/operations";
import { hasUnknownSize, wiringOf } from "./graph.ts";
import type { Plan, Step, Unplannable } from "./plan.ts";
import { buildStepModel } from "./step-model.ts";

/**
 * The same plan with a step for each operation on its device; interpreted steps stay as they are. Not possible if an
 * operation's result has no known size. Predicted times are those of the operations alone.
 */
export function separateOperations(plan: Plan): Plan | Unplannable {
  const { model, choices } = plan;
  const { operations, operands } = model.main;
  const wiring = wiringOf(model.main);
  const factsOf = factsByCode(model.extensionNameToPrefix, plan.extensions);
  for (const [index, { inputs }] of operations.entries()) {
    const unknown = inputs.find(
      (input) => elementAt(wiring.writer, input) >= 0 && hasUnknownSize(elementAt(operands, input), factsOf),
    );
    if (unknown === undefined) continue;
    const message = `operand ${unknown} has no known size, so operation ${index + 1} cannot be in a step of its own`;
    return { unplannable: "OP_FAILED", message };
  }
  const interpreted = new Map<number, Step>();
  for (const step of plan.steps) if (step.kind !== "execution") interpreted.set(step.operation, step);
  const group = operations.map((_, index) => index);
  const steps = operations.map((_, index): Step => {
    const step = interpreted.get(index);
    if (step !== undefined) return step;
    const { device = 0, candidates } = elementAt(choices, index);
    const candidate = elementAt(candidates, device);
    const predictedTime = candidate.supported ? candidate.predictedTime : 0;
    const ofStep = buildStepModel(model, wiring, [index], group);
    return { kind: "execution", device, operations: [index], ...ofStep, predictedTime };
  });
  return { ...plan, steps, predictedTime: steps.reduce((sum, step) => sum + step.predictedTime, 0) };
}
