/**
 * Rows of operators on resources: they are inputs and outputs of the model before operators are lowered (see `state/thread.ts`). What
 * remains is refused.
 */
import type { Lowering } from "../lowering.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import type { Row } from "../row.ts";

function row(operator: ImportedOperatorName, note: string): Row {
  return {
    operator,
    version: 1,
    operations: [],
    note,
    isStateful: true,
    lower(op: Lowering) {
      op.fail("its resource (input 0) has to be made by a VAR_HANDLE or HASHTABLE of the file");
    },
  };
}

const state = "State: an input and an output of the model.";

export const resourceRows: readonly Row[] = [
  row("VAR_HANDLE", state),
  row("READ_VARIABLE", state),
  row("ASSIGN_VARIABLE", state),
];
