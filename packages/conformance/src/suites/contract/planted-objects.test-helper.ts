/**
 * Possible faults of each method of the other objects that a device makes: buffers, bursts and fences. All planted faults of
 * the device contract are listed here.
 */
import {
  ErrorStatus,
  type ExecutionInfo,
  type IBuffer,
  type IBurstContext,
  type IFencedExecutionCallback,
  type ReusableExecution,
  type SyncFence,
} from "@nnhal/types";
import type { Fault } from "../faulty-device.test-helper.ts";
import {
  changeAnswer,
  doNothing,
  faultsOf,
  fields,
  lieOf,
  type MethodOf,
  type MethodRow,
  noAnswer,
  type Planted,
  replaceMethod,
  unknownStatus,
} from "./planted.test-helper.ts";
import { deviceRows, preparedModelRows, reusable } from "./planted-device.test-helper.ts";

const { NONE, GENERAL_FAILURE } = ErrorStatus;

const fencedDurations =
  "fenced/launch: durations are reported if they are asked for: those since the fences within those since the launch";

const buffer: Readonly<Record<MethodOf<IBuffer>, MethodRow>> = {
  copyTo: {
    finds: "memory/value: a second value replaces the first",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("copies nothing", doNothing(Promise.resolve({ status: NONE })), /the second value: expected/),
    ],
  },
  copyFrom: {
    finds: "memory/value: a second value replaces the first",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf(
        "copies nothing",
        doNothing(Promise.resolve({ status: NONE })),
        /copyTo: expected NONE, got GENERAL_FAILURE/,
      ),
    ],
  },
  close: {
    finds: "memory/value: it is gone with its buffer",
    called: "IBuffer.close",
    answers: "not",
    lies: [
      lieOf(
        "does not close",
        doNothing(),
        /execute with the token of a closed buffer: expected INVALID_ARGUMENT, got NONE/,
      ),
    ],
  },
};

const context: Readonly<Record<MethodOf<IBurstContext>, MethodRow>> = {
  execute: {
    finds: "burst/service: a request without queues is executed, and its shapes come back",
    called: "IBurstContext.execute",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf(
        "says of an output that it does not fit",
        fields({ outputShapes: [{ dimensions: [2, 3], isSufficient: false }] }),
        /IBurstContext\.execute: NONE, but output 0 is said not to fit: isSufficient is false/,
      ),
      lieOf(
        "measures without being asked",
        fields({ timing: { timeOnDevice: 1n, timeInDriver: 2n } }),
        /IBurstContext\.execute: expected no durations, got 1 and 2/,
      ),
    ],
  },
  freeMemory: {
    finds: "burst/slots: a slot that is freed is asked for again",
    called: "IBurstContext.freeMemory",
    answers: "not",
    lies: [lieOf("forgets nothing", doNothing(), /the slots that the service asks for after freeMemory: expected/)],
  },
  close: {
    finds: "burst/ends: a context that is closed serves no more, and closing it twice is closing it once",
    called: "IBurstContext.close",
    answers: "not",
    lies: [
      lieOf("does not close", doNothing(), /IBurstContext\.close: a request is answered though the context is closed/),
    ],
  },
};

const execution: Readonly<Record<Exclude<MethodOf<ReusableExecution>, "close">, MethodRow>> = {
  execute: {
    finds: reusable,
    called: "ReusableExecution.execute",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf(
        "has no shapes",
        fields({ outputShapes: [] }),
        /ReusableExecution\.execute: 0 shapes of 1 outputs beside NONE/,
      ),
      lieOf(
        "has a wrong extent",
        fields({ outputShapes: [{ dimensions: [2, 4], isSufficient: true }] }),
        /ReusableExecution\.execute: output 0: expected dimensions \[2, 3\], got \[2, 4\]/,
      ),
      lieOf(
        "measures without being asked",
        fields({ timing: { timeOnDevice: 1n, timeInDriver: 2n } }),
        /ReusableExecution\.execute: expected no durations, got 1 and 2/,
      ),
    ],
  },
  executeFenced: {
    finds: reusable,
    called: "ReusableExecution.executeFenced",
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf("has no callback", fields({ callback: null }), /ReusableExecution\.executeFenced: NONE without a callback/),
      lieOf(
        "has a callback beside an error",
        fields({ status: GENERAL_FAILURE }),
        /ReusableExecution\.executeFenced: a callback beside GENERAL_FAILURE/,
      ),
    ],
  },
};

const waitingForFence = "fenced/waiting: it begins when the fence is signalled, not before";

const fence: Readonly<Record<MethodOf<SyncFence>, MethodRow>> = {
  wait: {
    finds: waitingForFence,
    called: "SyncFence.wait",
    answers: "later",
    lies: [
      lieOf("is active for ever", doNothing(Promise.resolve("ACTIVE")), /SyncFence\.wait: resolved with ACTIVE/),
      lieOf("resolves with a number", doNothing(Promise.resolve(1)), /SyncFence\.wait: 1 is not a state of a fence/),
      lieOf(
        "resolves with another state than the fence has",
        changeAnswer(() => "ERROR"),
        /SyncFence\.state: the fence was ERROR and is SIGNALED/,
      ),
    ],
  },
};

const executionInfo: Readonly<Record<MethodOf<IFencedExecutionCallback>, MethodRow>> = {
  getExecutionInfo: {
    finds: waitingForFence,
    answers: "later",
    lies: [
      unknownStatus,
      noAnswer,
      lieOf(
        "calls a success a failure",
        fields({ status: GENERAL_FAILURE }),
        /getExecutionInfo: the fence is SIGNALED, but the callback says GENERAL_FAILURE/,
      ),
      lieOf(
        "calls a failure a success",
        fields({ status: NONE }),
        /getExecutionInfo: the callback says NONE, but the fence is ERROR/,
        "fenced/waiting: a fence that fails later puts its fence in state ERROR",
      ),
      lieOf("has no timing", fields({ timingFenced: null }), /getExecutionInfo: the timing is null, not a Timing/),
      lieOf(
        "measures without being asked",
        fields({ timingLaunched: { timeOnDevice: 1n, timeInDriver: 2n } }),
        /getExecutionInfo: expected no durations, got 1 and 2/,
      ),
      lieOf(
        "took longer since the fences than since the launch",
        changeAnswer((answer: ExecutionInfo) => ({
          ...answer,
          timingLaunched: { timeOnDevice: 1n, timeInDriver: 1n },
          timingFenced: { timeOnDevice: 2n, timeInDriver: 2n },
        })),
        /getExecutionInfo: 2 microseconds since the fences are more than the 1 since the launch/,
        fencedDurations,
      ),
    ],
  },
};

function plantFaults(part: keyof Fault, interfaceName: string, rows: Readonly<Record<string, MethodRow>>): Planted[] {
  return Object.entries(rows).flatMap(([name, row]) =>
    faultsOf(`${interfaceName}.${name}`, row, (replace) => ({
      fault: { [part]: (right: object) => replaceMethod(right, name, replace) },
    })),
  );
}

/** The state of a fence is a property, so its faults are in a getter. */
const states: readonly Planted[] = [
  stateFault("thrower", "throws", /SyncFence\.state: threw Error: planted/, () => {
    throw new Error("planted");
  }),
  stateFault("sleeper", "answers a promise", /SyncFence\.state: answered a promise/, () => new Promise(() => {})),
  stateFault("liar", "is in no state", /SyncFence\.state: DONE is not a state of a fence/, () => "DONE"),
];

function stateFault(kind: Planted["kind"], what: string, says: RegExp, get: () => unknown): Planted {
  const fence = () => Object.defineProperty({}, "state", { get, enumerable: true, configurable: true });
  return { method: "SyncFence.state", kind, what, says, finds: waitingForFence, plant: () => ({ fault: { fence } }) };
}

/** All planted faults of the device contract. */
export const plantedInDevice: readonly Planted[] = [
  ...plantFaults("device", "Device", deviceRows),
  ...plantFaults("preparedModel", "PreparedModel", preparedModelRows),
  ...plantFaults("buffer", "IBuffer", buffer),
  ...plantFaults("context", "IBurstContext", context),
  ...plantFaults("reusable", "ReusableExecution", execution),
  ...plantFaults("fence", "SyncFence", fence),
  ...states,
  ...plantFaults("info", "IFencedExecutionCallback", executionInfo),
];
