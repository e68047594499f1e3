/**
 * Small .tflite files.
 */
import { fileURLToPath } from "node:url";
import { type TfliteModel, type TfliteTensor, writeTflite } from "@nnhal/tflite";

type Given = Partial<TfliteTensor> & Pick<TfliteTensor, "shape">;

/** The folder of the demo's network and pictures. */
export const demoFolder = fileURLToPath(new URL("../../../apps/cli/demo/", import.meta.url));

export function tensor(name: string, given: Given): TfliteTensor {
  return { name, type: "FLOAT32", isVariable: false, ...given };
}

export function modelOf(
  subgraph: Pick<TfliteModel["subgraphs"][0], "tensors" | "inputs" | "outputs" | "operators">,
  signatures: TfliteModel["signatures"] = [],
): Uint8Array {
  const subgraphs = [{ name: "main", ...subgraph }];
  return writeTflite({ version: 3, description: "test", subgraphs, metadata: [], signatures });
}

/** The quantisation of a test tensor. */
export function quantise(scale: number, zeroPoint: number): Pick<TfliteTensor, "quantization"> {
  return { quantization: { scale: [Math.fround(scale)], zeroPoint: [zeroPoint], quantizedDimension: 0 } };
}

/** A model whose output `passed` is its input `given` in the shape [1, elements], or in one dimension if an extent is open. */
export function passingModel(input: Given): Uint8Array {
  const count = input.shape.reduce((product, extent) => product * extent, 1);
  const newShape = input.shapeSignature === undefined ? [1, count] : [-1];
  const shape = input.shapeSignature === undefined ? newShape : [count];
  const signature = input.shapeSignature === undefined ? {} : { shapeSignature: [-1] };
  return modelOf({
    tensors: [tensor("given", input), tensor("passed", { ...input, shape, ...signature })],
    inputs: [0],
    outputs: [1],
    operators: [{ name: "RESHAPE", version: 1, inputs: [0], outputs: [1], options: { newShape } }],
  });
}

/** A model that adds its two inputs of the shape [2, 2]. */
export function addingModel(): Uint8Array {
  const shape = [2, 2];
  return modelOf({
    tensors: [tensor("left", { shape }), tensor("right", { shape }), tensor("sum", { shape })],
    inputs: [0, 1],
    outputs: [2],
    operators: [
      { name: "ADD", version: 1, inputs: [0, 1], outputs: [2], options: { fusedActivationFunction: "NONE" } },
    ],
  });
}

/** A model with an operator that no device has. */
export function unknownOperatorModel(): Uint8Array {
  return modelOf({
    tensors: [tensor("given", { shape: [1, 2] }), tensor("made", { shape: [1, 2] })],
    inputs: [0],
    outputs: [1],
    operators: [{ name: "CUSTOM", customCode: "Frobnicate", version: 1, inputs: [0], outputs: [1], options: {} }],
  });
}

/** A model that remembers: its result is [10 * the number before + the number, 20 * the number before + 2 * the number]. */
export function rememberingModel(): Uint8Array {
  const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
  return modelOf({
    tensors: [
      tensor("given", { shape: [1, 1] }),
      tensor("feature", { shape: [2, 1], data: floats(1, 1) }),
      tensor("time", { shape: [2, 2], data: floats(10, 1, 20, 2) }),
      tensor("state", { shape: [1, 4], isVariable: true }),
      tensor("made", { shape: [1, 2] }),
    ],
    inputs: [0],
    outputs: [4],
    operators: [
      {
        name: "SVDF",
        version: 1,
        inputs: [0, 1, 2, -1, 3],
        outputs: [4],
        options: { rank: 1, fusedActivationFunction: "NONE" },
      },
    ],
  });
}
