/**
 * @nnhal/validation: which rules of the NN HAL a model, request, buffer, pool or capability breaks, and which HAL version
 * a model needs. It reads the type tables of @nnhal/types and the definitions of @nnhal/operations, accepts hostile
 * input, and never throws.
 */
export { capabilitiesIssues, validateCapabilities } from "./capabilities.ts";
export { sameExtraParams } from "./compatible.ts";
export type { ValidationMode, VersionRequirement } from "./context.ts";
export { extensionIssues, validateExtensions } from "./extension.ts";
export {
  BrokenAnswer,
  hasFields,
  readCacheFileCounts,
  readCapabilities,
  readDeviceStatus,
  readDeviceType,
  readExtensions,
  readOutcome,
  readSupport,
  readVersionString,
  takeCapabilities,
  throwBroken,
  type UncheckedFields,
} from "./facts.ts";
export { defaultIssueLimit, type Issue, show } from "./issues.ts";
export {
  type AllocationRequest,
  type BufferOperand,
  describeBuffer,
  type MemoryDescResult,
  memoryDescIssues,
  type PreparedModelRecord,
  validateMemoryDesc,
} from "./memory-desc.ts";
export { type MinimumVersionOptions, minimumVersion, versionRequirements } from "./minimum-version.ts";
export {
  analyseModel,
  type InferredShapes,
  type ModelAnalysis,
  type ModelValidationOptions,
  modelIssues,
  validateModel,
} from "./model.ts";
export type { SealedModel } from "./model-copy.ts";
export { operandTypeIssues } from "./operand.ts";
export { poolIssues, validatePool } from "./pool.ts";
export { deviceRequestIssues, type RequestValidationOptions, requestIssues, validateRequest } from "./request.ts";
export { type CheckedResult, checkResult, type ExpectedOutput, type ResultValidationOptions } from "./result.ts";
export { type Rule, type RuleCode, rules } from "./rules.ts";
export { type SealOptions, sealModel } from "./sealed-model.ts";
export { longestList, TooLong, takeList, takeNumbers, Unreadable } from "./take.ts";
export {
  greatestAidlPrefix,
  isLostInAidl,
  validateExecutionPreference,
  validatePriority,
  validOperandType,
  validOperationType,
} from "./type-ranges.ts";
