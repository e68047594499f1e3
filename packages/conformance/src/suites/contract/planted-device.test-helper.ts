/** Possible faults of each method of a device and of a prepared model: a row for each. */
import {
  type Device,
  ErrorStatus,
  type ExecutionResult,
  OperandType,
  type PreparedModel,
  type SupportedOperations,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import {
  changeAnswer,
  doNothing,
  fields,
  lieOf,
  type MethodOf,
  type MethodRow,
  noAnswer,
  unknownStatus,
} from "./planted.test-helper.ts";

const { GENERAL_FAILURE, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

const info = { execTime: 1, powerUsage: 1 };
const cycle = "device/prepare: a model with a cycle is refused";
const short = "prepared-model/shapes: an output of known shape that does not fit is reported, with the others";
const durations =
  "prepared-model/execute: durations are reported if they are asked for, the device's within the driver's";

/** The case that finds faults of reusable executions. */
export const reusable = "prepared-model/reusable: runs of both kinds follow one another";

const capabilities = (change: object) =>
  changeAnswer((answer: ReturnType<Device["getCapabilities"]>) => ({
    ...answer,
    capabilities: { ...answer.capabilities, ...change },
  }));

/** `createMemory` is not a method of the HAL: it only makes what its caller passes. */
export const deviceRows: Readonly<Record<Exclude<MethodOf<Device>, "createMemory">, MethodRow>> = {
  getCapabilities: {
    finds: "device/facts: capabilities are the same at every call",
    answers: "now",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("has no capabilities", fields({ capabilities: null }), /getCapabilities: capabilities are null/),
      lieOf(
        "has a negative time",
        capabilities({ ifPerformance: { ...info, execTime: -1 } }),
        /ifPerformance: expected execTime and powerUsage above 0, got -1 and 1/,
      ),
      lieOf(
        "has a power that is not a number",
        capabilities({ operandPerformance: [{ type: 3, info: { ...info, powerUsage: Number.NaN } }] }),
        /operandPerformance of type 3: expected execTime and powerUsage above 0, got 1 and NaN/,
      ),
      lieOf(
        "has a performance of SUBGRAPH",
        capabilities({ operandPerformance: [{ type: OperandType.SUBGRAPH, info }] }),
        /getCapabilities: SUBGRAPH has a performance/,
      ),
      lieOf(
        "has performances that are not sorted",
        capabilities({ operandPerformance: [3, 1].map((type) => ({ type, info })) }),
        /getCapabilities: type 1 follows type 3, but the list must be sorted/,
      ),
    ],
  },
  getType: {
    finds: "device/facts: getType is a DeviceType",
    answers: "now",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("is of type 99", fields({ type: 99 }), /getType: 99 is none of/),
      lieOf("is of a type in words", fields({ type: "CPU" }), /getType: type CPU is not a DeviceType/),
    ],
  },
  getVersionString: {
    finds: "device/facts: getVersionString is not empty, and stays the same",
    answers: "now",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("has an empty version", fields({ version: "" }), /getVersionString: the version is empty/),
      lieOf("has a version that is a number", fields({ version: 1 }), /getVersionString: the version is 1, not text/),
      lieOf(
        "has another version at each call",
        (right) => {
          let calls = 0;
          return (...args) => ({ ...(right(...args) as object), version: `${calls++}` });
        },
        /getVersionString: "0", and at the next call "1"/,
      ),
    ],
  },
  getSupportedExtensions: {
    finds: "device/facts: getSupportedExtensions names them as reversed domains",
    answers: "now",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("has no list", fields({ extensions: null }), /getSupportedExtensions: extensions are null, not a list/),
      lieOf("has one without a name", fields({ extensions: [{}] }), /getSupportedExtensions: extension 0 has no name/),
    ],
  },
  getSupportedOperations: {
    finds: "device/support: the answer is the same at every call",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf(
        "has too many answers",
        changeAnswer(({ supported, ...answer }: SupportedOperations) => ({
          ...answer,
          supported: [...supported, true],
        })),
        /getSupportedOperations: 2 answers about 1 operations/,
      ),
      lieOf("has no reasons", fields({ reasons: [] }), /getSupportedOperations: 0 reasons beside 1 answers/),
      lieOf("answers in numbers", fields({ supported: [1] }), /the answer about operation 0 is 1, not true or false/),
      lieOf(
        "has answers beside an error",
        fields({ status: GENERAL_FAILURE }),
        /getSupportedOperations: 1 answers beside GENERAL_FAILURE/,
      ),
      lieOf(
        "has a reason against what it supports",
        fields({ reasons: ["it is green"] }),
        /operation 0 is supported, with the reason .*it is green.* against it/,
      ),
      lieOf(
        "has no reason against what it does not support",
        fields({ supported: [false], reasons: [undefined] }),
        /operation 0 is not supported, and there is no reason/,
      ),
      lieOf(
        "answers otherwise at each call",
        (right) => {
          let calls = 0;
          return async (...args) => ({ ...((await right(...args)) as object), dispatches: [++calls] });
        },
        /getSupportedOperations: .*"dispatches":\[\d+\].*, and at the next call .*"dispatches":\[\d+\]/,
      ),
      lieOf("has dispatches of nothing", fields({ dispatches: [] }), /0 numbers of dispatches beside 1 answers/),
    ],
  },
  getNumberOfCacheFilesNeeded: {
    finds: "device/facts: getNumberOfCacheFilesNeeded is at most 32 of each",
    answers: "now",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf(
        "wants -1 files",
        fields({ numModelCache: -1 }),
        /getNumberOfCacheFilesNeeded: numModelCache: expected 0 to 32, got -1/,
      ),
      lieOf(
        "wants half a file",
        fields({ numDataCache: 0.5 }),
        /getNumberOfCacheFilesNeeded: numDataCache: expected 0 to 32, got 0.5/,
      ),
      lieOf(
        "wants 33 files",
        fields({ numDataCache: 33 }),
        /getNumberOfCacheFilesNeeded: numDataCache: expected 0 to 32, got 33/,
      ),
    ],
  },
  getStatus: {
    finds: "device/facts: getStatus is AVAILABLE",
    answers: "now",
    lies: [
      lieOf("is in state 99", doNothing(99), /getStatus: 99 is not a DeviceStatus/),
      lieOf("is in no state", doNothing(), /getStatus: undefined is not a DeviceStatus/),
      lieOf("is busy for ever", doNothing(1), /getStatus: expected AVAILABLE, got BUSY/),
    ],
  },
  prepareModel: {
    finds: "device/prepare: a model is prepared, and executes",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("prepares nothing", fields({ preparedModel: null }), /prepareModel: NONE without a prepared model/),
      lieOf(
        "has a prepared model beside an error",
        fields({ preparedModel: { execute: () => Promise.reject(new Error("empty")), close() {} } }),
        /prepareModel: a prepared model beside INVALID_ARGUMENT/,
        cycle,
      ),
    ],
  },
  prepareModelFromCache: {
    finds: "caching/retrieval: a model of TENSOR_FLOAT32 is kept, and comes back",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("loads nothing", fields({ preparedModel: null }), /prepareModelFromCache: NONE without a prepared model/),
      lieOf(
        "has a prepared model beside an error",
        fields({ status: GENERAL_FAILURE }),
        /prepareModelFromCache: a prepared model beside GENERAL_FAILURE/,
      ),
    ],
  },
  allocate: {
    finds: "memory/allocate: for an input",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("allocates nothing", fields({ buffer: null }), /allocate: NONE without a buffer/),
      lieOf("has token 0", fields({ token: 0 }), /allocate: NONE: expected a token above 0, got 0/),
      lieOf(
        "has a buffer beside an error",
        fields({ status: GENERAL_FAILURE }),
        /allocate: a buffer beside GENERAL_FAILURE/,
      ),
      lieOf(
        "has one token for all",
        fields({ token: 7 }),
        /allocate: eight buffers have the tokens 7, 7/,
        "memory/allocate: tokens of living buffers differ",
      ),
    ],
  },
};

const shapes = (change: (shapes: ExecutionResult["outputShapes"]) => unknown) =>
  changeAnswer((answer: ExecutionResult) => ({ ...answer, outputShapes: change(answer.outputShapes) }));

const time = (timeOnDevice: unknown, timeInDriver: unknown) => fields({ timing: { timeOnDevice, timeInDriver } });

export const preparedModelRows: Readonly<Record<MethodOf<PreparedModel>, MethodRow>> = {
  execute: {
    finds: "prepared-model/execute: computes TENSOR_FLOAT32",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("has no shapes", fields({ outputShapes: [] }), /execute: 0 shapes of 1 outputs beside NONE/),
      lieOf("has no list of shapes", fields({ outputShapes: null }), /execute: outputShapes are null, not a list/),
      lieOf(
        "says of an output that it does not fit",
        shapes((all) => all.map((shape) => ({ ...shape, isSufficient: false }))),
        /execute: NONE, but output 0 is said not to fit: isSufficient is false/,
      ),
      lieOf(
        "has a wrong rank",
        shapes((all) => all.map(({ dimensions, ...shape }) => ({ ...shape, dimensions: [1, ...dimensions] }))),
        /execute: output 0: expected dimensions \[2, 3\], got \[1, 2, 3\]: expected rank 2, got 3/,
      ),
      lieOf(
        "has a wrong extent",
        shapes((all) => all.map((shape) => ({ ...shape, dimensions: [2, 4] }))),
        /execute: output 0: expected dimensions \[2, 3\], got \[2, 4\]/,
      ),
      lieOf(
        "has a negative extent",
        shapes((all) => all.map((shape) => ({ ...shape, dimensions: [2, -3] }))),
        /execute: output 0: dimensions \[2, -3\] are not extents/,
      ),
      lieOf(
        "has shapes beside an error",
        fields({ status: GENERAL_FAILURE }),
        /execute: 1 output shapes beside GENERAL_FAILURE/,
      ),
      lieOf(
        "has no shapes beside OUTPUT_INSUFFICIENT_SIZE",
        fields({ outputShapes: [] }),
        /execute: 0 shapes of 2 outputs beside OUTPUT_INSUFFICIENT_SIZE/,
        short,
      ),
      lieOf(
        "says OUTPUT_INSUFFICIENT_SIZE, and that all fits",
        fields({ status: OUTPUT_INSUFFICIENT_SIZE }),
        /execute: OUTPUT_INSUFFICIENT_SIZE, but isSufficient is true of every output/,
      ),
      lieOf("measures without being asked", time(1n, 2n), /execute: expected no durations, got 1 and 2/),
      lieOf("has a negative duration", time(-1n, 2n), /execute: timeOnDevice is -1, which is not a duration/),
      lieOf("has durations that are numbers", time(1, 2), /execute: timeOnDevice is 1, which is not a duration/),
      lieOf("has no timing", fields({ timing: null }), /execute: the timing is null, not a Timing/),
      lieOf(
        "was longer on the device than in the driver",
        time(2n, 1n),
        /execute: 2 microseconds on the device are more than the 1 in the driver/,
        durations,
      ),
      lieOf(
        "took longer than the call",
        time(TIMING_NOT_MEASURED, 1n << 40n),
        /execute: 1099511627776 microseconds in the driver, but the call took/,
        durations,
      ),
    ],
  },
  executeFenced: {
    finds: "fenced/launch: with nothing to wait for it executes",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("has no callback", fields({ callback: null }), /executeFenced: NONE without a callback/),
      lieOf(
        "has a callback beside an error",
        fields({ status: GENERAL_FAILURE }),
        /executeFenced: a callback beside GENERAL_FAILURE/,
      ),
      lieOf(
        "has a fence beside an error",
        fields({
          status: GENERAL_FAILURE,
          callback: null,
          syncFence: { state: "SIGNALED", wait: async () => "SIGNALED" },
        }),
        /executeFenced: a fence beside GENERAL_FAILURE/,
      ),
    ],
  },
  createReusableExecution: {
    finds: reusable,
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("makes nothing", fields({ execution: null }), /createReusableExecution: NONE without a reusable execution/),
      lieOf(
        "has an execution beside an error",
        fields({ status: GENERAL_FAILURE }),
        /createReusableExecution: a reusable execution beside GENERAL_FAILURE/,
      ),
    ],
  },
  configureExecutionBurst: {
    finds: "burst/packets: a good packet is executed",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("has no context", fields({ context: null }), /configureExecutionBurst: NONE without a context/),
      lieOf(
        "has a context beside an error",
        fields({ status: GENERAL_FAILURE }),
        /configureExecutionBurst: a context beside GENERAL_FAILURE/,
      ),
    ],
  },
  close: {
    finds: "prepared-model/life: executing a closed prepared model is INVALID_ARGUMENT",
    called: "PreparedModel.close",
    answers: "not",
    lies: [lieOf("does not close", doNothing(), /execute after close: expected INVALID_ARGUMENT, got NONE/)],
  },
};
