/**
 * The network that shows what a path costs: one ADD of one element, of which the arithmetic takes no time.
 */
import { writeTflite } from "@nnhal/tflite";

/** The name of its file. */
export const overheadFile = "one-element-add.tflite";

/** The bytes of its file. */
export function overheadModel(): Uint8Array {
  const tensor = (name: string) => ({ name, shape: [1], type: "FLOAT32" as const, isVariable: false });
  const add = { name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction: "NONE" } };
  const main = {
    name: "main",
    tensors: [tensor("left"), tensor("right"), tensor("sum")],
    inputs: [0, 1],
    outputs: [2],
    operators: [add],
  };
  return writeTflite({ version: 3, description: "one ADD", subgraphs: [main], metadata: [], signatures: [] });
}
