/**
 * Operations on two tensors that broadcast, all operands of one type, with nothing else to say.
 */
import { OperationType, type OperationTypeName } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import { broadcastData, inferBroadcast, type PairLoop, pairPhases } from "./_broadcast.ts";
import { requantise } from "./_requantise.ts";
import { rowsOfOneType, type SinceType } from "./_types.ts";

/** The part of a definition that differs within the family. */
export interface Pairwise<Name extends OperationTypeName> {
  readonly name: Name;
  readonly summary: string;
  readonly types: readonly SinceType[];
  /** Computes the results of the pairs [first, end) of elements; quantised ones come in the output's scale and zero point. */
  readonly loop: PairLoop;
}

/** Defines one of the operations. */
export function pairwise<const Name extends OperationTypeName>({ name, summary, types, loop }: Pairwise<Name>) {
  return defineOperation({
    name,
    code: OperationType[name],
    summary,
    params: [tensor("left"), tensor("right")],
    outputs: [tensor("output")],
    types: rowsOfOneType(3, types),
    broadcasts: ["left", "right"],
    infer: ({ left, right }) => inferBroadcast(left, right),
    reference({ left, right }, { output }) {
      const operands = [left, right].map((operand) => {
        const requantised = requantise(operand, output);
        const { data, phases } = broadcastData({ ...operand, data: requantised.data }, output.dimensions);
        return { data, phases: [...requantised.phases, ...phases] };
      });
      return pairPhases(operands, output.data, loop);
    },
  });
}
