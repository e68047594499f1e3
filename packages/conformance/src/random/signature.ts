/**
 * The signatures of an operation: every way to write its operand list, with every type row and every number of operands.
 */
import {
  type Form,
  halTypeName,
  layOut,
  matchOperation,
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

/** The signature of an operand list; undefined if the operation has none like it. */
export function signatureFor(
  operation: Operation,
  inputTypes: readonly OperandTypeName[],
  outputTypes: readonly OperandTypeName[],
): Signature | undefined {
  const match = matchOperation(operation, inputTypes, outputTypes);
  if ("mismatch" in match) return undefined;
  const { form, row } = match;
  const inputs = layOut(form.params, form.counts, inputTypes.length);
  const outputs = layOut(form.outputs, form.outputCounts, outputTypes.length);
  return inputs && outputs && { operation, form, row, inputs, outputs, types: typesIn(form, row) };
}

/** A variadic parameter stands for at most this many operands. */
const MOST_REPEATS = 4;

/** All signatures of an operation. */
export function signaturesOf(operation: Operation): Signature[] {
  return operation.forms.flatMap((form) =>
    form.types.flatMap((row) => {
      const types = typesIn(form, row);
      return listsOf(form.params, form.counts).flatMap((inputs) =>
        listsOf(form.outputs, form.outputCounts).map((outputs) => ({ operation, form, row, inputs, outputs, types })),
      );
    }),
  );
}

function typesIn(form: Form, row: TypeRow): ReadonlyMap<Param, OperandTypeName> {
  return new Map([...typesOfRow(form, row)].map(([param, type]) => [param, halTypeName(type)]));
}

/** All lists that a parameter list allows. */
function listsOf(params: readonly Param[], counts: readonly number[] | undefined): (readonly Param[])[] {
  const longest = params.length + (params.some(({ variadic }) => variadic) ? MOST_REPEATS - 1 : 0);
  const lengths = Array.from({ length: longest + 1 }, (_, length) => length);
  return lengths.map((length) => layOut(params, counts, length)).filter((list) => list !== undefined);
}
