/** Files with operators that the HAL lacks: options of custom operators, data of extension types, and their kernels. */
import { importTflite, TfliteError } from "@nnhal/tflite";
import { mustBeOutcome, takePrepared } from "../answers.ts";
import { openReference, soon } from "../device.ts";
import { executeOnce } from "../execute.ts";
import { mutateFlatbuffer } from "../mutate/flatbuffer.ts";
import type { Target } from "../target.ts";

/** 0, 1 and 1.0: elements that are axes, sizes and numbers. */
const zeroOneOne = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 128, 63];

export const extension: Target = {
  name: "extension",
  says: "a .tflite file with operators of the extension is imported, prepared and executed",
  longest: 16_384,
  packages: ["tflite", "extension-tflite"],
  mutate: mutateFlatbuffer,
  async open() {
    const device = await openReference();
    return {
      async run(input) {
        const imported = importOf(input);
        if (imported === undefined) return;
        const { model } = imported;
        mustBeOutcome("getSupportedOperations", await device.getSupportedOperations(model));
        const prepared = takePrepared("prepareModel", await device.prepareModel(model, { deadline: soon() }));
        if (prepared === undefined) return;
        await executeOnce(model, prepared, Uint8Array.of(...zeroOneOne, ...input.subarray(-4)));
        prepared.close();
      },
      close: () => device.close(),
    };
  },
};

function importOf(input: Uint8Array) {
  try {
    return importTflite(input);
  } catch (error) {
    if (error instanceof TfliteError) return undefined;
    throw error;
  }
}
