/**
 * Operations on two tensors that broadcast, all operands of one type, with nothing else to say.
 */
import { OperationType, type OperationTypeName } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import type { TensorData } from "../tensor.ts";
import { broadcastData, inferBroadcast } from "./_broadcast.ts";
import { inChunks } from "./_chunks.ts";
import { requantise } from "./_requantise.ts";
import { rowsOfOneType, type SinceType } from "./_types.ts";

/** The part of a definition that differs within the family. */
export interface Pairwise<Name extends OperationTypeName> {
  readonly name: Name;
  readonly summary: string;
  readonly types: readonly SinceType[];
  /** The result of each pair of elements; quantised ones come in the output's scale and zero point. */
  readonly loop: (left: TensorData, right: TensorData, result: TensorData) => void;
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
    *reference({ left, right }, { output }) {
      const leftData = yield* requantise(left, output);
      const rightData = yield* requantise(right, output);
      const a = yield* broadcastData({ ...left, data: leftData }, output.dimensions);
      const b = yield* broadcastData({ ...right, data: rightData }, output.dimensions);
      yield* inChunks(output.data.length, (part) => loop(part(a), part(b), part(output.data)));
    },
  });
}
