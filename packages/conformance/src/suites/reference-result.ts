/** The result of an operation's reference kernel: the measure of cases that draw their operands. */
import {
  bindArguments,
  bindOutputs,
  createData,
  elementAt,
  elementCount,
  inferOutputs,
  matchOperation,
  type Operation,
  operations,
  runToEnd,
  type Tensor,
} from "@nnhal/operations";
import type { OperationTypeName } from "@nnhal/types";

/** Shape and elements of the first output. Throws OperationError if the operation does not take the operands. */
export function referenceResult(
  name: OperationTypeName,
  inputs: readonly Tensor[],
  output: Tensor["type"],
): { readonly dimensions: readonly number[]; readonly values: readonly number[] } {
  const operation: Operation | undefined = operations.find((known) => known.name === name);
  if (operation?.reference === undefined) throw new TypeError(`${name} has no reference kernel`);
  const match = matchOperation(
    operation,
    inputs.map(({ type }) => type),
    [output],
  );
  if ("mismatch" in match) throw new TypeError(`the kit's operands of ${name} do not match: ${match.mismatch}`);
  const declared = { type: output, dimensions: [], scale: 0, zeroPoint: 0 };
  const args = bindArguments(operation, match.form, inputs);
  const { dimensions } = elementAt(inferOutputs(operation, match.form, args, [declared]), 0);
  const tensor = { ...declared, dimensions, data: createData(output, elementCount(dimensions)) };
  runToEnd(operation.reference(args, bindOutputs(match.form, [tensor]), { random: () => 0 }));
  return { dimensions, values: [...tensor.data] };
}
