/** Models that a device supports, prepares and executes. */

import type { OpenedDevice } from "@nnhal/driver-core/device";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { ErrorStatus } from "@nnhal/types";
import { modelIssues } from "@nnhal/validation";
import { mustBeOutcome, takePrepared } from "../answers.ts";
import { openReference, openWasm, soon } from "../device.ts";
import { executeOnce } from "../execute.ts";
import { modelOf, readModel } from "../model-input.ts";
import { mutateModel } from "../mutate/model.ts";
import { must, type Target, type Trial } from "../target.ts";

const packages = ["driver-core", "backend", "operations", "extension-tflite", "validation"];

/** On the reference. */
export const prepare: Target = {
  name: "prepare",
  says: "a model is prepared on the reference device, and executed: a status for everything, and valid models are not refused as invalid",
  corpus: "model",
  longest: 16_384,
  packages: [...packages, "backend-reference"],
  mutate: mutateModel,
  open: () => openTrial(openReference),
};

/** On the compiler to WebAssembly, which has said which operations it plans before it plans them all. */
export const wasm: Target = {
  name: "wasm",
  says: "a model is planned and compiled to WebAssembly, and executed: a status for everything, and what is supported is compiled",
  corpus: "model",
  longest: 16_384,
  packages: [...packages, "backend-wasm"],
  mutate: mutateModel,
  open: () => openTrial(openWasm, compiled),
};

const { NONE, MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT, INVALID_ARGUMENT } = ErrorStatus;
const { RESOURCE_EXHAUSTED_TRANSIENT, RESOURCE_EXHAUSTED_PERSISTENT } = ErrorStatus;

/** Statuses of a model that is supported: it may need more time or memory than there is. */
const compiled: readonly number[] = [
  NONE,
  MISSED_DEADLINE_TRANSIENT,
  MISSED_DEADLINE_PERSISTENT,
  RESOURCE_EXHAUSTED_TRANSIENT,
  RESOURCE_EXHAUSTED_PERSISTENT,
];

/** `allowed`: the statuses of a model that is supported. Default: all but INVALID_ARGUMENT. */
async function openTrial(open: () => Promise<OpenedDevice>, allowed?: readonly number[]): Promise<Trial> {
  const device = await open();
  return {
    async run(input) {
      const read = readModel(input);
      if (read === undefined) return;
      const model = modelOf(read);
      const isValid = modelIssues(model, { extensions: [tfliteExtension] }).length === 0;
      const support = await device.getSupportedOperations(model);
      mustBeOutcome("getSupportedOperations", support);
      must(
        (support.status === NONE) === isValid,
        () => `validation says ${isValid}, getSupportedOperations ${support.status}: ${support.message}`,
      );
      const result = await device.prepareModel(model, { deadline: soon() });
      const prepared = takePrepared("prepareModel", result);
      must(isValid || result.status === INVALID_ARGUMENT, () => `an invalid model has status ${result.status}`);
      const isSupported = isValid && support.supported.every(Boolean);
      must(
        !isSupported || (allowed?.includes(result.status) ?? result.status !== INVALID_ARGUMENT),
        () => `a model that is supported has status ${result.status}: ${result.message}`,
      );
      if (prepared === undefined) return;
      await executeOnce(model, prepared, read.elements);
      prepared.close();
    },
    close: () => device.close(),
  };
}
