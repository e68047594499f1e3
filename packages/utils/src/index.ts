/**
 * @nnhal/utils: what drivers and frameworks share, except validation. Drawings of models are in
 * `@nnhal/utils/graph`, codecs in `@nnhal/utils/codec`, and what needs Node.js in `@nnhal/utils/node`.
 */
export { combineDimensions } from "@nnhal/operations";
export { lookup, nonExtensionOperandPerformance, noPerformanceInfo, update } from "./capabilities.ts";
export { constantBytes } from "./constant-bytes.ts";
export {
  deadlineOf,
  durationOf,
  earlierDeadline,
  hasDeadlinePassed,
  makeDeadline,
  makeTimeoutDuration,
  makeTimePoint,
} from "./deadline.ts";
export { type MergedExtensions, mergeExtensions } from "./extensions.ts";
export { modelSummary } from "./graph/summary.ts";
export { ifPermitted } from "./if-permitted.ts";
export { loadOnce } from "./load-once.ts";
export {
  createLogger,
  defaultLogger,
  type Logger,
  type LoggerOptions,
  type LogMessage,
  silentLogger,
} from "./log/logger.ts";
export { environmentProperties, getProp, type PropertySource } from "./log/properties.ts";
export { consoleSink, formatLogEntry, type LogEntry, type LogSeverity, type LogSink } from "./log/sink.ts";
export { ALL_VLOG_TAGS, parseVLogMask, VLOG_PROPERTY, VLogFlag, type VLogTag, vlogTagNames } from "./log/vlog-mask.ts";
export {
  alignBytesNeeded,
  getOperandTypeName,
  getOperationName,
  isExtensionOperandType,
  isExtensionOperationType,
  nonExtensionOperandSizeOfData,
  nonExtensionOperandSizeOfDataOverflowsUInt32,
  nonExtensionOperandTypeIsScalar,
  sizeOfTensorData,
  sizeOfTensorDataOverflowsUInt32,
  tensorHasUnspecifiedDimensions,
} from "./operand.ts";
export { plain } from "./plain.ts";
export {
  convertErrorStatusToResultCode,
  convertResultCodeToErrorStatus,
  type ExecutionAnswer,
  getExecutionResult,
  isErrorStatus,
  notMeasured,
  ResultCode,
} from "./status.ts";
export { type ChromeTrace, type ChromeTraceEvent, type ChromeTraceOptions, toChromeTrace } from "./trace/chrome.ts";
export type { TraceLayer, TracePhase } from "./trace/phases.ts";
export {
  createTraceRecorder,
  type RecordedSection,
  type Trace,
  type TraceRecorder,
  type TraceRecorderOptions,
} from "./trace/recorder.ts";
export { formatTraceTable, type TraceTable, type TraceTableRow, toTraceTable } from "./trace/table.ts";
export { inSection, noTracer, type Section, type SectionKind, sectionMark, type Tracer } from "./trace/tracer.ts";
export { createUsage, type Usage } from "./usage.ts";
export { whenCollected } from "./when-collected.ts";
