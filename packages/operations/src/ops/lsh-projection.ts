/**
 * LSH_PROJECTION: locality sensitive hashing. Each hash function is a row of seeds; a seed yields one bit, the sign of a
 * weighted sum of hashes of the input's slices.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { toFloat16Bits } from "../float16.ts";
import { int32, omittable, tensor } from "../params.ts";
import type { Tensor } from "../tensor.ts";
import { fingerprint64 } from "./_farmhash.ts";

/** Encoding of the hash bits (HAL: LSHProjectionType). */
const Projection = { SPARSE_DEPRECATED: 1, DENSE: 2, SPARSE: 3 } as const;

const SEED_BYTES = 4;
/** Multiply-adds that hashing one byte is worth, and those of starting a hash. */
const WORK_PER_BYTE = 32;
const WORK_PER_HASH = 2048;

export const lshProjection = defineOperation({
  name: "LSH_PROJECTION",
  code: OperationType.LSH_PROJECTION,
  summary: "Projects a tensor to bits by locality sensitive hashing.",
  params: [tensor("hash"), tensor("input"), omittable(tensor("weight")), int32("projection")],
  outputs: [tensor("output", "TENSOR_INT32")],
  types: [
    ["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.0", "TENSOR_FLOAT32", "TENSOR_INT32", "TENSOR_FLOAT32"],
    ["1.0", "TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT32", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_INT32", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
  ],
  ranks: { hash: 2, input: [1, Number.POSITIVE_INFINITY], weight: 1 },
  since: ({ projection }) => (projection === Projection.SPARSE ? "1.2" : undefined),
  infer({ hash, input, weight, projection }) {
    const [functions, bits] = hash.dimensions;
    const slices = input.dimensions[0];
    ensure(bits <= 32, () => `a hash function has ${bits} bits where at most 32 are allowed`);
    ensure(
      weight === undefined || weight.dimensions[0] === slices,
      () => `there are ${weight?.dimensions[0]} weights for ${slices} slices of the input`,
    );
    switch (projection) {
      case Projection.DENSE:
        return { output: { dimensions: [functions * bits] } };
      case Projection.SPARSE:
        ensure(functions * 2 ** bits <= 2 ** 32, () => `${functions} signatures of ${bits} bits do not fit 32 bits`);
        return { output: { dimensions: [functions] } };
      default:
        ensure(
          projection === Projection.SPARSE_DEPRECATED,
          () => `the type: expected 1 (sparse, deprecated), 2 (dense) or 3 (sparse), got ${projection}`,
        );
        return { output: { dimensions: [functions] } };
    }
  },
  // score of a bit = Σ over the slices: weight · hash(seed of the bit, slice)
  reference({ hash, input, weight, projection }, { output }) {
    const [functions, bits] = hash.dimensions;
    const slices = input.dimensions[0];
    const bytes = bytesOf(input);
    const sliceLength = slices === 0 ? 0 : bytes.length / slices;
    const scores = new Float64Array(functions * bits);
    const addHashes = (first: number, end: number) => {
      const key = new Uint8Array(SEED_BYTES + sliceLength);
      const view = new DataView(key.buffer);
      for (let unit = first; unit < end; unit++) {
        const [bit, slice] = [Math.floor(unit / slices), unit % slices];
        view.setFloat32(0, hash.data[bit], true);
        key.set(bytes.subarray(slice * sliceLength, (slice + 1) * sliceLength), SEED_BYTES);
        const signed = Number(BigInt.asIntN(64, fingerprint64(key)));
        scores[bit] += (weight === undefined ? 1 : weight.data[slice]) * signed;
      }
    };
    const write = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        let signature = 0;
        for (let bit = 0; bit < bits; bit++) {
          const one = scores[index * bits + bit] > 0 ? 1 : 0;
          if (projection === Projection.DENSE) output.data[index * bits + bit] = one;
          else signature = (signature << 1) | one;
        }
        // The offset keeps the signatures of different functions apart; storing wraps to 32 bits.
        if (projection === Projection.SPARSE) output.data[index] = (signature >>> 0) + index * 2 ** bits;
        else if (projection === Projection.SPARSE_DEPRECATED) output.data[index] = signature;
      }
    };
    const cost = WORK_PER_HASH + (SEED_BYTES + sliceLength) * WORK_PER_BYTE;
    return [
      { units: scores.length * slices, cost, inTurn: true, compute: addHashes },
      { units: functions, cost: 4 * bits, compute: write },
    ];
  },
});

/** The bytes of a tensor as a pool holds them, little-endian. */
function bytesOf({ type, data }: Tensor): Uint8Array {
  const stored = type === "TENSOR_FLOAT16" ? Uint16Array.from(data, toFloat16Bits) : data;
  return new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength);
}
