/**
 * Devices that differ from the reference device in one respect, for this package's tests.
 */
import { type Device, ErrorStatus, type PreparedModel } from "@nnhal/types";
import { expect } from "vitest";
import { ResultCode } from "./result-code.ts";

/** Matches a NeuralNetworksError with a code. */
export const code = (name: keyof typeof ResultCode): unknown => expect.objectContaining({ code: ResultCode[name] });

/** The methods that a prepared model can lack. */
type Optional = "executeFenced" | "configureExecutionBurst" | "createReusableExecution";

/** A device whose prepared models are changed, or lack methods. */
export function withPrepared(
  device: Device,
  change: (own: PreparedModel) => Partial<PreparedModel>,
  lacking?: Optional,
): Device {
  const own = new Map<PreparedModel, PreparedModel>();
  return {
    ...device,
    async prepareModel(model, options) {
      const result = await device.prepareModel(model, options);
      if (result.preparedModel === null) return result;
      const preparedModel = { ...result.preparedModel, ...change(result.preparedModel) };
      if (lacking !== undefined) delete preparedModel[lacking];
      own.set(preparedModel, result.preparedModel);
      return { ...result, preparedModel };
    },
    ...(device.allocate && {
      allocate: (desc, models, ...roles) =>
        device.allocate?.(
          desc,
          models.map((model) => model && (own.get(model) ?? model)),
          ...roles,
        ) ?? Promise.reject(new Error("the device has no allocate")),
    }),
  };
}

/** A device with a name that supports every other operation: those at even places for `share` 0, else those at odd ones. */
export function half(name: string, device: Device, share: 0 | 1): Device {
  return {
    ...device,
    name,
    getSupportedOperations({ main }) {
      const supported = main.operations.map((_, index) => index % 2 === share);
      return { status: ErrorStatus.NONE, supported, reasons: supported.map((yes) => (yes ? undefined : "no")) };
    },
  };
}

/** A device with a name that reports ten times the speed. */
export function faster(name: string, device: Device): Device {
  const { capabilities, ...outcome } = device.getCapabilities();
  const info = { execTime: 0.1, powerUsage: 0.1 };
  const operandPerformance = capabilities.operandPerformance.map(({ type }) => ({ type, info }));
  return {
    ...device,
    name,
    getCapabilities: () => ({ ...outcome, capabilities: { ...capabilities, operandPerformance } }),
  };
}

/** A gate: everything that waits for it continues when it is opened. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Lets everything that is ready run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
