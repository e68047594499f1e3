/**
 * A driver of any HAL version whose every call is watched, and every prepared model that it gives to a callback.
 */
import type { AnyIDevice } from "@nnhal/driver-core/versions";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  type FencedExecuteOptions,
  type MeasureTiming,
  type Model,
  type Outcome,
  type Request,
  type SyncFence,
  type V1_0,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import {
  allocateProblem,
  burstProblem,
  cacheFilesProblem,
  deviceStatusProblem,
  executionProblem,
  extensionsProblem,
  fencedProblem,
  outcomeProblem,
  supportedProblem,
  typeProblem,
  versionProblem,
} from "./answers.ts";
import type { Watch } from "./watch.ts";
import { ownOnes, standsFor, watchAllocated, watchContext, watchLaunched } from "./watched-device.ts";

/** Watches one method: `call` makes the call with other arguments than `args`, or the same. */
type Watcher = (call: (args: readonly unknown[]) => unknown, args: readonly unknown[]) => unknown;

/** The methods of an object with their watchers. Methods that the object has not are left out. */
function watchMethods<Own extends object>(own: Own, watchers: Readonly<Record<string, Watcher>>): Own {
  const methods: Record<string, PropertyDescriptor> = {};
  for (const [name, watcher] of Object.entries(watchers)) {
    const method: unknown = Reflect.get(own, name);
    if (typeof method !== "function") continue;
    const value = (...args: unknown[]) => watcher((actual) => Reflect.apply(method, own, actual), args);
    methods[name] = { enumerable: true, value };
  }
  // Whatever else the object has is inherited.
  const watched: Own = Object.create(own, methods);
  return standsFor(watched, own);
}

/*
 * The arguments and the answer of a method are those of its interface; the watchers below know it by the name. That is what the
 * `as` in this file are for: arguments and answers go through unchanged, and the judges expect answers of any shape.
 */

/** Watches a method that answers at once. */
function now<Answer>(
  watch: Watch,
  method: string,
  judge: (answer: Answer, args: readonly unknown[]) => string | undefined,
): Watcher {
  return (call, args) =>
    watch.now(
      method,
      () => call(args) as Answer,
      (answer) => judge(answer, args),
    );
}

/** Capabilities differ from version to version: every performance in them is above 0, which cases look at. */
function anyCapabilitiesProblem(answer: Outcome & { readonly capabilities: object }): string | undefined {
  const problem = outcomeProblem(answer);
  if (problem !== undefined || answer.status !== ErrorStatus.NONE) return problem;
  const { capabilities } = answer;
  return typeof capabilities === "object" && capabilities !== null ? undefined : `capabilities are ${capabilities}`;
}

function supportedOperationsProblem(
  answer: Outcome & { readonly supportedOperations: readonly boolean[] },
  [model]: readonly unknown[],
): string | undefined {
  const { main, operations = main?.operations } = model as Partial<V1_0.Model & Model>;
  return outcomeProblem(answer) ?? supportedProblem(answer.status, answer.supportedOperations, operations?.length);
}

/** The driver, watched. */
export function watchDriver<Driver extends AnyIDevice>(driver: Driver, watch: Watch): Driver {
  /** A method whose last argument is a callback for a prepared model. */
  const launch =
    (method: string): Watcher =>
    (call, args) => {
      const callback = args.at(-1) as V1_3.IPreparedModelCallback | null;
      const actual = args.with(-1, callback === null ? null : watchCallback(callback, watch));
      return watch.now(method, () => call(actual) as Outcome, outcomeProblem);
    };
  const capabilities = (method: string) => now(watch, method, anyCapabilitiesProblem);
  /** The answer may come later. */
  const support =
    (method: string): Watcher =>
    (call, args) =>
      watch.later(
        method,
        async () => call(args) as Parameters<typeof supportedOperationsProblem>[0],
        (answer) => supportedOperationsProblem(answer, args),
      );
  const watchers: Readonly<Record<string, Watcher>> = {
    getStatus: now(watch, "getStatus", deviceStatusProblem),
    getType: now(watch, "getType", typeProblem),
    getVersionString: now(watch, "getVersionString", versionProblem),
    getSupportedExtensions: now(watch, "getSupportedExtensions", extensionsProblem),
    getNumberOfCacheFilesNeeded: now(watch, "getNumberOfCacheFilesNeeded", cacheFilesProblem),
  };
  return watchMethods(driver, {
    ...watchers,
    ...listByName(
      ["getCapabilities", "getCapabilities_1_1", "getCapabilities_1_2", "getCapabilities_1_3"],
      capabilities,
    ),
    ...listByName(
      [
        "getSupportedOperations",
        "getSupportedOperations_1_1",
        "getSupportedOperations_1_2",
        "getSupportedOperations_1_3",
      ],
      support,
    ),
    ...listByName(
      [
        "prepareModel",
        "prepareModel_1_1",
        "prepareModel_1_2",
        "prepareModel_1_3",
        "prepareModelFromCache",
        "prepareModelFromCache_1_3",
      ],
      launch,
    ),
    async allocate(call, [desc, preparedModels, ...roles]) {
      const own = ownOnes(preparedModels as readonly (V1_3.IPreparedModel | null)[]);
      const answer = () => call([desc, own, ...roles]) as ReturnType<V1_3.IDevice["allocate"]>;
      return watchAllocated(await watch.later("allocate", answer, allocateProblem), watch);
    },
  });
}

function listByName(names: readonly string[], watcher: (name: string) => Watcher): Record<string, Watcher> {
  return Object.fromEntries(names.map((name) => [name, watcher(name)]));
}

function watchCallback(callback: V1_3.IPreparedModelCallback, watch: Watch): V1_3.IPreparedModelCallback {
  const watched = <Own extends V1_0.IPreparedModel>(own: Own | null): Own | null =>
    typeof own === "object" && own !== null ? watchDriverModel(own, watch) : own;
  return {
    notify: (status, own) => callback.notify(status, watched(own)),
    notify_1_2: (status, own) => callback.notify_1_2(status, watched(own)),
    notify_1_3: (status, own) => callback.notify_1_3(status, watched(own)),
  };
}

function readMeasuring(measure: unknown): ExecuteOptions {
  return { measure: measure as MeasureTiming };
}

/** A driver's prepared model, watched. */
function watchDriverModel<Own extends V1_0.IPreparedModel>(own: Own, watch: Watch): Own {
  const launch = (method: string) => now(watch, method, outcomeProblem);
  const synchronous =
    (method: string): Watcher =>
    (call, args) => {
      const [request, measure] = args;
      return watch.later(
        method,
        () => call(args) as Promise<ExecutionResult>,
        (result, milliseconds) =>
          executionProblem(result, {
            request: request as Request,
            options: readMeasuring(measure),
            model: undefined,
            mayOmitShapes: true,
            milliseconds,
          }),
      );
    };
  return watchMethods(own, {
    ...listByName(["execute", "execute_1_2", "execute_1_3"], launch),
    ...listByName(["executeSynchronously", "executeSynchronously_1_3"], synchronous),
    async executeFenced(call, [request, waitFor, measure, ...times]) {
      const start = performance.now();
      const fences = ownOnes(waitFor as readonly (SyncFence | null)[]);
      const answer = () =>
        call([request, fences, measure, ...times]) as ReturnType<V1_3.IPreparedModel["executeFenced"]>;
      const options: FencedExecuteOptions = readMeasuring(measure);
      return watchLaunched(await watch.later("executeFenced", answer, fencedProblem), options, start, watch);
    },
    async configureExecutionBurst(call, args) {
      const answer = () => call(args) as ReturnType<V1_2.IPreparedModel["configureExecutionBurst"]>;
      const { context, ...outcome } = await watch.later("configureExecutionBurst", answer, burstProblem);
      return { ...outcome, context: context === null ? null : watchContext(context, watch) };
    },
    close: (call, args) => watch.silent("IPreparedModel.close", () => call(args)),
  });
}
