/**
 * Devices with planted faults: each is a device with one changed method, or with the method of one of its objects changed.
 */
import { type Device, ErrorStatus, type PreparedModel } from "@nnhal/types";

/** The behaviour of a faulty method. */
export type Fault = "throws" | "rejects" | "sleeps" | { readonly answers: unknown };

/** A function with the behaviour of a fault. */
export function faultyMethod(fault: Fault): (...args: never[]) => never {
  const method = () => {
    if (fault === "throws") throw new Error("planted");
    if (fault === "rejects") return Promise.reject(new Error("planted"));
    if (fault === "sleeps") return new Promise(() => {});
    return fault.answers;
  };
  // A fault is a fault because it does not keep the types.
  return method as (...args: never[]) => never;
}

/** The parts of a device that have methods. */
export type Part = "device" | "model" | "buffer" | "callback" | "fence" | "context";

/** A device with a name and one faulty method, of the device itself or of the objects that it returns. */
export function faulty(device: Device, part: Part, method: string, fault: Fault, name = "faulty"): Device {
  const own = new Map<PreparedModel, PreparedModel>();
  const breakIt = <Value extends object>(of: Part, value: Value): Value =>
    of === part ? { ...value, [method]: faultyMethod(fault) } : value;
  const maybe = <Value extends object>(of: Part, value: Value | null): Value | null => value && breakIt(of, value);
  return breakIt("device", {
    ...device,
    name,
    async prepareModel(...request) {
      const { preparedModel, ...outcome } = await device.prepareModel(...request);
      if (preparedModel === null) return { ...outcome, preparedModel };
      const changed = breakIt("model", {
        ...preparedModel,
        async executeFenced(...fenced) {
          const result = await preparedModel.executeFenced?.(...fenced);
          if (result === undefined) throw new Error("the device has no fences");
          const { syncFence } = result;
          // A fence's state is a getter.
          const fence = syncFence && { state: syncFence.state, wait: () => syncFence.wait() };
          return { ...result, syncFence: maybe("fence", fence), callback: maybe("callback", result.callback) };
        },
        async configureExecutionBurst(...channels) {
          const result = await preparedModel.configureExecutionBurst?.(...channels);
          if (result === undefined) throw new Error("the device has no bursts");
          return { ...result, context: maybe("context", result.context) };
        },
      } satisfies PreparedModel);
      own.set(changed, preparedModel);
      return { ...outcome, preparedModel: changed };
    },
    async allocate(desc, models, ...roles) {
      const ours = models.map((model) => model && (own.get(model) ?? model));
      const result = await device.allocate?.(desc, ours, ...roles);
      if (result === undefined) throw new Error("the device has no memory");
      return { ...result, buffer: maybe("buffer", result.buffer) };
    },
  } satisfies Device);
}

/** An answer with an unknown status. */
export const unknownStatus = { status: 99, message: "what is this" };

/** The outcome of a device that fails. */
export const failure = { status: ErrorStatus.GENERAL_FAILURE, message: "failed" };
