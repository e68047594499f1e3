/**
 * @nnhal/network/session: the session on which `load` stands, for programs that read models and open devices themselves, such as the
 * command line: prepared models that run on bytes, with trace, log, states, cache and times as options.
 */
export { halVersionOf, type Selection } from "./devices.ts";
export type { InputBytes } from "./execute.ts";
export { type Extension, extensionsIn } from "./extensions.ts";
export { describeKnown, type KnownModel } from "./known-outputs.ts";
export {
  createStepTimer,
  hasEmpty,
  type Load,
  type MeasuredModel,
  measureModel,
  type StepTimer,
  withEmpty,
} from "./measure.ts";
export type { ModelFile } from "./model-file.ts";
export { modelToken } from "./model-token.ts";
export { nameOperations } from "./operation-names.ts";
export {
  type PreparedSession,
  type PreparedSessionOptions,
  type PrepareOptions,
  prepareSession,
} from "./prepared-session.ts";
export type { ModelBytes, ModelReadOptions, Source } from "./read.ts";
export { readModelApart, readOutside } from "./read-model.ts";
export type { RefusedModel } from "./refusal.ts";
export { serve } from "./serve.ts";
export type { Asked, Computed, Value } from "./session.ts";
export { openExtensions, refusalOfModel } from "./with-tools.ts";
