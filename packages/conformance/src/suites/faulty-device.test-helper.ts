/** The reference device with one fault, for tests of the suites: each fault must be found. */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import {
  type Device,
  ErrorStatus,
  type IBuffer,
  type IBurstContext,
  type IFencedExecutionCallback,
  type PreparedModel,
  type PrepareResult,
  type ReusableExecution,
  type SyncFence,
} from "@nnhal/types";
import { expect, it } from "vitest";
import type { CaseResult } from "../result.ts";
import { type DeviceSuiteOptions, runDeviceSuites } from "./run.ts";

export async function referenceDevice(): Promise<Device> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** The fault: some methods of the device, or of its prepared models, that call the right ones. */
export interface Fault {
  readonly device?: (right: Device) => Partial<Device> & { readonly connect?: () => unknown };
  readonly preparedModel?: (right: PreparedModel) => Partial<PreparedModel>;
  readonly buffer?: (right: IBuffer) => Partial<IBuffer>;
  readonly context?: (right: IBurstContext) => Partial<IBurstContext>;
  readonly reusable?: (right: ReusableExecution) => Partial<ReusableExecution>;
  readonly fence?: (right: SyncFence) => Partial<SyncFence>;
  readonly info?: (right: IFencedExecutionCallback) => Partial<IFencedExecutionCallback>;
}

/** The same object with some methods replaced. Fences keep the state of the right one, which changes. */
function withParts<Right extends object>(right: Right, part: ((right: Right) => Partial<Right>) | undefined): Right {
  if (part === undefined) return right;
  // Right, as far as the parts are.
  const whole = Object.defineProperties({}, Object.getOwnPropertyDescriptors(right)) as Right;
  return Object.defineProperties(whole, Object.getOwnPropertyDescriptors(part(right)));
}

/** A prepared model whose fences, callbacks, contexts and reusable executions are faulty. */
function deeply({ context, fence, info, reusable }: Fault, right: PreparedModel): PreparedModel {
  const { executeFenced, configureExecutionBurst, createReusableExecution } = right;
  return {
    ...right,
    ...(executeFenced && {
      async executeFenced(...args) {
        const { syncFence, callback, ...outcome } = await executeFenced(...args);
        return {
          ...outcome,
          syncFence: syncFence && withParts(syncFence, fence),
          callback: callback && withParts(callback, info),
        };
      },
    }),
    ...(createReusableExecution && {
      async createReusableExecution(...args) {
        const { execution, ...outcome } = await createReusableExecution(...args);
        return { ...outcome, execution: execution && withParts(execution, reusable) };
      },
    }),
    ...(configureExecutionBurst && {
      async configureExecutionBurst(...args) {
        const { context: own, ...outcome } = await configureExecutionBurst(...args);
        return { ...outcome, context: own && withParts(own, context) };
      },
    }),
  };
}

/** The reference device with a fault. */
export async function faultyDevice(fault: Fault): Promise<Device> {
  const { device = () => ({}), preparedModel = () => ({}) } = fault;
  const right = await referenceDevice();
  /** The device knows only models that it prepared itself. */
  const originals = new Map<PreparedModel, PreparedModel>();
  const faulty = (result: PrepareResult): PrepareResult => {
    if (result.preparedModel === null) return result;
    const right = deeply(fault, result.preparedModel);
    const spoiled = { ...right, ...preparedModel(right) };
    originals.set(spoiled, result.preparedModel);
    return { ...result, preparedModel: spoiled };
  };
  const { prepareModelFromCache, allocate } = right;
  const whole: Device = {
    ...right,
    prepareModel: async (model, options) => faulty(await right.prepareModel(model, options)),
    ...(prepareModelFromCache && {
      prepareModelFromCache: async (cache, options) => faulty(await prepareModelFromCache(cache, options)),
    }),
    ...(allocate && {
      async allocate(desc, models, inputs, outputs) {
        const isList = Array.isArray(models) && Object.keys(models).length === models.length;
        const own = isList ? models.map((model) => (model === null ? null : (originals.get(model) ?? model))) : models;
        const { buffer, ...outcome } = await allocate(desc, own, inputs, outputs);
        return { ...outcome, buffer: buffer && withParts(buffer, fault.buffer) };
      },
    }),
  };
  return { ...whole, ...device(whole) };
}

/** The cases of a group that fail on the reference device with a fault. */
export async function failures(fault: Fault, group: string, options: DeviceSuiteOptions = {}): Promise<CaseResult[]> {
  const device = await faultyDevice(fault);
  const failed: CaseResult[] = [];
  const filter = (name: string) => name.startsWith(`${group}: `);
  let count = 0;
  for await (const result of runDeviceSuites(device, { filter, ...options })) {
    count++;
    if (result.verdict === "failed") failed.push(result);
  }
  expect(count).toBeGreaterThan(0);
  return failed;
}

/** A fault: its description, its methods, the group of cases that finds it, and the message of one of them. */
export type FaultRow = readonly [what: string, fault: Fault, group: string, reason: RegExp];

/** Each fault must be found in its group. */
export function itFinds(faults: readonly FaultRow[]): void {
  it.each(faults)("%s", async (_what, fault, group, reason) => {
    const failed = await failures(fault, group);
    expect(failed.map((result) => result.reason).join("\n")).toMatch(reason);
    expect(failed.every(({ subject }) => subject === group)).toBe(true);
  });
}

/** An answer that says NONE. */
export function ok<Answer>(answer: Answer) {
  return { status: ErrorStatus.NONE, ...answer } as const;
}

/** Throws; for methods that the reference device is known to have. */
export function never(): never {
  throw new Error("the reference device has this");
}
