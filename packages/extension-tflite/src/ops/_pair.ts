/**
 * Operators that the HAL lacks, of two tensors that broadcast and a result of their type, without options.
 */
import type { AnyOperandType } from "@nnhal/operations";
import { defineOperation, inferBroadcast, tensor, wide } from "@nnhal/operations/authoring";
import type { AnyTensor } from "../_elements.ts";
import { combineElements, type PairFunctions } from "../_elementwise.ts";

/** The part of a definition that differs within the family. */
interface Pair<Name extends string> {
  readonly name: Name;
  readonly code: number;
  readonly summary: string;
  readonly types: readonly AnyOperandType[];
  /** The functions for these operands. Throws an OperationError if they have no result. */
  readonly functions: (left: AnyTensor, right: AnyTensor) => PairFunctions;
}

/** Defines one of the operators. */
export function pair<const Name extends string>({ name, code, summary, types, functions }: Pair<Name>) {
  return defineOperation({
    name,
    code,
    summary,
    params: [wide(tensor("left")), wide(tensor("right"))],
    outputs: [wide(tensor("output"))],
    types: types.map((type) => ["1.2", type, type, type] as const),
    broadcasts: ["left", "right"],
    infer: ({ left, right }) => inferBroadcast(left, right),
    reference: ({ left, right }, { output }) => combineElements(left, right, output, functions(left, right)),
  });
}
