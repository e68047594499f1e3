/**
 * MULTINOMIAL: draws classes at random, given the logarithms of their probabilities.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import type { AnyTensorData } from "../operand-type.ts";
import { read, tensor, wide } from "../params.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { longsIn, numbersIn } from "./_integers.tflite.ts";
import { accumulateOdds, classAt } from "./_multinomial.ts";
import { seedParams, wordsOf } from "./_random.tflite.ts";
import { isLong } from "./_wider.tflite.ts";

export const multinomial = defineOperation({
  name: "MULTINOMIAL",
  code: 1149,
  summary:
    "Draws classes at random, given the logarithms of their probabilities; those that are not finite are never drawn.",
  params: [tensor("logits", "TENSOR_FLOAT32"), read(tensor("numSamples", "TENSOR_INT32")), ...seedParams],
  outputs: [wide(tensor("output"))],
  types: [
    ["1.2", "TENSOR_INT32"],
    ["1.2", tfliteTypes.TENSOR_INT64],
  ],
  ranks: { logits: 2, numSamples: 1 },
  random: true,
  work: "functionElement",
  infer({ logits, numSamples: { data, dimensions } }) {
    ensure(dimensions[0] === 1, () => `numSamples: expected 1 element, got ${dimensions[0]}`);
    ensure(data[0] >= 0, () => `numSamples is ${data[0]}, less than 0`);
    ensure(logits.dimensions[1] > 0, () => "expected at least 1 class, got 0");
    return { output: { dimensions: [logits.dimensions[0], data[0]] } };
  },
  reference({ logits, numSamples, seed, seed2 }, { output }, context) {
    const [batches, classes] = logits.dimensions;
    const [samples] = numSamples.data;
    const word = wordsOf(seed, seed2, context);
    const write = writerOf(output.data, isLong(output.type));
    const cumulative = new Float64Array(classes);
    const perBatch = samples + 1;
    // The first unit of a batch adds up the odds of its classes; each other one draws a sample.
    const compute = (first: number, end: number) => {
      for (let unit = first; unit < end; unit++) {
        const batch = Math.floor(unit / perBatch);
        const isFirst = unit % perBatch === 0;
        if (isFirst) accumulateOdds(logits.data, batch * classes, cumulative);
        const total = cumulative[classes - 1];
        ensure(total > 0, () => `no class of batch ${batch} has a finite logarithm of its probability`);
        if (isFirst) continue;
        const high = word();
        write(batch * samples + (unit % perBatch) - 1, classAt(cumulative, unitDouble(high, word()) * total));
      }
    };
    return { units: batches * perBatch, cost: 64 + (16 * classes) / perBatch, inTurn: true, compute };
  },
});

function writerOf(data: AnyTensorData, long: boolean): (index: number, value: number) => void {
  if (!long) {
    const classes = numbersIn(data);
    return (index, value) => {
      classes[index] = value;
    };
  }
  const classes = longsIn(data);
  return (index, value) => {
    classes[index] = BigInt(value);
  };
}

/** A number in [0, 1) of 52 bits: the lower 20 of the first word, then the second. */
function unitDouble(high: number, low: number): number {
  return ((high & 0xf_ffff) * 2 ** 32 + low) * 2 ** -52;
}
