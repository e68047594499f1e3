/**
 * The six comparisons of 16-bit and 64-bit integers, and of 8-bit elements in the steps in which .tflite compares real numbers.
 */
import type { OperationTypes, TensorData, TensorInfo } from "@nnhal/operations";
import { multiplyByQuantisedMultiplier, quantiseMultiplier } from "@nnhal/operations/kernels";
import { type AnyTensor, isPlain } from "../_elements.ts";
import { broadcast, inParts } from "../_elementwise.ts";
import { isLong, wider } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";

type ComparisonName = "EQUAL" | "NOT_EQUAL" | "GREATER" | "GREATER_EQUAL" | "LESS" | "LESS_EQUAL";

/** Defines one of the comparisons; `test`: its result, from the sign of left - right. */
export function comparison<const Name extends ComparisonName>(name: Name, test: (order: number) => boolean) {
  const isEquality = name === "EQUAL" || name === "NOT_EQUAL";
  const definition = wider<ComparisonName>(name, {
    from: "TENSOR_FLOAT32",
    types: ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM", tfliteTypes.TENSOR_INT64],
    *reference({ left, right }, { output }) {
      const results = output.data as TensorData;
      const a = comparableOf(yield* broadcast(left, output.dimensions), isEquality);
      const b = comparableOf(yield* broadcast(right, output.dimensions), isEquality);
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

/** The number of each element that is compared: .tflite compares 16-bit elements as they are, except for equality. */
function comparableOf(tensor: AnyTensor, isEquality: boolean): (index: number) => number | bigint {
  if (isLong(tensor.type)) {
    const data = tensor.data as BigInt64Array;
    return (index) => data[index];
  }
  const data = tensor.data as TensorData;
  const isReal = tensor.type !== "TENSOR_QUANT16_SYMM" || (isEquality && !isPlain(tensor));
  const map = isReal ? realUnits(tensor) : undefined;
  return map === undefined ? (index) => data[index] : (index) => map(data[index]);
}

/** The real number that an element stands for, in whole units of 1/256. */
function realUnits({ scale, zeroPoint }: TensorInfo): (element: number) => number {
  const multiplier = quantiseMultiplier(scale);
  return (element) => multiplyByQuantisedMultiplier((element - zeroPoint) * 256, multiplier);
}
