/** Models and everything that looks at them without a device. */

import { complianceWith, sliceModel } from "@nnhal/driver-core/versions";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { halVersions } from "@nnhal/types";
import { modelSummary } from "@nnhal/utils";
import { graphDump, graphToJson } from "@nnhal/utils/graph";
import { analyseModel, minimumVersion, modelIssues, validateModel } from "@nnhal/validation";
import { modelOf, readModel } from "../model-input.ts";
import { mutateModel } from "../mutate/model.ts";
import { must, type Target } from "../target.ts";

export const validation: Target = {
  name: "validation",
  says: "a model is validated for every version, and if it is valid converted, sorted by version, drawn and summarised",
  corpus: "model",
  longest: 16_384,
  packages: ["validation", "driver-core", "utils", "operations", "extension-tflite"],
  mutate: mutateModel,
  async open() {
    return {
      run(input) {
        const read = readModel(input);
        if (read === undefined) return;
        const model = modelOf(read);
        const { issues } = analyseModel(model, { extensions: [tfliteExtension] });
        must(
          issues.every(({ message, path }) => message !== "" && path !== undefined),
          () => "an issue has no message",
        );
        for (const version of halVersions) validateModel(model, { version });
        must(issues.length > 0 === !validateModel(model, { extensions: [tfliteExtension] }), () => "two answers");
        if (issues.length > 0) return;
        const needed = minimumVersion(model);
        must(needed === undefined || halVersions.includes(needed), () => `the model needs HAL ${needed}`);
        modelSummary(model);
        JSON.stringify(graphToJson("model", model));
        graphDump("model", model, { write: () => {} });
        for (const version of halVersions) {
          complianceWith(version).model(model);
          if (version === "1.3") continue;
          const slice = sliceModel(model, version);
          if (!("model" in slice)) continue;
          const [issue] = modelIssues(slice.model, { extensions: [tfliteExtension] });
          must(issue === undefined, () => `a slice for HAL ${version} is not valid: ${issue?.path}: ${issue?.message}`);
        }
      },
      close: async () => {},
    };
  },
};
