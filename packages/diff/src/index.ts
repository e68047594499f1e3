/**
 * @nnhal/diff: which operation of a network computes otherwise on a device. Each operation runs alone, on the judge's values, and as the
 * network runs, on the device's own.
 */
export { type Allowance, type Compared, defaultAllowance } from "./allowance.ts";
export { type Arithmetic, arithmeticIn, arithmeticOf, floatPrecision, type Terms } from "./arithmetic.ts";
export { comparedTypesOf, type Judge, type Suspect } from "./context.ts";
export { type DiffOptions, diffModel, type ModelDiff } from "./diff-model.ts";
export type { OnOperation, OperationDiff, OperationValues, OperationVerdict, OutputDiff } from "./diff-operation.ts";
export { addDifferences, compareTensors, type Difference, realValuesOf, type ValueRange } from "./difference.ts";
export { matchNetworks, type NamedModel } from "./match-networks.ts";
export { createNetworkJudge, type NetworkJudge, type NetworkJudgeOptions } from "./network-judge.ts";
export type { Engine, TensorValue, Way } from "./prepared-part.ts";
export type { RecordedValues } from "./recorded.ts";
export {
  type DiffReport,
  type DiffSubject,
  type ReportedDifference,
  type ReportedOperation,
  reportDiff,
} from "./report.ts";
export { type Candidates, type Shrinking, shrinkBy } from "./shrink.ts";
export type { KeptState } from "./states.ts";
export type { TogetherDiff } from "./together.ts";
export type { JudgeValue, RecordedValue } from "./values.ts";
export { type DiffVerdict, judgeDiff } from "./verdict.ts";
