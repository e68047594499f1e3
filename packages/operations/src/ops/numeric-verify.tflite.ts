import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, float32, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { channelsOf } from "./_channels.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";

/** With a smaller tolerance TensorFlow Lite refuses nothing. */
const LEAST_TOLERANCE = 0.1;

const types = [
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT8_SYMM_PER_CHANNEL",
  "TENSOR_QUANT16_SYMM",
  "TENSOR_FLOAT16",
] as const;

export const numericVerify = defineOperation({
  name: "NumericVerify",
  code: 2102,
  summary: "The real values of an input less the floats that they stand for.",
  params: [
    tensor("input"),
    tensor("reference", "TENSOR_FLOAT32"),
    // The greatest difference that is allowed, in steps of the input.
    float32("tolerance"),
    // True if a greater difference is an error.
    bool("log_if_failed"),
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: types.map((type) => ["1.2", type] as const),
  infer({ input, reference }) {
    ensureShape("the reference", reference, input.dimensions);
    return { output: { dimensions: input.dimensions } };
  },
  reference({ input, reference, tolerance, log_if_failed: isStrict }, { output }) {
    const isFloat = input.type === "TENSOR_FLOAT16";
    const [from, to] = [numbersIn(input.data), output.data];
    const scaleOf = isFloat ? () => 1 : channelsOf(input);
    const most = tolerance * (isFloat ? 0 : (input.scale ?? 0));
    const isChecked = isStrict && tolerance >= Math.fround(LEAST_TOLERANCE);
    return {
      units: to.length,
      compute(first, end) {
        for (let index = first; index < end; index++) {
          const real = Math.fround((from[index] - input.zeroPoint) * scaleOf(index));
          to[index] = real - reference.data[index];
          const difference = Math.abs(to[index]);
          ensure(
            !isChecked || difference <= most,
            () => `element ${index} is ${real} where the reference is ${reference.data[index]}, ${most} is allowed`,
          );
        }
      },
    };
  },
});
