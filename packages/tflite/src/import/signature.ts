/**
 * Checks whether the HAL has an operation for given operands: their types and ranks against the operation's definition, and the
 * definition's own rules.
 */

import {
  bindInputs,
  bindOutputs,
  elementAt,
  layOut,
  type Match,
  matchOperation,
  type Operation,
  OperationError,
  type RankRule,
} from "@nnhal/operations";
import type { HalVersion } from "@nnhal/types";
import { isTensorSpec, type OperandSpec } from "./operand-types.ts";

function bounds(rule: RankRule): readonly [least: number, greatest: number] {
  return typeof rule === "number" ? [rule, rule] : rule;
}

/** The rule of a definition that operands break. Values of scalars are not shown to it, so rules on those do not apply. */
function ruleProblem(
  { form }: Match,
  inputs: readonly OperandSpec[],
  outputs: readonly OperandSpec[],
): string | undefined {
  const given = inputs.map((spec) => (spec.isOmitted ? undefined : spec));
  try {
    return form.check?.(bindInputs(form, given), bindOutputs(form, outputs));
  } catch (error) {
    // Rules may throw OperationError, as kernels do. Any other error means that the definition did not expect such operands.
    return error instanceof OperationError ? error.message : `its rules cannot be applied: ${String(error)}`;
  }
}

/** Why an operation of the HAL or of the extension does not accept these operands; undefined if it does. */
export function signatureProblem(
  definition: Operation,
  inputs: readonly OperandSpec[],
  outputs: readonly OperandSpec[],
  version: HalVersion,
): string | undefined {
  const name = `${definition.extension === undefined ? "the HAL's" : "the extension's"} ${definition.name}`;
  const match = matchOperation(
    definition,
    inputs.map(({ type }) => type),
    outputs.map(({ type }) => type),
  );
  if ("mismatch" in match) return `${name} cannot compute it: ${match.mismatch}`;
  if (match.since > version) return `${name} takes these types since HAL ${match.since} only`;
  const positions = layOut(match.form.params, match.form.counts, inputs.length) ?? [];
  for (const [place, param] of positions.entries()) {
    const rule = definition.ranks[param.name];
    const input = elementAt(inputs, place);
    if (input.isOmitted && !param.omittable) return `${name} needs its ${param.name}, which the file leaves out`;
    const rank = input.dimensions.length;
    if (rule === undefined || input.isOmitted || !isTensorSpec(input)) continue;
    const [least, greatest] = bounds(rule);
    if (rank < least || rank > greatest) {
      const wanted = least === greatest ? `${least}` : `${least} to ${greatest}`;
      return `${name} takes ${wanted} dimensions for its ${param.name}, here there are ${rank}`;
    }
  }
  const problem = definition.controlFlow ? undefined : ruleProblem(match, inputs, outputs);
  return problem && `${name} cannot compute it: ${problem}`;
}
