/**
 * Faults in one method: what throws, what rejects, what never answers, and what answers wrongly; and running the case that
 * has to find one.
 */
import { asV1_3 } from "@nnhal/driver-core/versions";
import type { V1_3 } from "@nnhal/types";
import type { Timer } from "../../attempt.ts";
import type { CaseResult } from "../../result.ts";
import { type Fault, faultyDevice, referenceDevice } from "../faulty-device.test-helper.ts";
import { type DeviceSuiteOptions, runDeviceSuites } from "../run.ts";

/** A method, whatever it takes. */
export type AnyMethod = (...args: unknown[]) => unknown;

/** The names of an interface's methods, those that may be missing too. */
export type MethodOf<Interface> = {
  [Name in keyof Interface]-?: NonNullable<Interface[Name]> extends (...args: never[]) => unknown ? Name : never;
}[keyof Interface] &
  string;

export const kinds = ["thrower", "liar", "sleeper"] as const;

/** A wrong answer. */
export interface Lie {
  readonly what: string;
  /** Makes the faulty method from the right one. */
  readonly lie: (right: AnyMethod) => AnyMethod;
  /** The case that finds it. Default: the one that finds what throws. */
  readonly finds?: string;
  /** The message of the case. The name of the method comes before it. */
  readonly says: RegExp;
}

/** A method of the contract. */
export interface MethodRow {
  /** The case that finds what throws and what never answers. */
  readonly finds: string;
  /** Name of the method in the case's message. Default: its name. */
  readonly called?: string;
  /** Time of the answer. */
  readonly answers: "now" | "later" | "not";
  /** Wrong answers; or why there is none. */
  readonly lies: readonly Lie[] | string;
}

/** A device with one fault, and the case that finds it. */
export interface Planted {
  readonly method: string;
  readonly kind: (typeof kinds)[number];
  readonly what: string;
  readonly finds: string;
  readonly says: RegExp;
  plant(sleep: () => void): Plant;
}

/** Adds the faults of a driver's prepared models to the driver. */
export function withModels(
  right: V1_3.IDevice,
  change: (right: V1_3.IPreparedModel) => V1_3.IPreparedModel,
): V1_3.IDevice {
  return {
    ...right,
    prepareModel_1_3: (model, preference, priority, deadline, modelCache, dataCache, token, callback) => {
      const notify_1_3: V1_3.IPreparedModelCallback["notify_1_3"] = (status, own) =>
        callback?.notify_1_3(status, own && change(own));
      const changed = callback && { ...callback, notify_1_3 };
      return right.prepareModel_1_3(model, preference, priority, deadline, modelCache, dataCache, token, changed);
    },
  };
}

/** A fault and the object that it is planted in. */
export interface Plant {
  readonly fault?: Fault;
  readonly driver?: (right: V1_3.IDevice) => V1_3.IDevice;
  /** True if cases use the driver through a lift, as a device. */
  readonly isLifted?: boolean;
}

/** A method that changes its answer, of whichever type it is: a row knows the type of its method's answer. */
export function changeAnswer(change: (answer: never) => unknown): Lie["lie"] {
  return (right) =>
    (...args) => {
      const answer = right(...args);
      return answer instanceof Promise ? answer.then((value) => change(value as never)) : change(answer as never);
    };
}

/** A method that does nothing, and answers so. */
export function doNothing(answer?: unknown): Lie["lie"] {
  return () => () => answer;
}

/** Changes some fields of an answer. */
export function fields(change: Readonly<Record<string, unknown>>): Lie["lie"] {
  return changeAnswer((answer: object) => ({ ...answer, ...change }));
}

/** A row of a table of wrong answers. */
export function lieOf(what: string, lie: Lie["lie"], says: RegExp, finds?: string): Lie {
  return { what, lie, says, ...(finds !== undefined && { finds }) };
}

/** A status that is none: every answer with a status can have it. */
export const unknownStatus = lieOf("answers status 99", fields({ status: 99 }), /: status 99 is not an ErrorStatus/);

/** A missing answer, where one with a status is required. */
export const noAnswer = lieOf("answers undefined", doNothing(), /: the answer is undefined, not an object/);

/** Returns an object of the contract with another method. The planted method need not have the type of the original. */
export function replaceMethod(
  right: object,
  name: string,
  replace: (right: AnyMethod) => AnyMethod,
): Record<string, AnyMethod> {
  const method: unknown = Reflect.get(right, name);
  if (typeof method !== "function") throw new TypeError(`there is no method ${name} to replace`);
  return { [name]: replace((...args) => Reflect.apply(method, right, args)) };
}

const error = new Error("planted");

/** All faults of a method. `plant` puts another method in its place. */
export function faultsOf(
  method: string,
  row: MethodRow,
  plant: (replace: (right: AnyMethod) => AnyMethod) => Plant,
): Planted[] {
  const { finds, answers, lies, called = method.slice(method.indexOf(".") + 1) } = row;
  const name = called.replaceAll(".", "\\.");
  const says = (text: string) => new RegExp(`${name}: ${text}`);
  const makeThrowing = () => {
    throw error;
  };
  const planted = (
    kind: Planted["kind"],
    what: string,
    text: RegExp,
    replace: (sleep: () => void) => (right: AnyMethod) => AnyMethod,
    where = finds,
  ): Planted => ({
    method,
    kind,
    what,
    finds: where,
    says: text,
    plant: (sleep) => plant(replace(sleep)),
  });
  const never =
    (sleep: () => void) =>
    (right: AnyMethod) =>
    (...args: unknown[]) => {
      // A method without an answer does its work, and does not report it.
      if (answers === "not") right(...args);
      sleep();
      return new Promise(() => {});
    };
  return [
    planted("thrower", "throws", says("threw Error: planted"), () => () => makeThrowing),
    ...(answers === "now"
      ? []
      : [planted("thrower", "rejects", says("threw Error: planted"), () => () => () => Promise.reject(error))]),
    planted("sleeper", "never answers", says(answers === "now" ? "answered a promise" : "no answer within"), never),
    ...(typeof lies === "string"
      ? []
      : lies.map(({ what, lie, finds: where, says: text }) => planted("liar", what, text, () => lie, where))),
  ];
}

/** Milliseconds that stand for the limit of a call, and for that of a case. */
const limits = { callLimit: 30_000, timeLimit: 600_000 };

/**
 * A timer for devices that sleep: limits of calls are far away until something sleeps, and then there. No test depends on
 * how long anything takes.
 */
function createAlarm(): { readonly timer: Timer; sleep(): void; wake(): void } {
  const waiting = new Set<() => void>();
  let isSleeping = false;
  /** The innermost call began last, and is the first to be found. */
  const ring = () => {
    for (const callback of [...waiting].reverse()) callback();
  };
  return {
    timer(milliseconds, callback) {
      const timeout = setTimeout(callback, isSleeping && milliseconds <= limits.callLimit ? 25 : milliseconds);
      if (milliseconds <= limits.callLimit) waiting.add(callback);
      return () => {
        clearTimeout(timeout);
        waiting.delete(callback);
      };
    },
    sleep() {
      isSleeping = true;
      setTimeout(ring, 5);
    },
    wake() {
      isSleeping = false;
    },
  };
}

/** Runs cases on the reference device with a fault. */
export async function runPlanted({ plant }: Planted, filter: (name: string) => boolean): Promise<CaseResult[]> {
  const alarm = createAlarm();
  const { fault = {}, driver, isLifted = false } = plant(alarm.sleep);
  const options: DeviceSuiteOptions = {
    ...limits,
    filter,
    timer: alarm.timer,
    onStart: alarm.wake,
    ...(driver && { driver: driver(asV1_3(await referenceDevice())) }),
    ...(isLifted && { version: "1.3" }),
  };
  const results: CaseResult[] = [];
  for await (const result of runDeviceSuites(await faultyDevice(fault), options)) results.push(result);
  return results;
}
