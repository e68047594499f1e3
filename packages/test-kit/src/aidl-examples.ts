/** Examples of operations that AIDL adds, on bytes: for engines that sum and move them in ways of their own. */
import { type Model, OperandType, OperationType } from "@nnhal/types";
import { list, matmulModel, operationModel } from "./operation-models.ts";

const { TENSOR_QUANT8_ASYMM, TENSOR_QUANT8_ASYMM_SIGNED } = OperandType;

/** A model, and runs of it: the inputs and the result. */
interface ByteExample {
  readonly name: string;
  readonly model: Model;
  readonly runs: readonly { readonly inputs: readonly Uint8Array[]; readonly result: Uint8Array }[];
}

/** The products of the deepest matrices of bytes whose sums float32 has exactly. */
export const mostExactProducts = 258;

/** BATCH_MATMUL of signed bytes at their limits: 258 products of 255 and 255 are 127.998 steps of the result. */
function createGreatestSums(): ByteExample {
  const facts = { type: TENSOR_QUANT8_ASYMM_SIGNED, scale: 1, zeroPoint: -128 };
  const model = matmulModel(facts, [], [1, mostExactProducts, 1], false, true, {
    ...facts,
    scale: 2 ** 17,
    zeroPoint: -1,
  });
  const fill = (byte: number) => new Uint8Array(mostExactProducts).fill(byte);
  return {
    name: "the greatest sums of bytes are exact",
    model,
    runs: [
      { inputs: [fill(127), fill(127)], result: Uint8Array.of(127) },
      { inputs: [fill(127), fill(128)], result: Uint8Array.of(255) },
    ],
  };
}

function createReverse(axis: number, result: readonly number[]): ByteExample {
  const facts = { type: TENSOR_QUANT8_ASYMM, scale: 1, dimensions: [2, 3] };
  return {
    name: `REVERSE turns axis ${axis}`,
    model: operationModel(OperationType.REVERSE, [facts, list([axis])], facts),
    runs: [{ inputs: [Uint8Array.of(1, 2, 3, 4, 5, 6)], result: Uint8Array.from(result) }],
  };
}

export const byteExamples: readonly ByteExample[] = [
  createGreatestSums(),
  createReverse(0, [4, 5, 6, 1, 2, 3]),
  createReverse(1, [3, 2, 1, 6, 5, 4]),
];
