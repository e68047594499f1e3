/**
 * Devices over backends that misbehave, on a clock that the test moves.
 */
import type { BackendSession, Executable } from "@nnhal/backend";
import { manualClock } from "@nnhal/test-kit/clock";
import { createLogger } from "@nnhal/utils";
import { type DeviceOptions, openDevice } from "./device.ts";
import { fakeBackend, succeeding } from "./fake-backend.test-helper.ts";

export const never = new Promise<never>(() => {});
export const sufficient = [{ dimensions: [2], isSufficient: true }];
export const throws = (): never => {
  throw new Error("on fire");
};
/** Lets everything happen that waits for nothing. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A device over a fake backend on a clock that the test moves, and the errors that it logs. */
export async function open(change: Partial<BackendSession> = {}, options: Partial<DeviceOptions> = {}) {
  const errors: string[] = [];
  const clock = manualClock(1000n);
  const log = createLogger({
    sink: ({ severity, message }) => severity === "error" && errors.push(message),
    properties: () => "",
  });
  const { now, timer } = clock;
  const device = await openDevice({ backend: fakeBackend(change), log, now, timer, ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return { device, errors, clock };
}

export const compiling = (change: Partial<Executable>): Partial<BackendSession> => ({
  compile: async () => ({ ...succeeding, ...change }),
});
