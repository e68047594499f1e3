/** The ways to execute a request through AIDL, each with all that its answer must keep to. */
import { type AidlVersion, ErrorStatus, type SyncFence } from "@nnhal/types";
import type { AIDL1, AIDL4 } from "@nnhal/types/aidl";
import { type Bench, hasMethod } from "../bench.ts";
import { expectThat, mismatch, statusName } from "../check.ts";
import { type Answer, aidlOf, ask, isNewerBurst, isNewerModel } from "./driver.ts";

const { NONE, GENERAL_FAILURE } = ErrorStatus;

/** The settings of an execution. */
export interface Settings {
  readonly measure?: boolean;
  readonly loopTimeoutNs?: bigint;
  readonly deadlineNs?: bigint;
  /** Of fenced executions. */
  readonly durationNs?: bigint;
  readonly waitFor?: readonly (SyncFence | null)[];
  /** Of executions with a configuration. */
  readonly hints?: Pick<AIDL4.ExecutionConfig, "executionHints" | "extensionNameToPrefix">;
}

/** A result, with what all kinds of executions report. */
export interface Done {
  readonly isSufficient: boolean;
  readonly shapes: AIDL1.ExecutionResult["outputShapes"];
  readonly timings: readonly AIDL1.Timing[];
}

/** One way to execute. */
export interface AidlWay {
  readonly name: string;
  readonly since: AidlVersion;
  readonly isFenced: boolean;
  /** True if it has a configuration. */
  readonly isConfigured: boolean;
  run(bench: Bench, model: AIDL1.IPreparedModel, request: AIDL1.Request, settings?: Settings): Promise<Answer<Done>>;
}

const noHints = { executionHints: [], extensionNameToPrefix: [] };

function configOf({ measure = false, loopTimeoutNs = -1n, hints = noHints }: Settings): AIDL4.ExecutionConfig {
  return { measureTiming: measure, loopTimeoutDurationNs: loopTimeoutNs, ...hints };
}

/** The token of each memory of a request that has no name. */
export function namelessTokens({ pools }: AIDL1.Request): bigint[] {
  return pools.map(() => -1n);
}

/** Opens a burst of a prepared model. */
export async function openBurst(bench: Bench, model: AIDL1.IPreparedModel): Promise<AIDL1.IBurst> {
  const answer = await ask(bench, "IPreparedModel.configureExecutionBurst", () => model.configureExecutionBurst());
  const burst = answer.value ?? mismatch(`IPreparedModel.configureExecutionBurst: ${statusName(answer.status)}`);
  bench.after(() => burst.close?.());
  return burst;
}

/** Waits for a result, and checks it. */
export async function finish(
  bench: Bench,
  method: string,
  { measure = false }: Settings,
  call: () => Promise<AIDL1.ExecutionResult>,
): Promise<Answer<Done>> {
  const answer = await ask(bench, method, call);
  if (answer.value === undefined) {
    return answer.status === NONE ? mismatch(`${method}: answered without a result`) : answer;
  }
  const { outputSufficientSize: isSufficient, outputShapes: shapes, timing } = answer.value;
  expectThat(typeof isSufficient === "boolean", () => `${method}: outputSufficientSize is ${String(isSufficient)}`);
  expectThat(Array.isArray(shapes), () => `${method}: outputShapes is ${String(shapes)}`);
  const short = shapes.filter((shape) => !shape.isSufficient).length;
  expectThat(isSufficient ? short === 0 : short > 0, () => {
    return `${method}: outputSufficientSize is ${isSufficient}, and ${short} of ${shapes.length} outputs do not fit`;
  });
  checkTiming(method, timing, measure && isSufficient);
  return { status: NONE, value: { isSufficient, shapes, timings: [timing] } };
}

/** Ends the case for times that are not times, and for those that were not asked for. */
function checkTiming(method: string, { timeOnDeviceNs, timeInDriverNs }: AIDL1.Timing, isMeasured: boolean): void {
  for (const time of [timeOnDeviceNs, timeInDriverNs]) {
    expectThat(typeof time === "bigint" && time >= -1n, () => `${method}: ${String(time)} is not a time`);
    expectThat(isMeasured || time === -1n, () => `${method}: expected no times, got ${time} ns`);
  }
  const isOrdered = timeOnDeviceNs === -1n || timeInDriverNs === -1n || timeOnDeviceNs <= timeInDriverNs;
  expectThat(
    isOrdered,
    () => `${method}: ${timeOnDeviceNs} ns on the device are more than ${timeInDriverNs} in the driver`,
  );
}

/** Waits for the end of a fenced execution, and checks what it reports. A failure behind the fences is an answer too. */
export async function finishFenced(
  bench: Bench,
  method: string,
  { measure = false }: Settings,
  call: () => Promise<AIDL1.FencedExecutionResult>,
): Promise<Answer<Done>> {
  const answer = await ask(bench, method, call);
  if (answer.value === undefined) {
    return answer.status === NONE ? mismatch(`${method}: answered without a result`) : answer;
  }
  const { syncFence, callback } = answer.value;
  const state =
    syncFence === null ? "SIGNALED" : await bench.watch.within(`${method}: its fence`, () => syncFence.wait());
  const info = await infoOf(bench, callback);
  expectThat((state === "SIGNALED") === (info.status === NONE), () => {
    return `${method}: the fence is ${state}, but its callback says ${statusName(info.status)}`;
  });
  const timings = [info.timingLaunched, info.timingFenced];
  for (const timing of timings) checkTiming(`${method}: its callback`, timing, measure && info.status === NONE);
  if (info.status !== NONE) return { status: info.status, message: `its callback says ${statusName(info.status)}` };
  return { status: NONE, value: { isSufficient: true, shapes: [], timings } };
}

/** The answer of the callback of a fenced execution. */
export async function infoOf(
  bench: Bench,
  callback: AIDL1.IFencedExecutionCallback,
): Promise<AIDL1.FencedExecutionInfo> {
  const method = "IFencedExecutionCallback.getExecutionInfo";
  const told = await ask(bench, method, () => callback.getExecutionInfo());
  const info = told.value ?? mismatch(`${method}: a failure is its value, and not ${statusName(told.status)} thrown`);
  expectThat(Object.values<number>(ErrorStatus).includes(info.status), () => `${method}: status ${info.status}`);
  return info;
}

type Run = AidlWay["run"];

const executeFenced: Run = (bench, model, request, settings = {}) => {
  const { waitFor = [], measure = false, deadlineNs = -1n, loopTimeoutNs = -1n, durationNs = -1n } = settings;
  return finishFenced(bench, "IPreparedModel.executeFenced", settings, () =>
    model.executeFenced(request, waitFor, measure, deadlineNs, loopTimeoutNs, durationNs),
  );
};

/** Sets an execution up, and runs it twice. The first failure is the answer. */
function repeat(once: (bench: Bench, execution: AIDL4.IExecution, settings: Settings) => Promise<Answer<Done>>): Run {
  return async (bench, model, request, settings = {}) => {
    const own = newer(model);
    const created = await ask(bench, "IPreparedModel.createReusableExecution", () =>
      own.createReusableExecution(request, configOf(settings)),
    );
    if (created.value === undefined) {
      return created.status === NONE ? mismatch("IPreparedModel.createReusableExecution: NONE without one") : created;
    }
    const execution = created.value;
    bench.after(() => execution.close?.());
    const first = await once(bench, execution, settings);
    const second = await once(bench, execution, settings);
    expectThat(first.status === second.status, () => {
      return `IExecution: the first run ends with ${statusName(first.status)}, the second with ${statusName(second.status)}`;
    });
    return second;
  };
}

function newer(model: AIDL1.IPreparedModel): AIDL4.IPreparedModel {
  return isNewerModel(model) ? model : mismatch("the prepared model has no createReusableExecution");
}

const plain = { since: "aidl1", isConfigured: false } as const;
const configured = { since: "aidl4", isConfigured: true } as const;

/** All ways, those of AIDL 1 first. */
export const aidlWays: readonly AidlWay[] = [
  {
    ...{ name: "executeSynchronously", isFenced: false, ...plain },
    run(bench, model, request, settings = {}) {
      const { measure = false, deadlineNs = -1n, loopTimeoutNs = -1n } = settings;
      return finish(bench, "IPreparedModel.executeSynchronously", settings, () =>
        model.executeSynchronously(request, measure, deadlineNs, loopTimeoutNs),
      );
    },
  },
  { ...{ name: "executeFenced", isFenced: true, ...plain }, run: executeFenced },
  {
    ...{ name: "a burst", isFenced: false, ...plain },
    async run(bench, model, request, settings = {}) {
      const burst = await openBurst(bench, model);
      const { measure = false, deadlineNs = -1n, loopTimeoutNs = -1n } = settings;
      return finish(bench, "IBurst.executeSynchronously", settings, () =>
        burst.executeSynchronously(request, namelessTokens(request), measure, deadlineNs, loopTimeoutNs),
      );
    },
  },
  {
    ...{ name: "executeSynchronouslyWithConfig", isFenced: false, ...configured },
    run: (bench, model, request, settings = {}) =>
      finish(bench, "IPreparedModel.executeSynchronouslyWithConfig", settings, () =>
        newer(model).executeSynchronouslyWithConfig(request, configOf(settings), settings.deadlineNs ?? -1n),
      ),
  },
  {
    ...{ name: "executeFencedWithConfig", isFenced: true, ...configured },
    run(bench, model, request, settings = {}) {
      const { waitFor = [], deadlineNs = -1n, durationNs = -1n } = settings;
      return finishFenced(bench, "IPreparedModel.executeFencedWithConfig", settings, () =>
        newer(model).executeFencedWithConfig(request, waitFor, configOf(settings), deadlineNs, durationNs),
      );
    },
  },
  {
    ...{ name: "a burst with a configuration", isFenced: false, ...configured },
    async run(bench, model, request, settings = {}) {
      const burst = await openBurst(bench, model);
      if (!isNewerBurst(burst)) mismatch("the burst has no executeSynchronouslyWithConfig");
      const tokens = namelessTokens(request);
      return finish(bench, "IBurst.executeSynchronouslyWithConfig", settings, () =>
        burst.executeSynchronouslyWithConfig(request, tokens, configOf(settings), settings.deadlineNs ?? -1n),
      );
    },
  },
  {
    ...{ name: "a reusable execution", isFenced: false, ...configured },
    run: repeat((bench, execution, settings) =>
      finish(bench, "IExecution.executeSynchronously", settings, () =>
        execution.executeSynchronously(settings.deadlineNs ?? -1n),
      ),
    ),
  },
  {
    ...{ name: "a reusable execution behind fences", isFenced: true, ...configured },
    run: repeat((bench, execution, settings) =>
      finishFenced(bench, "IExecution.executeFenced", settings, () =>
        execution.executeFenced(settings.waitFor ?? [], settings.deadlineNs ?? -1n, settings.durationNs ?? -1n),
      ),
    ),
  },
];

/** The ways that the driver of a case has. */
export async function waysOf(bench: Bench): Promise<readonly AidlWay[]> {
  const { version } = aidlOf(bench);
  const hasFences = await hasMethod(bench, "executeFenced");
  return aidlWays.filter(({ since, isFenced }) => since <= version && (hasFences || !isFenced));
}

/** The status of a fenced execution that has not ended, as its callback tells it. */
export async function expectUnfinished(bench: Bench, callback: AIDL1.IFencedExecutionCallback): Promise<void> {
  const { status, timingLaunched, timingFenced } = await infoOf(bench, callback);
  const method = "IFencedExecutionCallback.getExecutionInfo before the end";
  expectThat(status === GENERAL_FAILURE, () => `${method}: expected GENERAL_FAILURE, got ${statusName(status)}`);
  for (const timing of [timingLaunched, timingFenced]) checkTiming(method, timing, false);
}
