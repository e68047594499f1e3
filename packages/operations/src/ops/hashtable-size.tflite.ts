/**
 * HASHTABLE_SIZE: the number of keys of a hash table.
 */

import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import { elementCount } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { isImported, keysOf, shapeOf, tableKeys, tableTypes } from "./_tables.tflite.ts";

export const hashtableSize = defineOperation({
  name: "HASHTABLE_SIZE",
  code: 1139,
  summary: "The number of different keys of a hash table; 0 before it is filled.",
  params: [isImported, tableKeys],
  outputs: [tensor("output", tfliteTypes.TENSOR_INT64)],
  types: tableTypes.map(([key]) => ["1.2", key] as const),
  infer: () => ({ output: { dimensions: [1] } }),
  reference({ isImported, tableKeys }, { output }) {
    const known = new Set<string | bigint>();
    const at = keysOf(tableKeys);
    const count = isImported.data[0] === 0 ? 0 : elementCount(shapeOf(tableKeys));
    const compute = (first: number, end: number) => {
      for (let place = first; place < end; place++) known.add(at(place));
    };
    const store = () => {
      output.data[0] = BigInt(known.size);
    };
    return [
      { units: count, cost: 64, inTurn: true, compute },
      { units: 1, compute: store },
    ];
  },
});
