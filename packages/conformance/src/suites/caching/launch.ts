/** Launches of preparations from a cache. */
import { type CompilationCache, ErrorStatus, type HalVersion, type Outcome, type V1_3 } from "@nnhal/types";
import { type Bench, driverOf } from "../bench.ts";
import { expectStatus, expectThat } from "../check.ts";
import { type Call, type Launched, launchAndListen, onlyCall, type PrepareCall } from "../prepare-launches.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { fileCounts, keepModel } from "./files.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;

type Callback = V1_3.IPreparedModelCallback | null;

interface Method {
  readonly name: string;
  readonly since: HalVersion;
  readonly notify: Call["by"];
  call(bench: Bench, cache: CompilationCache, callback: Callback): Outcome;
}

const methods: readonly Method[] = [
  {
    name: "prepareModelFromCache",
    since: "1.2",
    notify: "notify_1_2",
    call: (bench, { modelCache, dataCache, token }, callback) =>
      driverOf(bench, "1.2").prepareModelFromCache(modelCache, dataCache, token, callback),
  },
  {
    name: "prepareModelFromCache_1_3",
    since: "1.3",
    notify: "notify_1_3",
    call: (bench, { modelCache, dataCache, token }, callback) =>
      driverOf(bench, "1.3").prepareModelFromCache_1_3({ kind: "none" }, modelCache, dataCache, token, callback),
  },
];

function launchLoad(bench: Bench, method: Method, cache: CompilationCache): Launched<PrepareCall> {
  return launchAndListen(bench, (callback) => method.call(bench, cache, callback));
}

const noCache: CompilationCache = { modelCache: [], dataCache: [], token: new Uint8Array(32) };

export const launchCases: readonly SuiteCase[] = methods.flatMap((method) =>
  group("launch", method.since, {
    async [`${method.name} of a kept model: its callback gets it once`](bench) {
      const { files } = await keepModel(bench);
      const launched = launchLoad(bench, method, files.open());
      expectStatus(method.name, launched.outcome, NONE);
      const { status, preparedModel } = await onlyCall(bench, method.name, launched, method.notify);
      expectStatus(`${method.name}'s callback`, { status }, NONE);
      expectThat(preparedModel !== null, () => `${method.name}: the callback hears NONE and gets no prepared model`);
    },
    async [`${method.name} without files fails, and its callback hears it once`](bench) {
      const launched = launchLoad(bench, method, noCache);
      expectStatus(method.name, launched.outcome, NONE, GENERAL_FAILURE, INVALID_ARGUMENT);
      const { status, preparedModel } = await onlyCall(bench, method.name, launched, method.notify);
      expectStatus(`${method.name}'s callback`, { status }, GENERAL_FAILURE, INVALID_ARGUMENT);
      expectThat(preparedModel === null, () => `${method.name}: a prepared model beside the error`);
      const isSame = launched.outcome.status === NONE || launched.outcome.status === status;
      expectThat(
        isSame,
        () => `${method.name}: the launch answers ${launched.outcome.status}, its callback hears ${status}`,
      );
    },
    [`${method.name} without a callback is INVALID_ARGUMENT`](bench) {
      fileCounts(bench);
      const outcome = method.call(bench, noCache, null);
      expectStatus(`${method.name} without a callback`, outcome, INVALID_ARGUMENT);
    },
  }),
);
