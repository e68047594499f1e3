/**
 * Sample devices: the reference device under other names, failing.
 */
import { type Device, ErrorStatus, OperationType, TIMING_NOT_MEASURED } from "@nnhal/types";
import { partOf } from "../graphs/parts.ts";

/** Returns true if an operation is control flow. */
export function isControlFlow(type: number): boolean {
  return type === OperationType.IF || type === OperationType.WHILE;
}

/** Message of a failing device. */
export const broken = "the sample device is broken";

/** A device that takes everything, and then cannot prepare it or cannot execute it. */
export function makeFailing(at: "prepare" | "execute", device: Device): Device {
  const sample = partOf(device, `failing-at-${at}`, () => true);
  const failure = { status: ErrorStatus.GENERAL_FAILURE, message: broken } as const;
  return {
    ...sample,
    async prepareModel(model, options) {
      if (at === "prepare") return { ...failure, preparedModel: null };
      const { preparedModel, ...outcome } = await device.prepareModel(model, options);
      if (preparedModel === null) return { ...outcome, preparedModel };
      const timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
      return {
        ...outcome,
        preparedModel: { execute: async () => ({ ...failure, outputShapes: [], timing }), close: preparedModel.close },
      };
    },
  };
}
