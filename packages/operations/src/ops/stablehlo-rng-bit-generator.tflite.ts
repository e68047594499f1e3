/**
 * STABLEHLO_RNG_BIT_GENERATOR: random bits that a state determines, and the state after them. Its words of 32 bits are a key and a counter.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import type { AnyTensorData } from "../operand-type.ts";
import { int32, read, tensor, wide } from "../params.ts";
import type { Tensor } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { philox } from "./_philox.ts";
import { threefry } from "./_threefry.tflite.ts";

const { TENSOR_INT64, TENSOR_UINT32, TENSOR_UINT64 } = tfliteTypes;

const THREEFRY = 2;

export const stablehloRngBitGenerator = defineOperation({
  name: "STABLEHLO_RNG_BIT_GENERATOR",
  code: 1204,
  summary: "Random bits by Philox or ThreeFry, which a state of key and counter determines, and the next state.",
  params: [wide(tensor("initialState", TENSOR_UINT64)), int32("algorithm"), read(tensor("shape", "TENSOR_INT32"))],
  outputs: [wide(tensor("outputState", TENSOR_UINT64)), wide(tensor("output"))],
  types: (["TENSOR_INT32", TENSOR_UINT32, TENSOR_INT64, TENSOR_UINT64] as const).map((type) => ["1.2", type] as const),
  ranks: { initialState: 1, shape: 1 },
  work: "functionElement",
  infer({ initialState: { dimensions }, algorithm, shape }) {
    const [size] = dimensions;
    ensure(algorithm >= 0 && algorithm <= THREEFRY, () => `the algorithm: expected 0 to 2, got ${algorithm}`);
    ensure(
      size === 2 || (size === 3 && algorithm !== THREEFRY),
      () => `the state: expected ${algorithm === THREEFRY ? "2" : "2 or 3"} elements, got ${size}`,
    );
    return { outputState: { dimensions }, output: { dimensions: [...shape.data] } };
  },
  reference({ initialState, algorithm }, { outputState, output }) {
    const state = wordsOf(initialState);
    const [key0, key1, ...counter] = state;
    const key = [key0, key1] as const;
    const [low = 0, high = 0, third = key0, fourth = key1] = counter;
    const count = { low, high };
    const block = (): readonly number[] =>
      algorithm === THREEFRY
        ? threefry([count.low, count.high], key)
        : philox([count.low, count.high, third, fourth], key);
    const { data } = output;
    const perElement = isWide(data) ? 2 : 1;
    const perBlock = (algorithm === THREEFRY ? 2 : 4) / perElement;
    const compute = (first: number, end: number) => {
      for (let unit = first; unit < end; unit++) {
        const words = block();
        count.low = (count.low + 1) >>> 0;
        if (count.low === 0) count.high = (count.high + 1) >>> 0;
        const last = Math.min((unit + 1) * perBlock, data.length);
        for (let place = unit * perBlock, word = 0; place < last; place++, word += perElement) {
          if (isWide(data)) data[place] = joinHalves(words[word], words[word + 1]);
          else data[place] = words[word];
        }
      }
    };
    const storeState = () => {
      const next = [key0, key1, count.low, count.high, ...counter.slice(2)];
      for (let place = 0; place < outputState.data.length; place++) {
        outputState.data[place] = joinHalves(next[2 * place], next[2 * place + 1]);
      }
    };
    // A unit is a block of words.
    return [
      { units: Math.ceil(data.length / perBlock), cost: 128, inTurn: true, compute },
      { units: 1, compute: storeState },
    ];
  },
});

function isWide(data: AnyTensorData): data is BigInt64Array | BigUint64Array {
  return data instanceof BigInt64Array || data instanceof BigUint64Array;
}

/** The lower and the upper half of each element. */
function wordsOf({ data }: Tensor<BigUint64Array>): readonly number[] {
  return Array.from(data).flatMap((element) => [Number(BigInt.asUintN(32, element)), Number(element >> 32n)]);
}

function joinHalves(low: number, high: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}
