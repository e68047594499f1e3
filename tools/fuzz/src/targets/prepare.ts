/** Models that a device supports, prepares and executes. */
import { tfliteExtension } from "@nnhal/extension-tflite";
import { ErrorStatus } from "@nnhal/types";
import { modelIssues } from "@nnhal/validation";
import { mustBeOutcome, preparedOf } from "../answers.ts";
import { openReference, soon } from "../device.ts";
import { executeOnce } from "../execute.ts";
import { modelOf, readModel } from "../model-input.ts";
import { mutateModel } from "../mutate/model.ts";
import { must, type Target } from "../target.ts";

export const prepare: Target = {
  name: "prepare",
  says: "a model is prepared on the reference device, and executed: a status for everything, and valid models are not refused as invalid",
  corpus: "model",
  longest: 16_384,
  packages: ["driver-core", "backend", "backend-reference", "operations", "extension-tflite", "validation"],
  mutate: mutateModel,
  async open() {
    const device = await openReference();
    return {
      async run(input) {
        const read = readModel(input);
        if (read === undefined) return;
        const model = modelOf(read);
        const isValid = modelIssues(model, { extensions: [tfliteExtension] }).length === 0;
        const support = await device.getSupportedOperations(model);
        mustBeOutcome("getSupportedOperations", support);
        must(
          (support.status === ErrorStatus.NONE) === isValid,
          () => `validation says ${isValid}, getSupportedOperations ${support.status}: ${support.message}`,
        );
        const result = await device.prepareModel(model, { deadline: soon() });
        const prepared = preparedOf("prepareModel", result);
        must(
          isValid || result.status === ErrorStatus.INVALID_ARGUMENT,
          () => `an invalid model has status ${result.status}`,
        );
        const isSupported = isValid && support.supported.every(Boolean);
        must(
          !isSupported || result.status !== ErrorStatus.INVALID_ARGUMENT,
          () => `a model that is supported is INVALID_ARGUMENT: ${result.message}`,
        );
        if (prepared === undefined) return;
        await executeOnce(model, prepared, read.elements);
        prepared.close();
      },
      close: () => device.close(),
    };
  },
};
