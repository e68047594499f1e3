/** Custom operators of .tflite files: options in bytes of any kind, and the kernels that have them. */
import { mediapipe } from "@nnhal/extension-mediapipe";
import { importTflite, TfliteError } from "@nnhal/tflite";
import { mustBeOutcome, takePrepared } from "../answers.ts";
import { customFile, pickedExtension } from "../custom-operators.ts";
import { openReference, soon } from "../device.ts";
import { executeOnce } from "../execute.ts";
import { must, type Target } from "../target.ts";

const extensions = [mediapipe, pickedExtension];

export const custom: Target = {
  name: "custom",
  says: "the options of a custom operator: it is imported, prepared and executed, or refused by one TfliteError that names it",
  longest: 4096,
  packages: ["tflite", "extension-mediapipe"],
  async open() {
    const device = await openReference({}, extensions);
    return {
      async run(input) {
        const { customCode, bytes } = customFile(input);
        const imported = importOf(bytes, customCode);
        if (imported === undefined) return;
        const { model } = imported;
        mustBeOutcome("getSupportedOperations", await device.getSupportedOperations(model));
        const prepared = takePrepared("prepareModel", await device.prepareModel(model, { deadline: soon() }));
        if (prepared === undefined) return;
        await executeOnce(model, prepared, input);
        prepared.close();
      },
      close: () => device.close(),
    };
  },
};

function importOf(bytes: Uint8Array, customCode: string) {
  try {
    return importTflite(bytes, { customOperators: extensions });
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    const [problem] = error.problems;
    must(problem?.operator?.customCode === customCode, () => `a refusal does not name ${customCode}: ${error.message}`);
    return undefined;
  }
}
