/**
 * BITCAST: the bytes of a tensor as elements of another type.
 */
import {
  byteLength,
  decodeTensorData,
  elementFactsOf,
  encodeTensorData,
  ensure,
  numbersPerElement,
  type TensorInfo,
} from "@nnhal/operations";
import { defineOperation, tensor, wide } from "@nnhal/operations/authoring";
import { copyInChunks } from "@nnhal/operations/kernels";
import { withoutScalar } from "../_gathered.ts";
import { movable } from "../_integers.ts";
import { complexTypes, realTypes } from "../_types.ts";

const types = [...realTypes, ...complexTypes] as const;

/** The most elements of the larger type that are converted between two pauses. */
const part = 1 << 16;

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
  *reference({ input }, { output }) {
    const most = Math.max(sizeOf(input), sizeOf(output));
    const from = (most / sizeOf(input)) * part;
    const to = (most / sizeOf(output)) * part;
    const source = movable(input.data);
    const target = movable(output.data);
    const numbers = numbersPerElement(input.type);
    const perResult = numbersPerElement(output.type);
    for (let step = 0; step * to * perResult < target.length; step++) {
      const elements = source.subarray(step * from * numbers, (step + 1) * from * numbers);
      const bytes = new Uint8Array(byteLength(input.type, elements.length / numbers));
      encodeTensorData(input.type, elements, bytes);
      const results = decodeTensorData(output.type, bytes, bytes.length / sizeOf(output));
      yield* copyInChunks(results, target, step * to * perResult);
      yield;
    }
  },
});

/** The bytes of an element. */
function sizeOf({ type }: TensorInfo): number {
  return elementFactsOf(type).elementSize;
}
