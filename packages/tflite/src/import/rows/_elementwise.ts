/** Functions that rows of operators on single elements share. */
import type { OperationTypeName } from "@nnhal/types";
import type { Lowering } from "../lowering.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import type { Row } from "../row.ts";

/** An operator whose tensors are the operation's operands, in the same order. */
export function direct(
  operator: ImportedOperatorName,
  version: number,
  operation: OperationTypeName,
  note?: string,
): Row {
  return {
    operator,
    version,
    operations: [operation],
    ...(note !== undefined && { note }),
    lower(op: Lowering) {
      op.emitComputed(
        operation,
        op.operator.inputs.map((_, place) => op.input(place)),
      );
    },
  };
}
