/**
 * @nnhal/utils: what drivers and frameworks share beside validation.
 */
export { combineDimensions } from "@nnhal/operations";
export * from "./capabilities.ts";
export { describeNeed, type Need, noncompliantOperations, unmetNeeds } from "./compliance/needs.ts";
export {
  type Compliance,
  complianceWith,
  compliantWithV1_0,
  compliantWithV1_1,
  compliantWithV1_2,
  compliantWithV1_3,
} from "./compliance/with.ts";
export type { AnyCapabilities, AnyModel, AnyOperand, AnyRequest } from "./convert/any.ts";
export type { Conversion, Loss, WarningSink } from "./convert/conversion.ts";
export * as convertToV1_0 from "./convert/v1-0.ts";
export * as convertToV1_1 from "./convert/v1-1.ts";
export * as convertToV1_2 from "./convert/v1-2.ts";
export * as convertToV1_3 from "./convert/v1-3.ts";
export * from "./deadline.ts";
export type { ShownValue } from "./graph/constant-value.ts";
export { type DotOptions, dotVisitor } from "./graph/dot.ts";
export { type GraphJson, type GraphJsonSubgraph, graphToJson } from "./graph/json.ts";
export { modelSummary } from "./graph/summary.ts";
export * from "./graph/visit.ts";
export * from "./graph-dump.ts";
export * from "./log/logger.ts";
export * from "./log/properties.ts";
export * from "./log/sink.ts";
export * from "./log/vlog-mask.ts";
export * from "./operand.ts";
export * from "./slice.ts";
export * from "./status.ts";
export * from "./trace/chrome.ts";
export * from "./trace/phases.ts";
export * from "./trace/recorder.ts";
export * from "./trace/table.ts";
export * from "./trace/tracer.ts";
export * from "./usage.ts";
