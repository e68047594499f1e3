/**
 * BITCAST: the bytes of a tensor as elements of another type.
 */
import { byteLength, decodeTensorData, encodeTensorData } from "../codec.ts";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { elementFactsOf, numbersPerElement } from "../operand-type.ts";
import { tensor, wide } from "../params.ts";
import type { TensorInfo } from "../tensor.ts";
import { withoutScalar } from "./_gathered.tflite.ts";
import { movable } from "./_integers.tflite.ts";
import { complexTypes, realTypes } from "./_types.tflite.ts";

const types = [...realTypes, ...complexTypes] as const;

export const bitcast = defineOperation({
  name: "BITCAST",
  code: 1159,
  summary:
    "The bytes of a tensor as elements of another type; several smaller elements for one larger are a last axis.",
  params: [wide(tensor("input"))],
  outputs: [wide(tensor("output"))],
  types: types.flatMap((from) => types.map((to) => ["1.2", from, to] as const)),
  infer({ input }, { output }) {
    const { dimensions } = input;
    const ratio = sizeOf(input) / sizeOf(output);
    if (ratio === 1) return { output: { dimensions } };
    if (ratio > 1) return { output: { dimensions: withoutScalar([...dimensions, ratio], input, [ratio], output) } };
    const last = dimensions[dimensions.length - 1];
    ensure(
      last === 1 / ratio,
      () => `the last extent: expected ${1 / ratio} elements for each of the result, got ${last}`,
    );
    const rest = dimensions.slice(0, -1);
    return { output: { dimensions: rest.length === 0 ? [1] : rest } };
  },
  reference({ input }, { output }) {
    const most = Math.max(sizeOf(input), sizeOf(output));
    const source = movable(input.data);
    const target = movable(output.data);
    const numbers = numbersPerElement(input.type);
    // Numbers of the input and of the output in an element of the larger type.
    const from = (most / sizeOf(input)) * numbers;
    const to = (most / sizeOf(output)) * numbersPerElement(output.type);
    return {
      units: target.length / to,
      compute(first, end) {
        const elements = source.subarray(first * from, end * from);
        const bytes = new Uint8Array(byteLength(input.type, elements.length / numbers));
        encodeTensorData(input.type, elements, bytes);
        target.set(decodeTensorData(output.type, bytes, bytes.length / sizeOf(output)), first * to);
      },
    };
  },
});

/** The bytes of an element. */
function sizeOf({ type }: TensorInfo): number {
  return elementFactsOf(type).elementSize;
}
