/**
 * EMBEDDING_LOOKUP_SPARSE: weighted rows of a table, chosen by index and added up by bucket.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, mayStayZero, read, tensor } from "../params.ts";
import { ensureShape, extentProduct } from "../shape.ts";
import { outside } from "./_gathered.tflite.ts";
import { listOf } from "./_integers.tflite.ts";

const combiners = { sum: 0, mean: 1, sqrtn: 2 } as const;

export const embeddingLookupSparse = defineOperation({
  name: "EMBEDDING_LOOKUP_SPARSE",
  code: 1033,
  summary:
    "Weighted rows of a table, chosen by index and added up by bucket; divided by the sum of the weights (combiner 1) or the root of the sum of their squares (2).",
  params: [
    tensor("ids", "TENSOR_INT32"),
    tensor("indices", "TENSOR_INT32"),
    read(tensor("denseShape", "TENSOR_INT32")),
    tensor("weights", "TENSOR_FLOAT32"),
    tensor("values", "TENSOR_FLOAT32"),
    int32("combiner"),
  ],
  outputs: [mayStayZero(tensor("output", "TENSOR_FLOAT32"))],
  types: [["1.2"]],
  ranks: { ids: 1, indices: 2, denseShape: 1, weights: 1, values: [2, Number.POSITIVE_INFINITY] },
  check: ({ combiner }) =>
    combiner === undefined || Object.values<number>(combiners).includes(combiner)
      ? undefined
      : `the combiner: expected 0 (SUM), 1 (MEAN) or 2 (SQRTN), got ${combiner}`,
  infer({ ids, indices, denseShape, weights, values }) {
    const [count] = ids.dimensions;
    const shape = listOf(denseShape);
    ensureShape("the indices", indices, [count, shape.length]);
    ensureShape("the weights", weights, [count]);
    ensure(
      shape.length > 0 && shape.every((extent) => extent >= 0),
      () => `the dense shape [${shape.join(", ")}] is not a list of extents`,
    );
    return { output: { dimensions: [...shape.slice(0, -1), ...values.dimensions.slice(1)] } };
  },
  /** output[b] = Σ weights[i] · values[ids[i]] / divisor, over the positions i of bucket b. */
  reference({ ids, indices, denseShape, weights, values, combiner }, { output }) {
    const [rows] = values.dimensions;
    const row = extentProduct(values.dimensions, 1);
    const shape = listOf(denseShape);
    const rank = shape.length;
    const positions = ids.data.length;
    const buckets = new Float64Array(positions);
    // By what the bucket is divided after a position: by 1 unless another bucket follows.
    const divisors = new Float64Array(positions);
    let weightSum = 0;
    let squareSum = 0;
    const assign = (first: number, end: number) => {
      for (let position = first; position < end; position++) {
        const index = ids.data[position];
        if (!(index >= 0 && index < rows)) throw outside(index, position, rows);
        let bucket = 0;
        for (let axis = 0; axis < rank - 1; axis++) {
          const place = indices.data[position * rank + axis];
          ensure(
            place >= 0 && place < shape[axis],
            () => `place ${place} on axis ${axis} of index ${position} is outside [0, ${shape[axis]})`,
          );
          bucket = bucket * shape[axis] + place;
        }
        buckets[position] = bucket;
        const isFirst = position === 0 || buckets[position - 1] !== bucket;
        const weight = weights.data[position];
        weightSum = Math.fround((isFirst ? 0 : weightSum) + weight);
        squareSum = Math.fround((isFirst ? 0 : squareSum) + Math.fround(weight * weight));
        if (!isFirst) divisors[position - 1] = 1;
        if (combiner === combiners.sum) divisors[position] = 1;
        else divisors[position] = combiner === combiners.mean ? weightSum : Math.fround(Math.sqrt(squareSum));
      }
    };
    const add = (first: number, end: number) => {
      for (let unit = first; unit < end; unit++) {
        const position = Math.floor(unit / row);
        const place = unit % row;
        const from = ids.data[position] * row + place;
        const to = buckets[position] * row + place;
        output.data[to] += Math.fround(values.data[from] * weights.data[position]);
        output.data[to] /= divisors[position];
      }
    };
    return [
      { units: positions, cost: 16 * rank, inTurn: true, compute: assign },
      { units: positions * row, cost: 16, inTurn: true, compute: add },
    ];
  },
});
