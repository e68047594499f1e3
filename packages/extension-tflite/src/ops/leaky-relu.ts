/**
 * LEAKY_RELU: negative elements are multiplied by a factor.
 */
import { defineOperation, float32, tensor } from "@nnhal/operations/authoring";
import { mapElements } from "../_elementwise.ts";
import { isScaled16, mapScaled16, scaling16 } from "../_scaled16.ts";
import { activationTypes } from "../_types.ts";

export const leakyRelu = defineOperation({
  name: "LEAKY_RELU",
  code: 1098,
  summary: "x where x > 0, else alpha · x.",
  params: [tensor("input"), float32("alpha")],
  outputs: [tensor("output")],
  types: activationTypes.map((type) => ["1.2", type, type] as const),
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input, alpha }, { output }) {
    if (!isScaled16(input, output)) {
      return mapElements(input, output, { real: (value) => (value > 0 ? value : alpha * value) });
    }
    const [above, below] = [1, alpha].map((factor) => scaling16(input.scale, factor, output.scale));
    return mapScaled16(input, output, (element) => (element >= 0 ? above : below)(element));
  },
});
