/** The reference device behind AIDL 4, with one fault in an object of the interface: each must be found by the suite `aidl`. */
import { asVersion } from "@nnhal/driver-core/versions";
import type { ErrorStatus } from "@nnhal/types";
import { type AIDL1, type AIDL4, ServiceSpecificException } from "@nnhal/types/aidl";
import { expect } from "vitest";
import type { CaseResult } from "../../result.ts";
import { referenceDevice } from "../faulty-device.test-helper.ts";
import { runDeviceSuites } from "../run.ts";

/** The fault: some methods of the objects, which call the right ones. */
export interface AidlFault {
  readonly device?: (right: AIDL4.IDevice) => Partial<AIDL4.IDevice>;
  readonly model?: (right: AIDL4.IPreparedModel) => Partial<AIDL4.IPreparedModel>;
  readonly burst?: (right: AIDL4.IBurst) => Partial<AIDL4.IBurst>;
  readonly execution?: (right: AIDL4.IExecution) => Partial<AIDL4.IExecution>;
  readonly buffer?: (right: AIDL1.IBuffer) => Partial<AIDL1.IBuffer>;
  readonly info?: (right: AIDL1.IFencedExecutionCallback) => Partial<AIDL1.IFencedExecutionCallback>;
  readonly callback?: (right: AIDL1.IPreparedModelCallback) => AIDL1.IPreparedModelCallback;
}

/** A fault: its description, its methods, the group of cases that finds it, and the message of one of them. */
export type AidlFaultRow = readonly [what: string, fault: AidlFault, group: string, reason: RegExp];

/** Throws a failure. */
export function failWith(status: ErrorStatus): never {
  throw new ServiceSpecificException(status, "planted");
}

/** The driver with a fault. */
export async function faultyDriver(fault: AidlFault): Promise<AIDL4.IDevice> {
  const { device, model, burst, execution, buffer, info, callback } = fault;
  const right = asVersion.aidl4(await referenceDevice());
  /** The driver knows only models that it prepared itself. */
  const originals = new Map<AIDL1.IPreparedModel, AIDL1.IPreparedModel>();
  const fenced = async (launched: Promise<AIDL1.FencedExecutionResult>): Promise<AIDL1.FencedExecutionResult> => {
    const result = await launched;
    return { ...result, callback: { ...result.callback, ...info?.(result.callback) } };
  };
  const modelOf = (own: AIDL1.IPreparedModel): AIDL1.IPreparedModel => {
    if (!("createReusableExecution" in own)) return own;
    const of = own as AIDL4.IPreparedModel;
    const whole: AIDL4.IPreparedModel = {
      ...of,
      executeFenced: (...given) => fenced(of.executeFenced(...given)),
      executeFencedWithConfig: (...given) => fenced(of.executeFencedWithConfig(...given)),
      async configureExecutionBurst() {
        const made = await of.configureExecutionBurst();
        return { ...made, ...burst?.(made) };
      },
      async createReusableExecution(...given) {
        const made = await of.createReusableExecution(...given);
        const deep = {
          ...made,
          executeFenced: (...more: Parameters<typeof made.executeFenced>) => fenced(made.executeFenced(...more)),
        };
        return { ...deep, ...execution?.(deep) };
      },
    };
    const spoiled = { ...whole, ...model?.(whole) };
    originals.set(spoiled, own);
    return spoiled;
  };
  const hear = (given: AIDL1.IPreparedModelCallback | null): AIDL1.IPreparedModelCallback | null => {
    if (given === null) return null;
    const spoiled = callback?.(given) ?? given;
    return { notify: (status, own) => spoiled.notify(status, own && modelOf(own)) };
  };
  const whole: AIDL4.IDevice = {
    ...right,
    prepareModel: (...given) => {
      const [last] = given.slice(-1);
      const [own, preference, priority, deadline, models, data, token] = given;
      return right.prepareModel(
        own,
        preference,
        priority,
        deadline,
        models,
        data,
        token,
        hear(last as (typeof given)[7]),
      );
    },
    prepareModelWithConfig: (own, config, last) => right.prepareModelWithConfig(own, config, hear(last)),
    async allocate(desc, models, inputs, outputs) {
      const parcels = models.map(({ preparedModel }) => ({
        preparedModel: preparedModel && (originals.get(preparedModel) ?? preparedModel),
      }));
      const made = await right.allocate(desc, parcels, inputs, outputs);
      return { ...made, buffer: { ...made.buffer, ...buffer?.(made.buffer) } };
    },
  };
  return { ...whole, ...device?.(whole) };
}

/** The cases of a group of the suite `aidl` that fail on a driver with a fault. */
export async function aidlFailures(fault: AidlFault, group: string): Promise<CaseResult[]> {
  const failed: CaseResult[] = [];
  const options = {
    aidl: await faultyDriver(fault),
    filter: (name: string) => name.startsWith(`${group}: `),
    callLimit: 1000,
  };
  let count = 0;
  for await (const result of runDeviceSuites(await referenceDevice(), options)) {
    count++;
    if (result.verdict === "failed") failed.push(result);
  }
  expect(count).toBeGreaterThan(0);
  return failed;
}
