/**
 * Sample devices: the reference device under other names, taking only a part of the operations, or failing.
 */
import { elementAt } from "@nnhal/operations";
import {
  type Device,
  ErrorStatus,
  type Model,
  OperationType,
  operationTypeNames,
  type PerformanceInfo,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";

/** Which operations of a subgraph a sample takes. */
export type Takes = (type: number, index: number) => boolean;

/** Whether an operation is control flow. */
export function isControlFlow(type: number): boolean {
  return type === OperationType.IF || type === OperationType.WHILE;
}

/** A device that computes as another, says that it is twice as fast, and takes the operations that it is told to. */
export function sampleOf(device: Device, name: string, takes: Takes): Device {
  const { capabilities, ...outcome } = device.getCapabilities();
  const info: PerformanceInfo = { execTime: 0.5, powerUsage: 0.5 };
  const operandPerformance = capabilities.operandPerformance.map(({ type }) => ({ type, info }));
  const faster = {
    ...capabilities,
    relaxedFloat32toFloat16PerformanceScalar: info,
    relaxedFloat32toFloat16PerformanceTensor: info,
    operandPerformance,
    ifPerformance: info,
    whilePerformance: info,
  };
  return {
    ...device,
    name,
    getCapabilities: () => ({ ...outcome, capabilities: faster }),
    async getSupportedOperations(model: Model) {
      const answer = await device.getSupportedOperations(model);
      if (answer.status !== ErrorStatus.NONE) return answer;
      const { operations } = model.main;
      const supported = operations.map(({ type }, index) => elementAt(answer.supported, index) && takes(type, index));
      const reasons = operations.map(({ type }, index) =>
        elementAt(supported, index) ? undefined : `${operationTypeNames.get(type)} is not for ${name}`,
      );
      return { ...answer, supported, reasons };
    },
  };
}

/** What a failing device says. */
export const broken = "the sample device is broken";

/** A device that takes everything, and then cannot prepare it or cannot execute it. */
export function failingAt(at: "prepare" | "execute", device: Device): Device {
  const sample = sampleOf(device, `failing-at-${at}`, () => true);
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
