/**
 * The inputs and outputs of a model that an execution may omit (HAL RequestArgument.hasNoValue): inputs that are optional for every
 * operation that reads them, and outputs of operations of extensions. No operation of the HAL has optional outputs.
 */
import { elementAt, layOut, matchOperation, operationByCode } from "@nnhal/operations";
import { type Operation, OperationType, operandTypeNames, operationTypeNames, type Subgraph } from "@nnhal/types";

/** Why an input or output cannot be omitted, naming the operation; undefined if it can, or if only the device knows. */
export function whyNeeded(main: Subgraph, side: "input" | "output", index: number): string | undefined {
  const operand = elementAt(side === "input" ? main.inputIndexes : main.outputIndexes, index);
  for (const [place, operation] of main.operations.entries()) {
    const { type } = operation;
    const name = operationTypeNames.get(type);
    if (name === undefined || type === OperationType.OEM_OPERATION) continue;
    const text = `operation ${place + 1} (${name})`;
    if (side === "output") {
      if (operation.outputs.includes(operand)) return `${text} writes it, which has no optional outputs`;
      continue;
    }
    const parameter = neededAs(main, operation, operand);
    if (parameter !== undefined) return `${text} needs it as ${parameter}`;
  }
  return undefined;
}

/** The name of the mandatory parameter that an operand is for an operation; undefined if there is none. */
function neededAs({ operands }: Subgraph, { type, inputs, outputs }: Operation, operand: number): string | undefined {
  const definition = inputs.includes(operand) ? operationByCode(type) : undefined;
  // IF and WHILE pass operands on to subgraphs, where they may be optional; values decide which subgraph runs.
  if (definition === undefined) return undefined;
  const typeOf = (index: number) => operandTypeNames.get(elementAt(operands, index).type);
  const match = matchOperation(definition, inputs.map(typeOf), outputs.map(typeOf));
  if ("mismatch" in match) return undefined;
  const { form } = match;
  const params = layOut(form.params, form.counts, inputs.length) ?? [];
  return params.find((param, position) => inputs[position] === operand && !param.omittable && !param.any)?.name;
}
