/**
 * The six comparisons of 16-bit and 64-bit integers.
 */
import type { OperationTypes, TensorData, TensorInfo } from "@nnhal/operations";
import { multiplyByQuantisedMultiplier, quantiseMultiplier } from "@nnhal/operations/authoring";
import { type AnyTensor, isPlain } from "../_elements.ts";
import { broadcast, inParts } from "../_elementwise.ts";
import { isLong, wider } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";

type ComparisonName = "EQUAL" | "NOT_EQUAL" | "GREATER" | "GREATER_EQUAL" | "LESS" | "LESS_EQUAL";

/** Defines one of the comparisons; `test`: its result, from the sign of left - right. */
export function comparison<const Name extends ComparisonName>(name: Name, test: (order: number) => boolean) {
  const comparesReals = name === "EQUAL" || name === "NOT_EQUAL";
  const definition = wider<ComparisonName>(name, {
    from: "TENSOR_FLOAT32",
    types: ["TENSOR_QUANT16_SYMM", tfliteTypes.TENSOR_INT64],
    *reference({ left, right }, { output }) {
      const results = output.data as TensorData;
      const a = comparableOf(yield* broadcast(left, output.dimensions), comparesReals);
      const b = comparableOf(yield* broadcast(right, output.dimensions), comparesReals);
      yield* inParts(results.length, (first, end) => {
        for (let index = first; index < end; index++) {
          const [x, y] = [a(index), b(index)];
          results[index] = test(x < y ? -1 : x > y ? 1 : 0) ? 1 : 0;
        }
      });
    },
  });
  // It is made of the definition of this name.
  return definition as OperationTypes[Name];
}

/** The number of each element that is compared. */
function comparableOf(tensor: AnyTensor, comparesReals: boolean): (index: number) => number | bigint {
  if (isLong(tensor.type)) {
    const data = tensor.data as BigInt64Array;
    return (index) => data[index];
  }
  const data = tensor.data as TensorData;
  const map = comparesReals && !isPlain(tensor) ? realUnits(tensor) : undefined;
  return map === undefined ? (index) => data[index] : (index) => map(data[index]);
}

/** Real numbers in whole units of 1/256, in which .tflite tests 16-bit elements for equality. The other tests take them as they are. */
function realUnits({ scale }: TensorInfo): (element: number) => number {
  const multiplier = quantiseMultiplier(scale);
  return (element) => multiplyByQuantisedMultiplier(element * 256, multiplier);
}
