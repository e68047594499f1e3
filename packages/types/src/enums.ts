/**
 * The smaller enums of the HAL. Operand and operation types are in operand-type.ts and operation-type.ts.
 */
import { type CodesOf, codesOf, type EnumTable, namesOf } from "./table.ts";

/** Where an operand's value comes from and how long it lives (HAL OperandLifeTime). */
export const operandLifeTimes = {
  /** Written by one operation and read by others of the same subgraph. */
  TEMPORARY_VARIABLE: { code: 0, since: "1.0" },
  /** An input of the subgraph (1.0 – 1.2: MODEL_INPUT). */
  SUBGRAPH_INPUT: { code: 1, since: "1.0" },
  /** An output of the subgraph (1.0 – 1.2: MODEL_OUTPUT). */
  SUBGRAPH_OUTPUT: { code: 2, since: "1.0" },
  /** A constant inside `Model.operandValues`. */
  CONSTANT_COPY: { code: 3, since: "1.0" },
  /** A constant inside one of `Model.pools`. */
  CONSTANT_REFERENCE: { code: 4, since: "1.0" },
  /** An optional operand that is omitted. */
  NO_VALUE: { code: 5, since: "1.0" },
  /** A reference to one of `Model.referenced`; `location.offset` is its index. */
  SUBGRAPH: { code: 6, since: "1.3" },
} as const satisfies EnumTable;
export const OperandLifeTime = codesOf(operandLifeTimes);
export const operandLifeTimeNames = namesOf(operandLifeTimes);

/** The outcome of a HAL call (HAL ErrorStatus). */
export const errorStatuses = {
  NONE: { code: 0, since: "1.0" },
  /** The device is offline, busy or gone; the same call may succeed later. */
  DEVICE_UNAVAILABLE: { code: 1, since: "1.0" },
  GENERAL_FAILURE: { code: 2, since: "1.0" },
  /** A caller's output buffer is too small; the answer carries the shapes that are needed. */
  OUTPUT_INSUFFICIENT_SIZE: { code: 3, since: "1.0" },
  /** An argument breaks a rule of the HAL. */
  INVALID_ARGUMENT: { code: 4, since: "1.0" },
  /** The deadline passed; with the same deadline a later try may succeed. */
  MISSED_DEADLINE_TRANSIENT: { code: 5, since: "1.3" },
  /** The deadline passed; with the same deadline no later try will succeed. */
  MISSED_DEADLINE_PERSISTENT: { code: 6, since: "1.3" },
  /** A resource ran out; a later try may succeed. */
  RESOURCE_EXHAUSTED_TRANSIENT: { code: 7, since: "1.3" },
  /** A resource is too small for the request; no later try will succeed. */
  RESOURCE_EXHAUSTED_PERSISTENT: { code: 8, since: "1.3" },
} as const satisfies EnumTable;
export const ErrorStatus = codesOf(errorStatuses);
export type ErrorStatus = (typeof ErrorStatus)[keyof typeof ErrorStatus];
export const errorStatusNames = namesOf(errorStatuses);

/** Activation applied to an operation's result (HAL FusedActivationFunc). */
export const fusedActivationFuncs = {
  NONE: { code: 0, since: "1.0" },
  /** [0, ∞) */
  RELU: { code: 1, since: "1.0" },
  /** [-1, 1] */
  RELU1: { code: 2, since: "1.0" },
  /** [0, 6] */
  RELU6: { code: 3, since: "1.0" },
} as const satisfies EnumTable;
export const FusedActivationFunc = codesOf(fusedActivationFuncs);

/** Goal of a compilation (HAL ExecutionPreference). */
export const executionPreferences = {
  /** Least energy per execution. */
  LOW_POWER: { code: 0, since: "1.1" },
  /** Least latency of a single execution. The default. */
  FAST_SINGLE_ANSWER: { code: 1, since: "1.1" },
  /** Most executions per second over a long time. */
  SUSTAINED_SPEED: { code: 2, since: "1.1" },
} as const satisfies EnumTable;
export const ExecutionPreference = codesOf(executionPreferences);
export type ExecutionPreference = (typeof ExecutionPreference)[keyof typeof ExecutionPreference];

/** Relative importance among the prepared models of one client (HAL Priority). */
export const priorities = {
  LOW: { code: 0, since: "1.3" },
  /** The default. */
  MEDIUM: { code: 1, since: "1.3" },
  HIGH: { code: 2, since: "1.3" },
} as const satisfies EnumTable;
export const Priority = codesOf(priorities);
export type Priority = (typeof Priority)[keyof typeof Priority];

/** Kind of a device (HAL DeviceType). */
export const deviceTypes = {
  OTHER: { code: 1, since: "1.2" },
  CPU: { code: 2, since: "1.2" },
  GPU: { code: 3, since: "1.2" },
  /** A dedicated accelerator. */
  ACCELERATOR: { code: 4, since: "1.2" },
} as const satisfies EnumTable;
export const DeviceType = codesOf(deviceTypes);
export type DeviceType = (typeof DeviceType)[keyof typeof DeviceType];
export const deviceTypeNames = namesOf(deviceTypes);

/** Readiness of a device to take work (HAL DeviceStatus). */
export const deviceStatuses = {
  AVAILABLE: { code: 0, since: "1.0" },
  BUSY: { code: 1, since: "1.0" },
  OFFLINE: { code: 2, since: "1.0" },
  UNKNOWN: { code: 3, since: "1.0" },
} as const satisfies EnumTable;
export const DeviceStatus = codesOf(deviceStatuses);
export type DeviceStatus = (typeof DeviceStatus)[keyof typeof DeviceStatus];
export const deviceStatusNames = namesOf(deviceStatuses);

/** Choice of measuring the duration of an execution (HAL MeasureTiming). */
export const measureTimings = {
  NO: { code: 0, since: "1.2" },
  YES: { code: 1, since: "1.2" },
} as const satisfies EnumTable;
export const MeasureTiming = codesOf(measureTimings);
export type MeasureTiming = CodesOf<typeof measureTimings>[keyof typeof measureTimings];
