/**
 * The signatures of an operation: every way to write its operand list, with every type row and every number of operands.
 */
import {
  type Form,
  halTypeName,
  layOut,
  type Operation,
  type Param,
  type TypeRow,
  typesOfRow,
} from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";

/** One way to write an operation's operands. */
export interface Signature {
  readonly operation: Operation;
  readonly form: Form;
  readonly row: TypeRow;
  /** The parameter that each input stands for; a variadic one occurs as often as it has operands. */
  readonly inputs: readonly Param[];
  readonly outputs: readonly Param[];
  /** The type of every parameter of the form. */
  readonly types: ReadonlyMap<Param, OperandTypeName>;
}

/** A variadic parameter stands for at most this many operands. */
const MOST_REPEATS = 4;

/** All signatures of an operation. */
export function signaturesOf(operation: Operation): Signature[] {
  return operation.forms.flatMap((form) =>
    form.types.flatMap((row) => {
      const types = new Map([...typesOfRow(form, row)].map(([param, type]) => [param, halTypeName(type)]));
      return listsOf(form.params, form.counts).flatMap((inputs) =>
        listsOf(form.outputs, form.outputCounts).map((outputs) => ({ operation, form, row, inputs, outputs, types })),
      );
    }),
  );
}

/** All lists that a parameter list allows. */
function listsOf(params: readonly Param[], counts: readonly number[] | undefined): (readonly Param[])[] {
  const longest = params.length + (params.some(({ variadic }) => variadic) ? MOST_REPEATS - 1 : 0);
  const lengths = Array.from({ length: longest + 1 }, (_, length) => length);
  return lengths.map((length) => layOut(params, counts, length)).filter((list) => list !== undefined);
}
