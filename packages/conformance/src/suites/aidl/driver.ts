/** Calls of a driver of AIDL: exceptions become statuses, and answers that break a rule of the interface end the case. */
import { convertToAidl4 } from "@nnhal/driver-core/versions";
import { ErrorStatus, ExecutionPreference, errorStatusNames, type Model, Priority, type Request } from "@nnhal/types";
import type { AIDL1, AIDL4 } from "@nnhal/types/aidl";
import { describeError } from "../../attempt.ts";
import type { AidlDriver, Bench } from "../bench.ts";
import { expectThat, mismatch, statusName } from "../check.ts";

const { NONE, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

/** A device whose version has configurations. */
export function isNewer(device: AIDL1.IDevice): device is AIDL4.IDevice {
  return "prepareModelWithConfig" in device;
}

/** A prepared model whose version has configurations. */
export function isNewerModel(model: AIDL1.IPreparedModel): model is AIDL4.IPreparedModel {
  return "createReusableExecution" in model;
}

/** A burst whose version has configurations. */
export function isNewerBurst(burst: AIDL1.IBurst): burst is AIDL4.IBurst {
  return "executeSynchronouslyWithConfig" in burst;
}

/** The driver of a case. Its version is that of the case or a later one. */
export function aidlOf({ aidl }: Bench): AidlDriver {
  return aidl ?? mismatch("there is no driver of AIDL");
}

/** The result of a call: its value, or the status of its exception. */
export type Answer<Value> =
  | { readonly status: typeof NONE; readonly value: Value }
  | { readonly status: ErrorStatus; readonly message: string; readonly value?: undefined };

/** Calls a method. Ends the case if it does not answer in time, or throws what is not the exception of a failure. */
export function ask<Value>(
  { watch }: Bench,
  method: string,
  call: () => Promise<Value> | Value,
): Promise<Answer<Value>> {
  return watch.within(method, async (): Promise<Answer<Value>> => {
    try {
      return { status: NONE, value: await call() };
    } catch (error) {
      return { status: statusOf(method, error), message: describeError(error) };
    }
  });
}

function statusOf(method: string, error: unknown): ErrorStatus {
  const isSpecific = error instanceof Error && error.name === "ServiceSpecificException" && "errorCode" in error;
  const code = isSpecific ? error.errorCode : undefined;
  const status = Object.values(ErrorStatus).find((known) => known === code);
  if (status === undefined || status === NONE || status === OUTPUT_INSUFFICIENT_SIZE) {
    mismatch(
      `${method}: expected a ServiceSpecificException with the status of a failure, got ${describeError(error)}`,
    );
  }
  return status;
}

/** The value of a call that has to succeed. */
export async function askFor<Value>(bench: Bench, method: string, call: () => Promise<Value> | Value): Promise<Value> {
  const answer = await ask(bench, method, call);
  if (answer.status !== NONE) mismatch(`${method}: expected NONE, got ${describeAnswer(answer)}`);
  // The status tells that there is one.
  return answer.value as Value;
}

/** Ends the case if a call does not fail with one of some statuses. */
export function expectRefusal(what: string, answer: Answer<unknown>, ...allowed: readonly ErrorStatus[]): void {
  expectThat(allowed.includes(answer.status), () => {
    return `${what}: expected ${allowed.map(statusName).join(" or ")}, got ${describeAnswer(answer)}`;
  });
}

function describeAnswer(answer: Answer<unknown>): string {
  return "message" in answer ? answer.message : (errorStatusNames.get(answer.status) ?? "");
}

/** Arguments of a preparation. */
export interface Preparation {
  readonly preference?: ExecutionPreference;
  readonly priority?: Priority;
  readonly deadlineNs?: bigint;
  readonly token?: Uint8Array;
  readonly hints?: Pick<AIDL4.PrepareModelConfig, "compilationHints" | "extensionNameToPrefix">;
}

/** The ways to prepare a model. */
export const preparations = ["prepareModel", "prepareModelWithConfig"] as const;

/** The ways to prepare a model that a driver has. */
export function preparationsOf(bench: Bench): readonly (typeof preparations)[number][] {
  return preparations.slice(0, isNewer(aidlOf(bench).device) ? 2 : 1);
}

/** A preparation: what its call throws, and what its callback hears. */
export interface Launched {
  readonly thrown: Answer<void>;
  readonly status: ErrorStatus;
  readonly model: AIDL1.IPreparedModel | null;
}

/** Launches a preparation, and waits for its callback. Ends the case if that is called twice. */
export function launch(
  bench: Bench,
  method: string,
  call: (callback: AIDL1.IPreparedModelCallback) => void,
): Promise<Launched> {
  const { watch } = bench;
  return watch.within(`IPreparedModelCallback.notify by ${method}`, async () => {
    const heard: Pick<Launched, "status" | "model">[] = [];
    let hear = () => {};
    const first = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const thrown = await ask(bench, method, () =>
      call({
        notify(status, model) {
          heard.push({ status, model });
          hear();
        },
      }),
    );
    await first;
    await new Promise((resolve) => setTimeout(resolve, 0));
    const [answer] = heard;
    if (answer === undefined || heard.length > 1) mismatch(`${method}: its callback was called ${heard.length} times`);
    const { status, model } = answer;
    expectThat(
      Object.values<number>(ErrorStatus).includes(status),
      () => `${method}: its callback heard status ${status}`,
    );
    expectThat((model === null) === (status !== NONE), () => {
      return `${method}: its callback heard ${statusName(status)} and ${model === null ? "got no" : "a"} prepared model`;
    });
    if (model !== null) bench.after(() => model.close?.());
    return { thrown, status, model };
  });
}

/** Launches the preparation of a model in one of the ways. */
export function prepareBy(
  bench: Bench,
  way: (typeof preparations)[number],
  model: AIDL1.Model,
  { preference, priority, deadlineNs = -1n, token = new Uint8Array(32), hints }: Preparation = {},
): Promise<Launched> {
  const { device } = aidlOf(bench);
  const qualities = [preference ?? ExecutionPreference.FAST_SINGLE_ANSWER, priority ?? Priority.MEDIUM] as const;
  const method = `IDevice.${way}`;
  if (way === "prepareModel") {
    return launch(bench, method, (callback) =>
      device.prepareModel(model, ...qualities, deadlineNs, [], [], token, callback),
    );
  }
  if (!isNewer(device)) mismatch("the driver has no prepareModelWithConfig");
  const config: AIDL4.PrepareModelConfig = {
    ...{ preference: qualities[0], priority: qualities[1], deadlineNs },
    ...{ modelCache: [], dataCache: [], cacheToken: token },
    ...(hints ?? { compilationHints: [], extensionNameToPrefix: [] }),
  };
  return launch(bench, method, (callback) => device.prepareModelWithConfig(model, config, callback));
}

/** Prepares a model that the driver has to take. */
export async function prepareModel(bench: Bench, model: Model): Promise<AIDL1.IPreparedModel> {
  const { thrown, model: prepared } = await prepareBy(bench, "prepareModel", convertToAidl4.model(model).value);
  if (thrown.status !== NONE || prepared === null) mismatch("IDevice.prepareModel: the model was not prepared");
  return prepared;
}

/** A request in the form of AIDL. */
export function writeRequest(request: Request): AIDL1.Request {
  return convertToAidl4.request(request).value;
}
