/**
 * The table of methods: a row for each method of the HAL, and for the few messages that HIDL sends implicitly. Clients and servers
 * read it: a row says how arguments and results are written, and what the result is if there is no answer.
 */
import { DeviceStatus, type Outcome } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import {
  bytes,
  type Codec,
  flag,
  float64,
  list,
  nullable,
  optional,
  struct,
  text,
  uint32,
  uint64,
} from "@nnhal/utils/codec";
import * as values from "./values.ts";

const { outcome } = values;

/** A method that is answered. */
export interface Method<Arguments, Result> {
  readonly name: string;
  /** Identifies the method in frames. Never used again for another. */
  readonly code: number;
  readonly arguments: Codec<Arguments>;
  readonly result: Codec<Result>;
  /** The result of a call that failed: the peer is gone, has refused the frame, or has answered nonsense. */
  answerFailure(outcome: Outcome): Result;
}

/** A message that is not answered. */
export interface Notice<Arguments> {
  readonly name: string;
  readonly code: number;
  readonly arguments: Codec<Arguments>;
}

/** Arguments of a method that has none: nothing is written. */
const none: Codec<object> = struct<object>({});
const onlyOutcome = struct({ outcome });
const onlyFailed = (failed: Outcome) => ({ outcome: failed });

function method<Arguments, Result>(
  code: number,
  name: string,
  parts: Pick<Method<Arguments, Result>, "arguments" | "result" | "answerFailure">,
): Method<Arguments, Result> {
  return { name, code, ...parts };
}

function notice<Arguments>(code: number, name: string, codec: Codec<Arguments>): Notice<Arguments> {
  return { name, code, arguments: codec };
}

const executeOptions = {
  measure: optional(values.measureTiming),
  deadline: optional(uint64),
  loopTimeoutDuration: optional(uint64),
};
const fencedArguments = {
  request: values.request,
  waitFor: list(nullable(values.fence)),
  ...executeOptions,
  duration: optional(uint64),
};
const fencedResult = struct({ outcome, syncFence: nullable(values.fence), callback: nullable(uint32) });
const failedFenced = (failed: Outcome) => ({ outcome: failed, syncFence: null, callback: null });
const prepareOptions = {
  model: values.model,
  preference: optional(values.preference),
  priority: optional(values.priority),
  deadline: optional(uint64),
  cache: optional(values.cache),
};
const failedExecution = (failed: Outcome) => ({ outcome: failed, outputShapes: [], timing: notMeasured });

const prepared = struct({
  outcome,
  preparedModel: nullable(struct({ id: uint32, executeFenced: flag, configureExecutionBurst: flag })),
});
const failedPreparation = (failed: Outcome) => ({ outcome: failed, preparedModel: null });
const channel = struct({ memory: values.memory, capacity: uint32, datum: text });

/** Methods of IDevice. */
export const device = {
  getCapabilities: method(1, "getCapabilities", {
    arguments: none,
    result: struct({ outcome, capabilities: nullable(values.capabilities) }),
    answerFailure: (failed) => ({ outcome: failed, capabilities: null }),
  }),
  getType: method(2, "getType", {
    arguments: none,
    result: struct({ outcome, type: values.deviceType }),
    answerFailure: (failed) => ({ outcome: failed, type: 0 as const }),
  }),
  getVersionString: method(3, "getVersionString", {
    arguments: none,
    result: struct({ outcome, version: text }),
    answerFailure: (failed) => ({ outcome: failed, version: "" }),
  }),
  getSupportedExtensions: method(4, "getSupportedExtensions", {
    arguments: none,
    result: struct({ outcome, extensions: values.extensions }),
    answerFailure: (failed) => ({ outcome: failed, extensions: [] }),
  }),
  getSupportedOperations: method(5, "getSupportedOperations", {
    arguments: struct({ model: values.model }),
    result: struct({
      outcome,
      supported: list(flag),
      reasons: list(optional(text)),
      dispatches: optional(list(float64)),
    }),
    answerFailure: (failed) => ({ outcome: failed, supported: [], reasons: [], dispatches: undefined }),
  }),
  getNumberOfCacheFilesNeeded: method(6, "getNumberOfCacheFilesNeeded", {
    arguments: none,
    result: struct({ outcome, numModelCache: uint32, numDataCache: uint32 }),
    answerFailure: (failed) => ({ outcome: failed, numModelCache: 0, numDataCache: 0 }),
  }),
  getStatus: method(7, "getStatus", {
    arguments: none,
    result: struct({ status: values.deviceStatus }),
    answerFailure: () => ({ status: DeviceStatus.OFFLINE }),
  }),
  prepareModel: method(8, "prepareModel", {
    arguments: struct(prepareOptions),
    result: prepared,
    answerFailure: failedPreparation,
  }),
  /** Since version 2. */
  prepareModelWithHints: method(11, "prepareModelWithHints", {
    arguments: struct({ ...prepareOptions, hints: optional(values.hints) }),
    result: prepared,
    answerFailure: failedPreparation,
  }),
  prepareModelFromCache: method(9, "prepareModelFromCache", {
    arguments: struct({ cache: values.cache, deadline: optional(uint64) }),
    result: prepared,
    answerFailure: failedPreparation,
  }),
  allocate: method(10, "allocate", {
    arguments: struct({
      dimensions: list(uint32),
      preparedModels: list(nullable(uint32)),
      inputRoles: values.roles,
      outputRoles: values.roles,
    }),
    result: struct({ outcome, buffer: nullable(uint32), token: float64, inHostMemory: flag }),
    answerFailure: (failed) => ({ outcome: failed, buffer: null, token: 0, inHostMemory: false }),
  }),
};

/** Methods of IPreparedModel. */
export const preparedModel = {
  execute: method(20, "execute", {
    arguments: struct({ request: values.request, ...executeOptions }),
    result: values.executionResult,
    answerFailure: failedExecution,
  }),
  executeFenced: method(21, "executeFenced", {
    arguments: struct(fencedArguments),
    result: fencedResult,
    answerFailure: failedFenced,
  }),
  /** Since version 2, and so are the following with configurations. */
  executeWithConfig: method(23, "executeWithConfig", {
    arguments: struct({ request: values.paddedRequest, ...executeOptions, hints: optional(values.hints) }),
    result: values.executionResult,
    answerFailure: failedExecution,
  }),
  executeFencedWithConfig: method(24, "executeFencedWithConfig", {
    arguments: struct({ ...fencedArguments, request: values.paddedRequest, hints: optional(values.hints) }),
    result: fencedResult,
    answerFailure: failedFenced,
  }),
  createReusableExecution: method(25, "createReusableExecution", {
    arguments: struct({
      request: values.paddedRequest,
      measure: optional(values.measureTiming),
      loopTimeoutDuration: optional(uint64),
      hints: optional(values.hints),
    }),
    result: struct({ outcome, execution: nullable(uint32) }),
    answerFailure: (failed) => ({ outcome: failed, execution: null }),
  }),
  configureExecutionBurst: method(22, "configureExecutionBurst", {
    arguments: struct({ callback: nullable(uint32), requestChannel: channel, resultChannel: channel }),
    result: struct({ outcome, context: nullable(uint32) }),
    answerFailure: (failed) => ({ outcome: failed, context: null }),
  }),
};

/** Methods of IExecution, since version 2. */
export const reusable = {
  execute: method(26, "ReusableExecution.execute", {
    arguments: struct({ deadline: optional(uint64) }),
    result: values.executionResult,
    answerFailure: failedExecution,
  }),
  executeFenced: method(27, "ReusableExecution.executeFenced", {
    arguments: struct({
      waitFor: list(nullable(values.fence)),
      deadline: optional(uint64),
      duration: optional(uint64),
    }),
    result: fencedResult,
    answerFailure: failedFenced,
  }),
};

/** Methods of IBuffer. */
export const buffer = {
  copyTo: method(30, "copyTo", {
    arguments: struct({ memory: values.memory }),
    result: onlyOutcome,
    answerFailure: onlyFailed,
  }),
  copyFrom: method(31, "copyFrom", {
    arguments: struct({ memory: values.memory, dimensions: list(uint32) }),
    result: onlyOutcome,
    answerFailure: onlyFailed,
  }),
};

/** Methods of IFencedExecutionCallback. */
export const fencedCallback = {
  getExecutionInfo: method(40, "getExecutionInfo", {
    arguments: none,
    result: struct({ outcome, timingLaunched: values.timing, timingFenced: values.timing }),
    answerFailure: (failed) => ({ outcome: failed, timingLaunched: notMeasured, timingFenced: notMeasured }),
  }),
};

/** Methods of IBurstContext. */
export const burst = {
  freeMemory: method(50, "freeMemory", {
    arguments: struct({ slot: float64 }),
    result: onlyOutcome,
    answerFailure: onlyFailed,
  }),
};

/** Methods of IBurstCallback, which the server calls. */
export const burstCallback = {
  getMemories: method(60, "getMemories", {
    arguments: struct({ slots: list(float64) }),
    result: struct({ outcome, memories: list(values.memory) }),
    answerFailure: (failed) => ({ outcome: failed, memories: [] }),
  }),
};

/** Answers if the other side is alive. Both sides call it. */
export const ping = method(70, "ping", { arguments: none, result: onlyOutcome, answerFailure: onlyFailed });

/** Messages that are not answered. */
export const notices = {
  /** From the client: an object of the server is not used any more (`close`, or the last reference is gone). */
  release: notice(80, "release", struct({ object: uint32 })),
  /** From either side: a fence of the sender is not ACTIVE any more. */
  fenceSettled: notice(81, "fenceSettled", values.fence),
  /** From the client: what memory a number stands for. */
  defineMemory: notice(82, "defineMemory", struct({ memory: values.memory, definition: values.memoryDefinition })),
  /** From the client: a number is not used any more. */
  forgetMemory: notice(83, "forgetMemory", struct({ memory: values.memory })),
  /** From either side: bytes of a memory that is copied. */
  writeMemory: notice(84, "writeMemory", struct({ memory: values.memory, offset: float64, content: bytes })),
  /** From the client: a file that it had shared is not used any more. */
  releaseShared: notice(85, "releaseShared", struct({ id: float64 })),
  /** From the server: a burst has ended. */
  burstEnded: notice(87, "burstEnded", struct({ burst: uint32 })),
};
