/**
 * Judging random samples: RANDOM_MULTINOMIAL draws classes by the softmax of its input, so the share of each class among the
 * samples of a batch must be near its probability.
 */
import { elementAt } from "@nnhal/operations";
import { readElements } from "./elements.ts";
import type { Example } from "./example.ts";

/** Returns the fault in the samples of an example with an expected distribution, in words; undefined if it passes. */
export function findDistributionProblem(
  { main, expectedMultinomialDistributionTolerance: tolerance }: Example,
  bytesOf: (output: number) => Uint8Array,
): string | undefined {
  const operation = main.operations.find(({ type }) => type === "RANDOM_MULTINOMIAL");
  if (operation === undefined) return "the example expects a distribution, but has no RANDOM_MULTINOMIAL";
  const logits = elementAt(main.operands, elementAt(operation.inputs, 0));
  const samples = elementAt(main.operands, elementAt(operation.outputs, 0));
  const output = main.outputIndexes.indexOf(elementAt(operation.outputs, 0));
  const [batches, classes] = logits.dimensions;
  const [, sampleCount] = samples.dimensions;
  if (batches === undefined || classes === undefined || sampleCount === undefined) {
    return "RANDOM_MULTINOMIAL: the example's input and output are not of rank 2";
  }
  if (logits.data === null || output < 0) return "RANDOM_MULTINOMIAL: the example does not tell its input and output";
  const inputs = readElements(logits.type, logits.data);
  const drawn = readElements(samples.type, bytesOf(output));

  for (let batch = 0; batch < batches; batch++) {
    const counts = new Float64Array(classes);
    for (let index = batch * sampleCount; index < (batch + 1) * sampleCount; index++) {
      const sample = elementAt(drawn, index);
      if (!(sample >= 0 && sample < classes)) {
        return `RANDOM_MULTINOMIAL output ${output} element ${index}: sample ${sample} is none of the ${classes} classes`;
      }
      counts[sample] = elementAt(counts, sample) + 1;
    }
    const probabilities = softmax(inputs.subarray(batch * classes, (batch + 1) * classes));
    const shares = counts.map((count) => count / sampleCount);
    const wrong = shares.findIndex((share, index) => !(Math.abs(share - elementAt(probabilities, index)) <= tolerance));
    if (wrong >= 0) {
      return (
        `RANDOM_MULTINOMIAL output ${output}: share of class ${wrong} in batch ${batch}: ` +
        `expected ${probabilities[wrong]} within ${tolerance}, got ${shares[wrong]}`
      );
    }
  }
  return undefined;
}

function softmax(values: Float64Array): Float64Array {
  const greatest = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const powers = values.map((value) => Math.exp(value - greatest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}
