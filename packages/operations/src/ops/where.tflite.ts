/**
 * WHERE: the places of the elements of a tensor that are not zero.
 */
import { defineOperation } from "../define.ts";
import { tensor, wide } from "../params.ts";
import { resize } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { numbersOf } from "./_integers.tflite.ts";

export const where = defineOperation({
  name: "WHERE",
  code: 1109,
  summary: "The places of the elements that are not zero: a row of indexes for each, in order.",
  params: [wide(tensor("condition"))],
  outputs: [tensor("output", tfliteTypes.TENSOR_INT64)],
  types: (
    [
      "TENSOR_BOOL8",
      "TENSOR_FLOAT32",
      "TENSOR_INT32",
      tfliteTypes.TENSOR_INT64,
      tfliteTypes.TENSOR_UINT32,
      "TENSOR_QUANT8_ASYMM",
      "TENSOR_QUANT8_ASYMM_SIGNED",
    ] as const
  ).map((type) => ["1.2", type] as const),
  ranks: { condition: [1, Number.POSITIVE_INFINITY] },
  dynamic: true,
  infer: ({ condition }) => ({ output: { dimensions: [0, condition.dimensions.length] } }),
  reference({ condition: { data, dimensions } }, { output }) {
    const numbers = numbersOf(data);
    const rank = dimensions.length;
    let count = 0;
    const countPlaces = (first: number, end: number) => {
      for (let index = first; index < end; index++) if (numbers[index] !== 0) count++;
    };
    let row = 0;
    const writePlaces = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        if (numbers[index] === 0) continue;
        for (let axis = rank - 1, rest = index; axis >= 0; axis--) {
          output.data[row * rank + axis] = BigInt(rest % dimensions[axis]);
          rest = Math.floor(rest / dimensions[axis]);
        }
        row++;
      }
    };
    const units = numbers.length;
    return [
      { units, inTurn: true, compute: countPlaces },
      { units: 1, compute: () => resize(output, [count, rank]) },
      // A bigint is made for each index.
      { units, cost: 4 + 32 * rank, inTurn: true, compute: writePlaces },
    ];
  },
});
