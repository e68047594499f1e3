/** Faults of executions, bursts and reusable executions behind AIDL: each breaks one rule. */
import { allocateMemory, mapMemory } from "@nnhal/driver-core/memory";
import { ErrorStatus } from "@nnhal/types";
import type { AIDL1, AIDL4 } from "@nnhal/types/aidl";
import { type AidlFault, type AidlFaultRow, failWith } from "./faulty-driver.test-helper.ts";

const { GENERAL_FAILURE, INVALID_ARGUMENT, OUTPUT_INSUFFICIENT_SIZE, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;

type Change<Value> = (value: Value) => Value;

/** Changes of arguments by a driver before it looks at them. */
interface Mending {
  readonly request?: Change<AIDL1.Request>;
  readonly fences?: Change<Parameters<AIDL1.IPreparedModel["executeFenced"]>[1]>;
  /** Of deadlines, loop timeouts and durations. */
  readonly times?: Change<bigint>;
  readonly config?: Change<AIDL4.ExecutionConfig>;
}

const same = <Value>(value: Value) => value;

/** The objects whose methods mend their arguments. */
const places = {
  executeSynchronously: ({ request = same, times = same }: Mending): AidlFault => ({
    model: (right) => ({
      executeSynchronously: (own, measure, deadline, loop) =>
        right.executeSynchronously(request(own), measure, times(deadline), times(loop)),
    }),
  }),
  executeFenced: ({ request = same, fences = same, times = same }: Mending): AidlFault => ({
    model: (right) => ({
      executeFenced: (own, waitFor, measure, deadline, loop, duration) =>
        right.executeFenced(request(own), fences(waitFor), measure, times(deadline), times(loop), times(duration)),
    }),
  }),
  bursts: ({ request = same, times = same }: Mending): AidlFault => ({
    burst: (right) => ({
      executeSynchronously: (own, tokens, measure, deadline, loop) =>
        right.executeSynchronously(request(own), tokens, measure, times(deadline), times(loop)),
    }),
  }),
  executeSynchronouslyWithConfig: ({ request = same, times = same, config = same }: Mending): AidlFault => ({
    model: (right) => ({
      executeSynchronouslyWithConfig: (own, given, deadline) =>
        right.executeSynchronouslyWithConfig(request(own), config(given), times(deadline)),
    }),
  }),
  executeFencedWithConfig: ({ request = same, fences = same, times = same, config = same }: Mending): AidlFault => ({
    model: (right) => ({
      executeFencedWithConfig: (own, waitFor, given, deadline, duration) =>
        right.executeFencedWithConfig(request(own), fences(waitFor), config(given), times(deadline), times(duration)),
    }),
  }),
  "bursts with configurations": ({ request = same, times = same, config = same }: Mending): AidlFault => ({
    burst: (right) => ({
      executeSynchronouslyWithConfig: (own, tokens, given, deadline) =>
        right.executeSynchronouslyWithConfig(request(own), tokens, config(given), times(deadline)),
    }),
  }),
  "reusable executions": ({ request = same, fences = same, times = same, config = same }: Mending): AidlFault => ({
    model: (right) => ({
      createReusableExecution: (own, given) => right.createReusableExecution(request(own), config(given)),
    }),
    execution: (right) => ({
      executeSynchronously: (deadline) => right.executeSynchronously(times(deadline)),
      executeFenced: (waitFor, deadline, duration) =>
        right.executeFenced(fences(waitFor), times(deadline), times(duration)),
    }),
  }),
} as const;

/** A request with each of its arguments changed; `place`: the index of its pool. */
function eachArgument(
  change: (argument: AIDL1.RequestArgument, place: number) => AIDL1.RequestArgument,
): Change<AIDL1.Request> {
  return (request) => ({
    ...request,
    inputs: request.inputs.map((argument) => change(argument, 0)),
    outputs: request.outputs.map((argument) => change(argument, 1)),
  });
}

function eachLocation(
  change: (location: AIDL1.DataLocation, place: number) => Partial<AIDL1.DataLocation>,
): Change<AIDL1.Request> {
  return eachArgument((argument, place) => ({
    ...argument,
    location: { ...argument.location, ...change(argument.location, place) },
  }));
}

const atLeast0 = (value: number) => Math.max(0, value);
const untimed: Mending["times"] = (time) => (time < -1n ? -1n : time);
const sizeOfPool = (pool: AIDL1.RequestMemoryPool | undefined) =>
  pool !== undefined && "pool" in pool && "ashmem" in pool.pool ? pool.pool.ashmem.size : 0;

/** Where each rule is broken: not everywhere, since drivers share the code of some places and not of others. */
const mendings: readonly (readonly [
  what: string,
  mending: Mending,
  group: string,
  reason: RegExp,
  where: readonly (keyof typeof places)[],
])[] = [
  [
    "take a padding that reaches beyond the pool",
    {
      request: (own) =>
        eachLocation(({ offset, length, padding, poolIndex }) =>
          offset + length + padding > sizeOfPool(own.pools[poolIndex]) && length === 24 && offset === 0
            ? { padding: 0 }
            : {},
        )(own),
    },
    "requests",
    /a padding beyond the pool: expected INVALID_ARGUMENT/,
    ["executeSynchronously", "executeFenced", "bursts", "executeSynchronouslyWithConfig", "reusable executions"],
  ],
  [
    "take a negative padding",
    { request: eachLocation(({ padding }) => ({ padding: atLeast0(padding) })) },
    "requests",
    /a negative padding: expected INVALID_ARGUMENT/,
    ["executeFenced", "executeFencedWithConfig", "bursts with configurations"],
  ],
  [
    "take a negative offset",
    { request: eachLocation(({ offset }) => ({ offset: atLeast0(offset) })) },
    "requests",
    /a negative offset: expected INVALID_ARGUMENT/,
    ["executeSynchronously", "bursts", "reusable executions"],
  ],
  [
    "take a length of 33 bits as its lower ones",
    { request: eachLocation(({ length }) => ({ length: length === 2 ** 32 ? 24 : length })) },
    "requests",
    /a length of 33 bits: expected INVALID_ARGUMENT/,
    ["executeSynchronously", "executeSynchronouslyWithConfig"],
  ],
  [
    "take a negative length as the whole",
    { request: eachLocation(({ length }) => ({ length: length < 0 ? 24 : length })) },
    "requests",
    /a negative length: expected INVALID_ARGUMENT/,
    ["executeFenced", "bursts", "executeFencedWithConfig"],
  ],
  [
    "take a pool of a negative number as the first",
    { request: eachLocation(({ poolIndex }, place) => ({ poolIndex: poolIndex < 0 ? place : poolIndex })) },
    "requests",
    /a negative pool: expected INVALID_ARGUMENT/,
    ["executeSynchronously", "reusable executions"],
  ],
  [
    "take arguments that are longer than their values",
    { request: eachLocation(({ length, padding }) => (length === 25 ? { length: 24, padding: padding + 1 } : {})) },
    "requests",
    /a byte too many: expected INVALID_ARGUMENT/,
    [
      "executeSynchronously",
      "executeFenced",
      "bursts",
      "executeSynchronouslyWithConfig",
      "bursts with configurations",
      "reusable executions",
    ],
  ],
  [
    "take arguments that are shorter than their values, with the padding behind them",
    { request: eachLocation(({ length, padding }) => (length === 23 ? { length: 24, padding: padding - 1 } : {})) },
    "requests",
    /a byte too few: expected INVALID_ARGUMENT/,
    ["executeSynchronously", "executeFencedWithConfig", "reusable executions"],
  ],
  [
    "take arguments of 0 bytes as the whole pool",
    { request: eachLocation(({ length }) => ({ length: length === 0 ? 24 : length })) },
    "requests",
    /no bytes: expected INVALID_ARGUMENT/,
    ["executeFenced", "bursts", "executeSynchronouslyWithConfig"],
  ],
  [
    "take negative extents without their signs",
    { request: eachArgument((argument) => ({ ...argument, dimensions: argument.dimensions.map(Math.abs) })) },
    "requests",
    /a negative extent: expected INVALID_ARGUMENT/,
    ["executeSynchronously", "bursts with configurations", "reusable executions"],
  ],
  [
    "ignore extents that contradict the model",
    {
      request: eachArgument((argument) => ({
        ...argument,
        dimensions: argument.dimensions[0] === 3 ? [2, 3] : argument.dimensions,
      })),
    },
    "requests",
    /another extent: expected INVALID_ARGUMENT/,
    ["executeFenced", "executeSynchronouslyWithConfig"],
  ],
  [
    "take an input twice",
    { request: (own) => ({ ...own, inputs: own.inputs.slice(0, 1) }) },
    "requests",
    /an input twice: expected INVALID_ARGUMENT/,
    ["bursts", "executeFencedWithConfig"],
  ],
  [
    "take times below -1 as none",
    { times: untimed, config: (given) => ({ ...given, loopTimeoutDurationNs: untimed(given.loopTimeoutDurationNs) }) },
    "times",
    /-2( is|:|\b).*expected INVALID_ARGUMENT/,
    ["executeSynchronously", "executeFenced", "bursts", "executeSynchronouslyWithConfig", "reusable executions"],
  ],
  [
    "ignore their deadlines",
    { times: (time) => (time === 0n ? -1n : time) },
    "times",
    /after its deadline: expected MISSED_DEADLINE_PERSISTENT or MISSED_DEADLINE_TRANSIENT, got NONE/,
    [
      "executeSynchronously",
      "executeFenced",
      "bursts",
      "executeFencedWithConfig",
      "bursts with configurations",
      "reusable executions",
    ],
  ],
  [
    "take fences that have failed",
    { fences: (list) => list.filter((fence) => fence?.state !== "ERROR") },
    "fences",
    /with a failed fence: expected INVALID_ARGUMENT or GENERAL_FAILURE, got NONE/,
    ["executeFenced", "executeFencedWithConfig", "reusable executions"],
  ],
  [
    "take null fences",
    { fences: (list) => list.filter((fence) => fence !== null) },
    "fences",
    /with a null fence: expected INVALID_ARGUMENT, got NONE/,
    ["executeFenced", "executeFencedWithConfig", "reusable executions"],
  ],
  [
    "do not look at the hints of configurations",
    { config: (given) => ({ ...given, executionHints: [], extensionNameToPrefix: [] }) },
    "hints",
    /: expected INVALID_ARGUMENT, got NONE/,
    ["executeSynchronouslyWithConfig", "executeFencedWithConfig", "bursts with configurations", "reusable executions"],
  ],
  [
    "refuse hints of extensions that they do not know",
    { config: (given) => (given.executionHints.length > 0 ? failWith(INVALID_ARGUMENT) : given) },
    "hints",
    /with hints of an unknown extension: INVALID_ARGUMENT/,
    ["executeSynchronouslyWithConfig", "bursts with configurations", "reusable executions"],
  ],
  [
    "measure though they were not asked",
    { config: (given) => ({ ...given, measureTiming: true }) },
    "results",
    /expected no times, got/,
    ["executeSynchronouslyWithConfig", "executeFencedWithConfig", "reusable executions"],
  ],
];

const mendingFaults = mendings.flatMap(([what, mending, group, reason, where]) =>
  where.map((place): AidlFaultRow => [`has ${place} that ${what}`, places[place](mending), group, reason]),
);

/** A change of the results of executeSynchronously. */
function withResult(change: (result: AIDL1.ExecutionResult) => AIDL1.ExecutionResult): AidlFault {
  return {
    model: (right) => ({
      executeSynchronously: async (...given) => change(await right.executeSynchronously(...given)),
    }),
  };
}

/** A change of what the callbacks of fenced executions say. */
function withInfo(change: (info: AIDL1.FencedExecutionInfo) => AIDL1.FencedExecutionInfo): AidlFault {
  return { info: (right) => ({ getExecutionInfo: async () => change(await right.getExecutionInfo()) }) };
}

const timing = { timeOnDeviceNs: 5n, timeInDriverNs: 7n };

const resultFaults: readonly AidlFaultRow[] = [
  [
    "throws OUTPUT_INSUFFICIENT_SIZE",
    withResult((result) => (result.outputSufficientSize ? result : failWith(OUTPUT_INSUFFICIENT_SIZE))),
    "sizes",
    /expected a ServiceSpecificException with the status of a failure/,
  ],
  [
    "says that outputs fit which do not",
    withResult((result) => ({ ...result, outputSufficientSize: true })),
    "sizes",
    /outputSufficientSize is true, and 1 of 1 outputs do not fit/,
  ],
  [
    "says that nothing fits",
    withResult((result) => ({ ...result, outputSufficientSize: false })),
    "results",
    /outputSufficientSize is false, and 0 of/,
  ],
  [
    "has no shapes of outputs that do not fit",
    withResult((result) => (result.outputSufficientSize ? result : { ...result, outputShapes: [] })),
    "sizes",
    /outputSufficientSize is false, and 0 of 0 outputs do not fit/,
  ],
  [
    "has other extents of outputs that do not fit",
    withResult((result) =>
      result.outputSufficientSize ? result : { ...result, outputShapes: [{ dimensions: [1, 3], isSufficient: false }] },
    ),
    "sizes",
    /dimensions: expected \[2, 3\], got \[1, 3\]/,
  ],
  [
    "measures where it was not asked",
    withResult((result) => ({ ...result, timing })),
    "results",
    /expected no times, got 5 ns/,
  ],
  [
    "has times of -2",
    withResult((result) => ({ ...result, timing: { timeOnDeviceNs: -2n, timeInDriverNs: -1n } })),
    "results",
    /-2 is not a time/,
  ],
  [
    "has times that are numbers",
    withResult((result) => ({ ...result, timing: { ...timing, timeOnDeviceNs: 5 as unknown as bigint } })),
    "results",
    /5 is not a time/,
  ],
  [
    "was longer on the device than in the driver",
    withResult((result) =>
      result.timing.timeInDriverNs < 0n ? result : { ...result, timing: { timeOnDeviceNs: 9n, timeInDriverNs: 7n } },
    ),
    "results",
    /9 ns on the device are more than 7 in the driver/,
  ],
  [
    "answers nothing",
    withResult(() => undefined as unknown as AIDL1.ExecutionResult),
    "results",
    /executeSynchronously: answered without a result/,
  ],
  [
    "throws an ordinary error",
    withResult(() => {
      throw new Error("planted");
    }),
    "results",
    /expected a ServiceSpecificException with the status of a failure, got Error: planted/,
  ],
  [
    "throws status 99",
    withResult(() => failWith(99 as ErrorStatus)),
    "results",
    /expected a ServiceSpecificException with the status of a failure/,
  ],
  [
    "throws NONE",
    withResult(() => failWith(ErrorStatus.NONE)),
    "results",
    /expected a ServiceSpecificException with the status of a failure/,
  ],
  [
    "never answers",
    { model: () => ({ executeSynchronously: () => new Promise(() => {}) }) },
    "results",
    /executeSynchronously: no answer within/,
  ],
  [
    "writes before its outputs",
    {
      model: (right) => ({
        async executeSynchronously(request, ...more) {
          const result = await right.executeSynchronously(request, ...more);
          spoilBefore(request);
          return result;
        },
      }),
    },
    "results",
    /bytes before output 0 were written/,
  ],
  [
    "computes elsewhere",
    {
      model: (right) => ({
        executeSynchronously: (request, ...more) =>
          right.executeSynchronously({ ...request, pools: request.pools.map(copyPool) }, ...more),
      }),
    },
    "results",
    /output 0: expected/,
  ],
  [
    "throws what the callback of a fenced execution should say",
    withInfo(() => failWith(GENERAL_FAILURE)),
    "fences",
    /a failure is its value, and not GENERAL_FAILURE thrown/,
  ],
  [
    "calls a fenced execution successful before its end",
    withInfo((info) => ({ ...info, status: ErrorStatus.NONE })),
    "fences",
    /before the end: expected GENERAL_FAILURE, got NONE/,
  ],
  [
    "calls successful fenced executions failed",
    withInfo((info) => ({ ...info, status: GENERAL_FAILURE })),
    "results",
    /the fence is SIGNALED, but its callback says GENERAL_FAILURE/,
  ],
  [
    "has status 99 of fenced executions",
    withInfo((info) => ({ ...info, status: 99 as ErrorStatus })),
    "results",
    /getExecutionInfo: status 99/,
  ],
  [
    "measures fenced executions where it was not asked",
    withInfo((info) => ({ ...info, timingFenced: timing })),
    "results",
    /its callback: expected no times, got 5 ns/,
  ],
  [
    "measures fenced executions before their end",
    withInfo((info) => (info.status === ErrorStatus.NONE ? info : { ...info, timingLaunched: timing })),
    "fences",
    /before the end: expected no times, got 5 ns/,
  ],
  [
    "never tells how a fenced execution ended",
    { info: () => ({ getExecutionInfo: () => new Promise(() => {}) }) },
    "results",
    /getExecutionInfo: no answer within/,
  ],
  ["does not wait for fences", places.executeFenced({ fences: () => [] }), "fences", /it has not waited for its fence/],
  [
    "computes though a fence has failed",
    {
      model: (right) => ({
        async executeFenced(request, waitFor, ...more) {
          await Promise.all(waitFor.map((fence) => (fence?.state === "ACTIVE" ? fence.wait() : undefined)));
          return right.executeFenced(
            request,
            waitFor.filter((fence) => fence === null || fence.state !== "ERROR"),
            ...more,
          );
        },
      }),
    },
    "fences",
    /INVALID_ARGUMENT or GENERAL_FAILURE, got NONE|it succeeds though its fence has failed|no answer within/,
  ],
  [
    "runs fenced executions with open outputs",
    {
      model: (right) => ({
        executeFenced: async (request, waitFor, measure, deadline, loop, duration) =>
          right.executeFenced(
            eachArgument((argument, place) =>
              place === 1
                ? { ...argument, dimensions: [2, 3], location: { ...argument.location, length: 24 } }
                : argument,
            )(request),
            waitFor,
            measure,
            deadline,
            loop,
            duration,
          ),
      }),
    },
    "sizes",
    /with an open output: expected INVALID_ARGUMENT, got NONE/,
  ],
];

/** Writes a byte before the outputs of a request. */
function spoilBefore({ outputs, pools }: AIDL1.Request): void {
  for (const { location } of outputs) {
    const bytes = bytesOf(pools[location.poolIndex]);
    if (location.offset > 0) bytes[location.offset - 1] = 1;
  }
}

function bytesOf(pool: AIDL1.RequestMemoryPool | undefined): Uint8Array {
  if (pool === undefined || !("pool" in pool) || !("ashmem" in pool.pool)) return new Uint8Array(1);
  const { fd: handle, size } = pool.pool.ashmem;
  const bytes = mapMemory({ name: "ashmem", size, handle });
  return "unmappable" in bytes ? new Uint8Array(1) : bytes;
}

/** A pool with the same bytes in another memory. */
function copyPool(pool: AIDL1.RequestMemoryPool): AIDL1.RequestMemoryPool {
  const bytes = bytesOf(pool);
  const memory = allocateMemory(bytes.length);
  const copy = mapMemory(memory);
  if ("unmappable" in copy || memory.handle === null || memory.handle.kind === "hardwareBuffer") return pool;
  copy.set(bytes);
  return { pool: { ashmem: { fd: memory.handle, size: memory.size } } };
}

/** A burst that changes the names of memories, and its releases. */
function withNames(change: (tokens: readonly bigint[], request: AIDL1.Request) => readonly bigint[]): AidlFault {
  return {
    burst: (right) => ({
      executeSynchronously: (request, tokens, ...more) =>
        right.executeSynchronously(request, change(tokens, request), ...more),
    }),
  };
}

const burstFaults: readonly AidlFaultRow[] = [
  [
    "keeps memories whose names were released",
    { burst: () => ({ releaseMemoryResource() {} }) },
    "bursts",
    /another memory of a name that was released: output 0: expected/,
  ],
  [
    "takes too few names of memories",
    withNames((tokens, { pools }) => pools.map((_, index) => tokens[index] ?? -1n)),
    "bursts",
    /with names \[\]: expected INVALID_ARGUMENT/,
  ],
  [
    "takes too many names of memories",
    withNames((tokens, { pools }) => (tokens.length > pools.length ? tokens.slice(0, pools.length) : tokens)),
    "bursts",
    /with names \[0, 1, 2\]: expected INVALID_ARGUMENT/,
  ],
  [
    "takes names below -1",
    withNames((tokens) => tokens.map((token) => (token < -1n ? -1n : token))),
    "bursts",
    /with names \[-2, 1\]: expected INVALID_ARGUMENT/,
  ],
  [
    "keeps memories without a name",
    withNames((tokens) => tokens.map((token, index) => (token === -1n ? 100n + BigInt(index) : token))),
    "bursts",
    /without names, run 2: output 0: expected/,
  ],
  ["keeps the values of memories with a name", keepValues(), "bursts", /run 2: output 0: expected/],
  [
    "reads 32 bits of names",
    withNames((tokens) => tokens.map((token) => (token > 1n ? token & 0x1n : token))),
    "bursts",
    /run [1-4]: output 0: expected|without names|another memory|output 0/,
  ],
  [
    "releases names below -1",
    {
      burst: (right) => ({
        releaseMemoryResource: (name) => (name < -1n ? undefined : right.releaseMemoryResource(name)),
      }),
    },
    "bursts",
    /releaseMemoryResource of -2: expected INVALID_ARGUMENT/,
  ],
  [
    "refuses to release -1",
    {
      burst: (right) => ({
        releaseMemoryResource: (name) =>
          name === -1n ? failWith(INVALID_ARGUMENT) : right.releaseMemoryResource(name),
      }),
    },
    "bursts",
    /releaseMemoryResource of -1: expected NONE/,
  ],
  [
    "refuses to release unknown names",
    {
      burst: (right) => ({
        releaseMemoryResource: (name) => (name === 77n ? failWith(GENERAL_FAILURE) : right.releaseMemoryResource(name)),
      }),
    },
    "bursts",
    /releaseMemoryResource of 77: expected NONE/,
  ],
  ["shares the names of all bursts", shareNames(), "bursts", /of a second burst: output 0: expected/],
  ["refuses both of two runs", refuseBoth(), "bursts", /of two runs none succeeds/],
  [
    "ends a run beside another with a missed deadline",
    refuseOne(),
    "bursts",
    /beside another: MISSED_DEADLINE_PERSISTENT/,
  ],
  [
    "never configures a burst",
    { model: () => ({ configureExecutionBurst: () => new Promise(() => {}) }) },
    "bursts",
    /configureExecutionBurst: no answer within/,
  ],
];

/** Bursts that read the memory of a name when they see it first. */
function keepValues(): AidlFault {
  return {
    burst(right) {
      const kept = new Map<bigint, AIDL1.RequestMemoryPool>();
      const keep = (pool: AIDL1.RequestMemoryPool, name: bigint | undefined) => {
        if (name === undefined || name < 0n) return pool;
        const known = kept.get(name) ?? copyPool(pool);
        kept.set(name, known);
        return known;
      };
      return {
        executeSynchronously: (request, tokens, ...more) =>
          right.executeSynchronously(
            { ...request, pools: request.pools.map((pool, index) => (index === 0 ? keep(pool, tokens[index]) : pool)) },
            tokens.map(() => -1n),
            ...more,
          ),
      };
    },
  };
}

function shareNames(): AidlFault {
  return {
    model(right) {
      let shared: Promise<AIDL4.IBurst> | undefined;
      return {
        async configureExecutionBurst() {
          shared ??= right.configureExecutionBurst();
          return { ...(await shared), close() {} };
        },
      };
    },
  };
}

/** Bursts that refuse runs which begin together. `counts`: which of them are refused. */
function refuseTogether(isRefused: (place: number) => boolean, status: ErrorStatus): AidlFault {
  return {
    burst(right) {
      let begun = 0;
      return {
        async executeSynchronously(...given) {
          const place = begun++;
          await Promise.resolve();
          const isAlone = begun === 1;
          queueMicrotask(() => {
            begun = 0;
          });
          if (!isAlone && isRefused(place)) failWith(status);
          return right.executeSynchronously(...given);
        },
      };
    },
  };
}

function refuseBoth(): AidlFault {
  return refuseTogether(() => true, GENERAL_FAILURE);
}

function refuseOne(): AidlFault {
  return refuseTogether((place) => place === 1, MISSED_DEADLINE_PERSISTENT);
}

const reusableFaults: readonly AidlFaultRow[] = [
  [
    "runs a reusable execution beside its run behind fences",
    {
      model: (right) => ({
        async createReusableExecution(request, config) {
          const first = await right.createReusableExecution(request, config);
          const second = await right.createReusableExecution(request, config);
          return { ...first, executeSynchronously: (deadline) => second.executeSynchronously(deadline) };
        },
      }),
    },
    "turns",
    /executeSynchronously beside a run: expected GENERAL_FAILURE, got NONE/,
  ],
  [
    "runs a reusable execution twice behind fences",
    {
      model: (right) => ({
        async createReusableExecution(request, config) {
          const first = await right.createReusableExecution(request, config);
          const second = await right.createReusableExecution(request, config);
          let runs = 0;
          return { ...first, executeFenced: (...given) => (runs++ % 2 === 0 ? first : second).executeFenced(...given) };
        },
      }),
    },
    "turns",
    /executeFenced beside a run: expected GENERAL_FAILURE, got NONE/,
  ],
  [
    "computes reusable executions on the values of their creation",
    {
      model: (right) => ({
        createReusableExecution: (request, config) =>
          right.createReusableExecution(
            { ...request, pools: request.pools.map((pool, index) => (index === 0 ? copyPool(pool) : pool)) },
            config,
          ),
      }),
    },
    "turns",
    /on values 1: output 0: expected/,
  ],
  [
    "ends reusable executions after a run",
    endAfter(1, INVALID_ARGUMENT),
    "results",
    /the first run ends with NONE, the second with INVALID_ARGUMENT/,
  ],
  [
    "checks requests of reusable executions in their first run only",
    {
      model: (right) => ({
        async createReusableExecution(request, config) {
          const mended =
            places["reusable executions"]({}).model === undefined
              ? request
              : eachLocation(({ length, padding }) => (length === 25 ? { length: 24, padding: padding + 1 } : {}))(
                  request,
                );
          const isWrong = request.inputs.some(({ location }) => location.length === 25);
          const made = await right.createReusableExecution(mended, config);
          let runs = 0;
          return {
            ...made,
            executeSynchronously: (deadline) =>
              isWrong && runs++ === 0 ? Promise.reject(failure()) : made.executeSynchronously(deadline),
          };
        },
      }),
    },
    "requests",
    /the first run ends with INVALID_ARGUMENT, the second with NONE/,
  ],
  [
    "creates no reusable execution",
    { model: () => ({ createReusableExecution: async () => undefined as unknown as AIDL4.IExecution }) },
    "results",
    /createReusableExecution: NONE without one/,
  ],
];

function failure(): Error {
  try {
    return failWith(INVALID_ARGUMENT);
  } catch (error) {
    return error instanceof Error ? error : new Error("planted");
  }
}

function endAfter(most: number, status: ErrorStatus): AidlFault {
  return {
    execution(right) {
      let runs = 0;
      return {
        executeSynchronously: async (deadline) =>
          runs++ < most ? right.executeSynchronously(deadline) : failWith(status),
      };
    },
  };
}

export const aidlExecutionFaults: readonly AidlFaultRow[] = [
  ...mendingFaults,
  ...resultFaults,
  ...burstFaults,
  ...reusableFaults,
].map(([what, fault, group, reason]): AidlFaultRow => [what, fault, `aidl/${group}`, reason]);
