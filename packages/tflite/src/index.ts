/**
 * @nnhal/tflite: reads and writes .tflite models, and turns them into HAL models.
 */
export type { TfliteBytes } from "./arguments.ts";
export { mayHaveParts, type TfliteContainer, type TflitePart } from "./container/part.ts";
export { tfliteParts } from "./container/parts.ts";
export type { BrokenRule } from "./describe/broken-rules.ts";
export { type InspectionOptions, inspectTflite, type TfliteInspection } from "./describe/inspect.ts";
export {
  type AssociatedFile,
  type ModelMetadata,
  modelMetadata,
  type TensorMetadata,
  type TokenizerMetadata,
} from "./describe/model-metadata.ts";
export { type PackedFile, packedFiles, readPackedFile } from "./describe/packed-files.ts";
export { problemsOf } from "./describe/problems-of.ts";
export { type ProblemOperator, type ProblemTensor, TfliteError, type TfliteProblem } from "./error.ts";
export { importTflite } from "./import/import.ts";
export type {
  ImportedModel,
  ModelState,
  OperatorOrigin,
  SignatureDescription,
  SubgraphOrigin,
  TensorDescription,
} from "./import/imported-model.ts";
export type { ImportOptions } from "./import/options.ts";
export type { OperatorReport, OperatorStatus } from "./import/reports.ts";
export type { TfliteIssue } from "./indexes.ts";
export type {
  TfliteBlocks,
  TfliteExternal,
  TfliteMetadata,
  TfliteModel,
  TfliteOperator,
  TfliteQuantization,
  TfliteSignature,
  TfliteSparseDimension,
  TfliteSparsity,
  TfliteSubgraph,
  TfliteTensor,
} from "./model.ts";
export {
  hasExternalBuffers,
  tfliteNeeds,
} from "./outside.ts";
export type { ReadingOptions, TfliteNeeds, TfliteOutside, TfliteRange } from "./ranges.ts";
export { readTflite, tfliteIssues } from "./read.ts";
export { type BuiltinOperator, type BuiltinOperatorName, builtinOperators } from "./schema/builtin-operators.ts";
export { type TensorTypeName, tensorTypes } from "./schema/codes.ts";
export type { OptionValue } from "./schema/options.ts";
export { createStates, type StateInput, type States, type StateValue } from "./states.ts";
export { writeTflite } from "./write.ts";
