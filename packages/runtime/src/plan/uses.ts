/**
 * The uses of a plan's operands: the inputs and outputs of devices' prepared models that an operand becomes (HAL 1.3 BufferRole),
 * also through interpreted control flow. A value that only one device uses can lie in that device's memory.
 */
import type { Plan } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import type { DeviceRole, Uses } from "./device-role.ts";
import type { PreparedStep } from "./prepared-plan.ts";

/** The uses of a plan's operands. */
export function usesOf({ model }: Plan, steps: readonly PreparedStep[]): Uses {
  const uses = new Map<number, DeviceRole[] | null>();
  const add = (operand: number, roles: readonly DeviceRole[] | null = []) => {
    const known = uses.get(operand);
    if (known === undefined) uses.set(operand, roles && [...roles]);
    else if (roles === null) uses.set(operand, null);
    else known?.push(...roles);
  };
  for (const prepared of steps) {
    const { inputs, outputs } = prepared.step;
    if (prepared.kind === "execution") {
      const { device, preparedModel } = prepared;
      for (const [index, operand] of inputs.entries()) add(operand, [{ device, preparedModel, side: "input", index }]);
      for (const [index, operand] of outputs.entries())
        add(operand, [{ device, preparedModel, side: "output", index }]);
      continue;
    }
    const [first, second] =
      prepared.kind === "if" ? [prepared.thenPlan, prepared.elsePlan] : [prepared.conditionPlan, prepared.bodyPlan];
    for (const inner of [first, second]) {
      const { inputIndexes } = inner.plan.model.main;
      for (const [index, operand] of inputs.entries()) add(operand, inner.uses.get(elementAt(inputIndexes, index)));
    }
    if (prepared.kind === "if") {
      add(prepared.step.condition, null);
      for (const { plan, uses: inside } of [first, second]) {
        const { outputIndexes } = plan.model.main;
        for (const [index, operand] of outputs.entries()) add(operand, inside.get(elementAt(outputIndexes, index)));
      }
    } else {
      // The runtime copies a loop's results to its outputs; without an iteration they are the initial values.
      for (const operand of [...inputs.slice(0, outputs.length), ...outputs]) add(operand, null);
    }
  }
  // Inputs that no step reads have no roles.
  for (const input of model.main.inputIndexes) if (!uses.has(input)) uses.set(input, []);
  return uses;
}
