/** `.tflite` files: mutants, and files with many outputs. */
import { type TfliteModel, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { mutantOf, readerSurface } from "../reader/reader.ts";

/** SECURITY.md: a file of a few hundred kilobytes takes no more to load. */
const memory = 512 * 2 ** 20;

/** A model with an input, and as many sums of it as wanted, each an output. */
export function sumsOf(outputs: number): Uint8Array {
  const tensor = (name: string): TfliteTensor => ({ name, type: "FLOAT32", isVariable: false, shape: [1] });
  const places = Array.from({ length: outputs }, (_, place) => place + 1);
  const model: TfliteModel = {
    ...{ version: 3, description: "hostile", metadata: [], signatures: [] },
    subgraphs: [
      {
        name: "main",
        tensors: [tensor("given"), ...places.map((place) => tensor(`sum${place}`))],
        inputs: [0],
        outputs: places,
        operators: places.map((place) => ({
          ...{ name: "ADD", version: 1, inputs: [0, 0], outputs: [place] },
          options: { fusedActivationFunction: "NONE" },
        })),
      },
    ],
  };
  return writeTflite(model);
}

export const importSurface = readerSurface(
  { name: "import", says: ".tflite files, loaded by a program", memory },
  ({ readBytes }) => [
    {
      name: "tflite-mutants",
      async send(random) {
        for (let count = 0; count < 50; count++) await readBytes("model", mutantOf(sumsOf(3), random));
      },
    },
    {
      name: "tflite-outputs",
      async send() {
        const result = await readBytes("model", sumsOf(300));
        if (String(result) !== "300") throw new Error(`300 outputs were read as ${result}`);
      },
    },
  ],
);
