/** `.tflite` files: mutants, files with many outputs, and labels that unpack to far more than they are. */
import { flatbuffer, type PackedFile, withFiles } from "@nnhal/test-kit/packed-files";
import { type TfliteModel, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { mutantOf, type Reader, readerSurface } from "../reader/reader.ts";
import type { Kind } from "../surface.ts";

/** Made once: they are large before they are packed. */
let bombs: readonly Uint8Array[] | undefined;

/** SECURITY.md: a file of a few hundred kilobytes takes no more to load. */
const memory = 512 * 2 ** 20;

/** A model with an input, and as many sums of it as wanted, each an output. `data`: TFLite Metadata. */
export function sumsOf(outputs: number, data?: Uint8Array): Uint8Array {
  const tensor = (name: string): TfliteTensor => ({ name, type: "FLOAT32", isVariable: false, shape: [1] });
  const places = Array.from({ length: outputs }, (_, place) => place + 1);
  const model: TfliteModel = {
    ...{ version: 3, description: "hostile", signatures: [] },
    metadata: data === undefined ? [] : [{ name: "TFLITE_METADATA", data }],
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

/** A model with a packed file of labels for each output. */
export function labelWith(files: readonly (Uint8Array | PackedFile)[]): Uint8Array {
  const names = files.map((_, place) => `labels${place}.txt`);
  const outputs = names.map((name) => {
    const labels = [{ fields: [name, undefined, { byte: 2 }] }];
    return { fields: ["sum", undefined, undefined, undefined, undefined, undefined, labels] };
  });
  const subgraph = { fields: [undefined, undefined, [{ fields: ["given"] }], outputs] };
  const metadata = flatbuffer({ fields: ["hostile", undefined, undefined, [subgraph]] }, "M001");
  const packed = names.map((name, place) => [name, files[place] ?? new Uint8Array()] as const);
  return withFiles(sumsOf(files.length, metadata), Object.fromEntries(packed));
}

/** Labels that unpack to more than all of a model may have: in bytes, in lines, in several files, and under a false size. */
function labelBombs(): readonly Uint8Array[] {
  const bytes = new Uint8Array(2 ** 27).fill(0x61);
  const lines = new Uint8Array(2 ** 22).fill(0x0a);
  return [
    labelWith([bytes]),
    labelWith([lines]),
    labelWith([{ content: bytes, claimedSize: 4 }]),
    labelWith([{ content: lines, claimedSize: 2 ** 32 - 1 }]),
    labelWith(Array.from({ length: 16 }, () => lines)),
  ];
}

/** The request to a program that loads files. */
export function importKinds({ readBytes }: Pick<Reader, "readBytes">): readonly Kind[] {
  return [
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
        if (String(result) !== "300,0") throw new Error(`300 outputs were read as ${result}`);
      },
    },
    {
      name: "tflite-labels",
      async send() {
        // Two lines of labels are read, so that labels after them are refused for their size.
        const honest = await readBytes("model", labelWith([new TextEncoder().encode("ant\nbee\n")]));
        if (String(honest) !== "1,2") throw new Error(`two labels were read as ${honest}`);
        bombs ??= labelBombs();
        for (const bomb of bombs) {
          const result = await readBytes("model", bomb);
          if (!/^\d+,0$/.test(String(result))) throw new Error(`labels of ${bomb.length} bytes were read as ${result}`);
        }
      },
    },
  ];
}

export const importSurface = readerSurface(
  { name: "import", says: ".tflite files, loaded by a program", memory },
  importKinds,
);
