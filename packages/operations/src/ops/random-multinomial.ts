/**
 * RANDOM_MULTINOMIAL: draws classes with the probabilities softmax(input). The same seeds draw the same classes; seeds of
 * 0 and 0 are replaced by random ones. The HAL does not define which classes a seed draws.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor } from "../params.ts";
import { accumulateOdds, classAt } from "./_multinomial.ts";
import { philox, unitInterval } from "./_philox.ts";

export const randomMultinomial = defineOperation({
  name: "RANDOM_MULTINOMIAL",
  code: OperationType.RANDOM_MULTINOMIAL,
  summary: "Draws classes at random, given the logarithms of their probabilities.",
  params: [tensor("input"), int32("samples"), tensor("seeds", "TENSOR_INT32")],
  outputs: [tensor("output", "TENSOR_INT32")],
  types: [
    ["1.2", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16"],
  ],
  ranks: { input: 2, seeds: 1 },
  random: true,
  infer({ input, samples, seeds }) {
    ensure(samples >= 0, () => `the number of samples is ${samples}, less than 0`);
    ensure(seeds.dimensions[0] === 2, () => `expected 2 seeds, got ${seeds.dimensions[0]}`);
    return { output: { dimensions: [input.dimensions[0], samples] } };
  },
  reference({ input, samples, seeds }, { output }, { random }) {
    const [batches, classes] = input.dimensions;
    const anyWord = () => Math.floor(random() * 2 ** 32);
    const isSeeded = seeds.data[0] !== 0 || seeds.data[1] !== 0;
    const key = isSeeded ? ([seeds.data[0], seeds.data[1]] as const) : ([anyWord(), anyWord()] as const);
    const odds = new Float64Array(batches * classes);
    const oddsOf = (batch: number) => odds.subarray(batch * classes, (batch + 1) * classes);
    const accumulate = (first: number, end: number) => {
      for (let batch = first; batch < end; batch++) accumulateOdds(input.data, batch * classes, oddsOf(batch));
    };
    const draw = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        const batch = Math.floor(index / samples);
        const cumulative = oddsOf(batch);
        const total = cumulative[classes - 1];
        ensure(total > 0, () => `no class of batch ${batch} has a finite logarithm of its probability`);
        const [high, low] = philox([index >>> 0, Math.floor(index / 2 ** 32), 0, 0], key);
        output.data[index] = classAt(cumulative, unitInterval(high, low) * total);
      }
    };
    return [
      { units: batches, cost: 16 * classes, compute: accumulate },
      { units: batches * samples, cost: 64, compute: draw },
    ];
  },
});
