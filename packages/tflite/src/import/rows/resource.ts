/**
 * Rows of operators on resources: they are inputs and outputs of the model before operators are lowered (see `state/thread.ts`). What
 * remains is refused.
 */
import type { Lowering } from "../lowering.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import type { Row } from "../row.ts";

/** `connected`: the number of inputs that the operator has once the parts of its hash table are inputs. */
function row(operator: ImportedOperatorName, note: string, connected = Number.POSITIVE_INFINITY): Row {
  return {
    operator,
    version: 1,
    operations: [],
    note,
    isStateful: true,
    lower(op: Lowering) {
      const isConnected = op.operator.inputs.length >= connected;
      if (isConnected && op.emitBuiltin()) return;
      op.fail("its resource (input 0) must be made by a VAR_HANDLE or HASHTABLE of the file");
    },
  };
}

const state = "State: an input and an output of the model.";

const table = "A table that is filled with constants is a constant; else it is state.";

export const resourceRows: readonly Row[] = [
  row("VAR_HANDLE", state),
  row("READ_VARIABLE", state),
  row("ASSIGN_VARIABLE", state),
  row("HASHTABLE", table),
  row("HASHTABLE_FIND", table, 5),
  row("HASHTABLE_IMPORT", table, 5),
  row("HASHTABLE_SIZE", table, 2),
];
