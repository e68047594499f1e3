/**
 * Whether the HAL has an operation for given operands: their types and ranks against the operation's definition.
 */
import { layOut, matchOperation, operationByCode, type RankRule } from "@nnhal/operations";
import { OperationType, type OperationTypeName } from "@nnhal/types";
import { isTensorSpec, type OperandSpec } from "./operand-types.ts";

function bounds(rule: RankRule): readonly [least: number, greatest: number] {
  return typeof rule === "number" ? [rule, rule] : rule;
}

/** Why the HAL's operation does not take these operands; undefined where it does. */
export function signatureProblem(
  name: OperationTypeName,
  inputs: readonly OperandSpec[],
  outputs: readonly OperandSpec[],
): string | undefined {
  const definition = operationByCode(OperationType[name]);
  if (definition === undefined) return `no definition of the HAL's ${name} is known`;
  const match = matchOperation(
    definition,
    inputs.map(({ type }) => type),
    outputs.map(({ type }) => type),
  );
  if ("mismatch" in match) return `the HAL's ${name} cannot compute it: ${match.mismatch}`;
  const positions = layOut(match.form.params, match.form.counts, inputs.length) ?? [];
  for (const [place, param] of positions.entries()) {
    const rule = definition.ranks[param.name];
    const rank = inputs[place].dimensions.length;
    if (rule === undefined || !isTensorSpec(inputs[place])) continue;
    const [least, greatest] = bounds(rule);
    if (rank < least || rank > greatest) {
      const wanted = least === greatest ? `${least}` : `${least} to ${greatest}`;
      return `the HAL's ${name} takes ${wanted} dimensions for its ${param.name}, here there are ${rank}`;
    }
  }
  return undefined;
}
