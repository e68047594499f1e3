/** Possible faults of each method of the drivers of all HAL versions, and of their calls to callbacks: a row for each. */
import { ErrorStatus, type ExecutionResult, type V1_3 } from "@nnhal/types";
import {
  type AnyMethod,
  changeAnswer,
  doNothing,
  faultsOf,
  fields,
  type Lie,
  lieOf,
  type MethodOf,
  type MethodRow,
  type Plant,
  type Planted,
  replaceMethod,
  unknownStatus,
  withModels,
} from "./planted.test-helper.ts";

const { NONE, GENERAL_FAILURE } = ErrorStatus;

function fact(finds: string, ...lies: readonly Lie[]): MethodRow {
  return { finds: `device/facts: ${finds}`, answers: "now", lies: [unknownStatus, ...lies] };
}

function capabilities(name: string, finds: string): MethodRow {
  const none = lieOf(
    "has no capabilities",
    fields({ capabilities: null }),
    new RegExp(`${name}: capabilities are null`),
  );
  return fact(finds, none);
}

function support(name: string): MethodRow {
  return {
    finds: `device/support: ${name} says yes to each operation of a model that can be prepared`,
    answers: "later",
    lies: [
      unknownStatus,
      lieOf(
        "has too few answers",
        fields({ supportedOperations: [true] }),
        new RegExp(`${name}: 1 answers about 2 operations`),
      ),
      lieOf(
        "answers in numbers",
        fields({ supportedOperations: [1, 1] }),
        new RegExp(`${name}: the answer about operation 0 is 1, not true or false`),
      ),
    ],
  };
}

/** A launch whose answer is not what its callback hears. */
function launch(name: string, finds: string): MethodRow {
  return {
    finds,
    answers: "now",
    lies: [
      unknownStatus,
      lieOf(
        "calls what it has launched a failure",
        fields({ status: GENERAL_FAILURE }),
        new RegExp(`${name}: expected NONE, got GENERAL_FAILURE`),
      ),
    ],
  };
}

const prepareLaunch = (name: string) =>
  launch(name, `device/launch: ${name} is NONE, and its callback gets the prepared model once`);
const cacheLaunch = (name: string) =>
  launch(name, `caching/launch: ${name} of a kept model: its callback gets it once`);
const executeLaunch = (name: string) =>
  launch(name, `prepared-model/launch: ${name} is NONE, and its callback hears once that the outputs are complete`);

const device: Readonly<Record<MethodOf<V1_3.IDevice>, MethodRow>> = {
  getCapabilities: capabilities("getCapabilities", "getCapabilities has performances above 0"),
  getCapabilities_1_1: capabilities("getCapabilities_1_1", "getCapabilities_1_1 has performances above 0"),
  getCapabilities_1_2: capabilities(
    "getCapabilities_1_2",
    "getCapabilities_1_2 has performances above 0, sorted by type",
  ),
  getCapabilities_1_3: capabilities(
    "getCapabilities_1_3",
    "getCapabilities_1_3 has performances above 0, of IF and WHILE too, and none of SUBGRAPH",
  ),
  getType: fact(
    "getType is a DeviceType",
    lieOf("is of a type in words", fields({ type: "CPU" }), /getType: type CPU is not a DeviceType/),
  ),
  getVersionString: fact(
    "getVersionString is not empty, and stays the same",
    lieOf("has an empty version", fields({ version: "" }), /getVersionString: the version is empty/),
  ),
  getSupportedExtensions: fact(
    "getSupportedExtensions names them as reversed domains",
    lieOf("has no list", fields({ extensions: null }), /getSupportedExtensions: extensions are null/),
  ),
  getNumberOfCacheFilesNeeded: fact(
    "getNumberOfCacheFilesNeeded is at most 32 of each",
    lieOf(
      "wants -1 files",
      fields({ numModelCache: -1 }),
      /getNumberOfCacheFilesNeeded: numModelCache: expected 0 to 32, got -1/,
    ),
  ),
  getStatus: {
    finds: "device/facts: getStatus is AVAILABLE",
    answers: "now",
    lies: [lieOf("is in state 99", doNothing(99), /getStatus: 99 is not a DeviceStatus/)],
  },
  getSupportedOperations: support("getSupportedOperations"),
  getSupportedOperations_1_1: support("getSupportedOperations_1_1"),
  getSupportedOperations_1_2: support("getSupportedOperations_1_2"),
  getSupportedOperations_1_3: support("getSupportedOperations_1_3"),
  prepareModel: prepareLaunch("prepareModel"),
  prepareModel_1_1: prepareLaunch("prepareModel_1_1"),
  prepareModel_1_2: prepareLaunch("prepareModel_1_2"),
  prepareModel_1_3: prepareLaunch("prepareModel_1_3"),
  prepareModelFromCache: cacheLaunch("prepareModelFromCache"),
  prepareModelFromCache_1_3: cacheLaunch("prepareModelFromCache_1_3"),
  allocate: {
    finds: "memory/allocate: for an input",
    answers: "later",
    lies: [
      unknownStatus,
      lieOf("allocates nothing", fields({ buffer: null }), /allocate: NONE without a buffer/),
      lieOf("has token 0", fields({ token: 0 }), /allocate: NONE: expected a token above 0, got 0/),
    ],
  },
};

function synchronous(name: string): MethodRow {
  const shapes = (change: object) =>
    changeAnswer(({ outputShapes, ...answer }: ExecutionResult) => ({
      ...answer,
      outputShapes: outputShapes.map((shape) => ({ ...shape, ...change })),
    }));
  return {
    finds: `prepared-model/launch: ${name} answers when the outputs are complete`,
    answers: "later",
    lies: [
      unknownStatus,
      lieOf(
        "says of an output that it does not fit",
        shapes({ isSufficient: false }),
        new RegExp(`${name}: NONE, but output 0 is said not to fit`),
      ),
      lieOf(
        "has a negative extent",
        shapes({ dimensions: [-1] }),
        new RegExp(`${name}: output 0: dimensions \\[-1\\] are not extents`),
      ),
      lieOf(
        "measures without being asked",
        fields({ timing: { timeOnDevice: 1n, timeInDriver: 2n } }),
        new RegExp(`${name}: expected no durations, got 1 and 2`),
      ),
    ],
  };
}

const preparedModel: Readonly<Record<MethodOf<V1_3.IPreparedModel>, MethodRow>> = {
  execute: executeLaunch("execute"),
  execute_1_2: executeLaunch("execute_1_2"),
  execute_1_3: executeLaunch("execute_1_3"),
  executeSynchronously: synchronous("executeSynchronously"),
  executeSynchronously_1_3: synchronous("executeSynchronously_1_3"),
  executeFenced: {
    finds: "fenced/launch: with nothing to wait for it executes",
    answers: "later",
    lies: [
      unknownStatus,
      lieOf("has no callback", fields({ callback: null }), /executeFenced: NONE without a callback/),
    ],
  },
  configureExecutionBurst: {
    finds: "burst/packets: a good packet is executed",
    answers: "later",
    lies: [
      unknownStatus,
      lieOf("has no context", fields({ context: null }), /configureExecutionBurst: NONE without a context/),
    ],
  },
  close: {
    finds: "prepared-model/life: executing a closed prepared model is INVALID_ARGUMENT",
    called: "IPreparedModel.close",
    answers: "not",
    lies: "close stands for the last reference to a prepared model: nothing can be asked of it afterwards",
  },
};

/** Calls the callback of a launched method. */
type Telling = (callback: AnyMethod, sleep: () => void) => AnyMethod;

interface CallbackRow {
  readonly kind: Planted["kind"];
  readonly what: string;
  readonly telling: Telling;
  says(method: string, notify: string): RegExp;
}

const error = new Error("planted");

/** Wrong or missing calls that every callback can get. */
const everyCallback: readonly CallbackRow[] = [
  {
    kind: "sleeper",
    what: "is never called",
    telling: (_callback, sleep) => () => sleep(),
    says: (method, notify) => new RegExp(`${method}: its callback ${notify} was not called: no answer within`),
  },
  {
    kind: "liar",
    what: "is called twice",
    telling:
      (callback) =>
      (...args) => {
        callback(...args);
        callback(...args);
      },
    says: (method) => new RegExp(`${method}: the callback was called 2 times`),
  },
  {
    kind: "liar",
    what: "hears status 99",
    telling:
      (callback) =>
      (_status, ...args) =>
        callback(99, ...args),
    says: (method) => new RegExp(`${method}'s callback: expected NONE, got status 99`),
  },
];

const preparedCallback: readonly CallbackRow[] = [
  ...everyCallback,
  {
    kind: "liar",
    what: "hears NONE, and gets no prepared model",
    telling: (callback) => () => callback(NONE, null),
    says: (method) => new RegExp(`${method}: the callback hears NONE and gets no prepared model`),
  },
];

const shapesCallback: readonly CallbackRow[] = [
  ...everyCallback,
  {
    kind: "liar",
    what: "hears of an output that does not fit",
    telling: (callback) => (status, _shapes, timing) =>
      callback(status, [{ dimensions: [2, 3], isSufficient: false }], timing),
    says: (method) => new RegExp(`${method}'s callback: NONE, but output 0 is said not to fit`),
  },
  {
    kind: "liar",
    what: "hears durations that were not asked for",
    telling: (callback) => (status, shapes) => callback(status, shapes, { timeOnDevice: 1n, timeInDriver: 2n }),
    says: (method) => new RegExp(`${method}'s callback: expected no durations, got 1 and 2`),
  },
];

/** A launch whose last argument is a callback that it treats wrongly. */
function changeCallback(notify: string, tell: (callback: AnyMethod) => AnyMethod): (right: AnyMethod) => AnyMethod {
  return (right) =>
    (...args) => {
      const callback: unknown = args.at(-1);
      if (typeof callback !== "object" || callback === null) return right(...args);
      const method: unknown = Reflect.get(callback, notify);
      if (typeof method !== "function") throw new TypeError(`the callback has no ${notify}`);
      const changed = { ...callback, [notify]: tell((...told) => Reflect.apply(method, callback, told)) };
      return right(...args.with(-1, changed));
    };
}

/** A launch that throws when it should call its callback. */
function throwAtLaunch(right: AnyMethod): AnyMethod {
  return (...args) => {
    if (args.at(-1) !== null) throw error;
    return right(...args);
  };
}

type Plants = (method: string, replace: (right: AnyMethod) => AnyMethod) => Plant;

/** Returns true for launches, which cases watch directly; other methods of a driver are watched through a lift. */
function isLaunch(method: string): boolean {
  return method.startsWith("prepareModel") || /^execute(_1_[23])?$/.test(method);
}

const inDriver: Plants = (method, replace) => ({
  driver: (right) => ({ ...right, ...replaceMethod(right, method, replace) }),
  isLifted: !isLaunch(method),
});
const inModels: Plants = (method, replace) => ({
  driver: (right) => withModels(right, (own) => ({ ...own, ...replaceMethod(own, method, replace) })),
  isLifted: !isLaunch(method),
});

function callbackFaults(
  interfaceName: string,
  notify: string,
  [method, finds]: readonly [method: string, finds: string],
  plants: Plants,
  rows: readonly CallbackRow[],
): Planted[] {
  const name = `${interfaceName}.${notify}`;
  return [
    {
      method: name,
      kind: "thrower",
      what: `throws in ${method} instead`,
      finds,
      says: new RegExp(`${method}: threw Error: planted`),
      plant: () => plants(method, throwAtLaunch),
    },
    ...rows.map(
      ({ kind, what, telling: tell, says }): Planted => ({
        method: name,
        kind,
        what: `${what} by ${method}`,
        finds,
        says: says(method, notify),
        plant: (sleep) =>
          plants(
            method,
            changeCallback(notify, (callback) => tell(callback, sleep)),
          ),
      }),
    ),
  ];
}

const prepare = (method: string) => [method, prepareLaunch(method).finds] as const;
const makeExecuting = (method: string) => [method, executeLaunch(method).finds] as const;

const preparedCallbacks: Readonly<
  Record<MethodOf<V1_3.IPreparedModelCallback>, readonly (readonly [string, string])[]>
> = {
  notify: [prepare("prepareModel"), prepare("prepareModel_1_1")],
  notify_1_2: [prepare("prepareModel_1_2"), ["prepareModelFromCache", cacheLaunch("prepareModelFromCache").finds]],
  notify_1_3: [
    prepare("prepareModel_1_3"),
    ["prepareModelFromCache_1_3", cacheLaunch("prepareModelFromCache_1_3").finds],
  ],
};

const executionCallbacks: Readonly<Record<MethodOf<V1_3.IExecutionCallback>, readonly [string, string]>> = {
  notify: makeExecuting("execute"),
  notify_1_2: makeExecuting("execute_1_2"),
  notify_1_3: makeExecuting("execute_1_3"),
};

/** All planted faults of drivers. */
export const plantedInDrivers: readonly Planted[] = [
  ...Object.entries(device).flatMap(([name, row]) =>
    faultsOf(`IDevice.${name}`, row, (replace) => inDriver(name, replace)),
  ),
  ...Object.entries(preparedModel).flatMap(([name, row]) =>
    faultsOf(`IPreparedModel.${name}`, row, (replace) => inModels(name, replace)),
  ),
  ...Object.entries(preparedCallbacks).flatMap(([notify, methods]) =>
    methods.flatMap((method) => callbackFaults("IPreparedModelCallback", notify, method, inDriver, preparedCallback)),
  ),
  ...Object.entries(executionCallbacks).flatMap(([notify, method]) =>
    callbackFaults(
      "IExecutionCallback",
      notify,
      method,
      inModels,
      notify === "notify" ? everyCallback : shapesCallback,
    ),
  ),
];
