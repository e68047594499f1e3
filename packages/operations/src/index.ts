/**
 * @nnhal/operations: one record for each operation of the NN HAL, and the functions that read the records. The builders for
 * definitions of further operations are in `@nnhal/operations/authoring`.
 */
export { activationFunction, activationRange, quantisedActivationRange } from "./activation.ts";
export {
  bindArguments,
  bindInputs,
  bindOutputs,
  inferOutputs,
  isInferable,
  normaliseArguments,
  rankProblem,
  requiredVersion,
} from "./bind.ts";
export { byteSize, type ElementFacts, isUnspecified, specifiedByteSize } from "./byte-size.ts";
export { byteLength, copyTensorData, decodeTensorData, encodeTensorData, isView } from "./codec.ts";
export type { FlexMap, FlexValue, OptionValues, StoredOptions } from "./custom-options.ts";
export type {
  AnyOutputInfos,
  Form,
  KernelContext,
  OperandInfo,
  Operation,
  OutputInfo,
  RankRule,
  TypedForm,
  TypedOperation,
  TypeRow,
  Widened,
} from "./define.ts";
export type { DefinitionArgs, DefinitionFormArgs, DefinitionOutputs } from "./definition-args.ts";
export { operations } from "./definitions.ts";
export { elementAt } from "./element-at.ts";
export {
  describeExtension,
  type ExtensionDefinition,
  extensionCode,
  extensionTypes,
  isExtensionName,
  splitExtensionCode,
  type TypedExtension,
} from "./extension.ts";
export { ensure, OperationError } from "./fail.ts";
export { clamp, roundHalfAway, roundHalfEven } from "./fixed-point.ts";
export { fromFloat16Bits, roundAllToFloat16, roundToFloat16, toFloat16Bits } from "./float16.ts";
export {
  latestVersion,
  layOut,
  type Match,
  type MaybeType,
  type Mismatch,
  matchOperation,
  typesOfRow,
} from "./match.ts";
export {
  type AnyOperandType,
  type AnyTensorData,
  type ExtensionDataCodec,
  type ExtensionDataConstructor,
  type ExtensionOperandType,
  elementFactsOf,
  halTypeName,
  isExtensionType,
  isSameType,
  numbersPerElement,
  typeText,
} from "./operand-type.ts";
export type {
  FormArgs,
  OperationArgs,
  OperationName,
  OperationOutputs,
} from "./operation-args.ts";
export type { OperationTypes } from "./operation-types.gen.ts";
export { type ImageLayout, imageLayout } from "./ops/_image.ts";
export { type PreluSteps, preluSteps } from "./ops/_prelu-steps.ts";
export { type SumMultipliers, sumMultipliers, sumRatios } from "./ops/_quantised-sum.ts";
export { expectKnownOptions, nearestName, type OptionNames, unknownOption } from "./options.ts";
export type {
  AnyArg,
  AnyArgs,
  AnyOutputs,
  ArgsOf,
  FixedParam,
  OutputsOf,
  Param,
  ParamKind,
  VaryingParam,
} from "./params.ts";
export {
  type Filled,
  type KernelResult,
  type Phase,
  phasesOf,
  runIfShort,
  runInSteps,
  runToEnd,
  STEPS_BETWEEN_PAUSES,
} from "./phases.ts";
export { byNeed, ensureLoaded, loadOperations, NotLoadedError, operationByCode, whenLoaded } from "./registry.ts";
export {
  combineDimensions,
  extentProduct,
  formatShape,
  refineDimensions,
  resolveAxis,
  sameShape,
  stridesOf,
} from "./shape.ts";
export {
  createData,
  dataConstructor,
  elementCount,
  heldBytes,
  integerRange,
  isFloat,
  isTensorType,
  type OutputTensor,
  type Tensor,
  type TensorData,
  type TensorInfo,
  tensorInfo,
} from "./tensor.ts";
export { transposeMatrix } from "./transpose-matrix.ts";
export {
  describedFacts,
  type FactsByCode,
  factsByCode,
  factsIn,
  type NamedFacts,
  namedFacts,
  operandTypeText,
  operationText,
  type VendorDefinitions,
  type Vocabulary,
  vocabularyOf,
} from "./vocabulary.ts";
export { dilatedExtent, imageAxes, implicitPadding, type Padding, PaddingScheme } from "./window.ts";
export { type AnyExtents, type Extents, type Work, type WorkKind, workKinds } from "./work.ts";
export { workOf } from "./work-of.ts";
