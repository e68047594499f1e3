/** Networks whose outputs are fixed, and a picture for them. */
import { modelOf, tensor } from "../models.test-helper.ts";

const bytesOf = (values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);

/**
 * A model that takes a picture of 4 x 2 and whose outputs are fixed: each is a constant to which the picture's first number is added
 * after it was multiplied by 0.
 */
export function fixedModel(
  outputs: readonly (readonly [name: string, shape: readonly number[], values: readonly number[]])[],
) {
  const options = { fusedActivationFunction: "NONE" };
  const tensors = [
    tensor("image", { shape: [1, 2, 4, 3] }),
    tensor("begin", { type: "INT32", shape: [4], data: new Uint8Array(16) }),
    tensor("size", { type: "INT32", shape: [4], data: new Uint8Array(Int32Array.of(1, 1, 1, 1).buffer) }),
    tensor("first", { shape: [1, 1, 1, 1] }),
    tensor("one", { type: "INT32", shape: [1], data: new Uint8Array(Int32Array.of(1).buffer) }),
    tensor("flat", { shape: [1] }),
    tensor("nothing", { shape: [1], data: bytesOf([0]) }),
    tensor("zero", { shape: [1] }),
  ];
  const first = tensors.length;
  for (const [name, shape, values] of outputs) {
    tensors.push(tensor(name, { shape }), tensor(`${name} values`, { shape, data: bytesOf(values) }));
  }
  return modelOf({
    tensors,
    inputs: [0],
    outputs: outputs.map((_, place) => first + 2 * place),
    operators: [
      { name: "SLICE", version: 1, inputs: [0, 1, 2], outputs: [3], options: {} },
      { name: "RESHAPE", version: 1, inputs: [3, 4], outputs: [5], options: { newShape: [1] } },
      { name: "MUL", version: 1, inputs: [5, 6], outputs: [7], options },
      ...outputs.map((_, place) => ({
        name: "ADD",
        version: 1,
        inputs: [first + 2 * place + 1, 7],
        outputs: [first + 2 * place],
        options,
      })),
    ],
  });
}

/** A picture of 8 x 8. */
export const square = { width: 8, height: 8, data: new Uint8Array(8 * 8 * 3) };
