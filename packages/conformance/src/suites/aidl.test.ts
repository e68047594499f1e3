/** The device suites on a device that is driven through the interfaces of AIDL. */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { asAidl1, asAidl2, asAidl3, asAidl4, liftDevice } from "@nnhal/driver-core/versions";
import type { Device } from "@nnhal/types";
import { expect, it } from "vitest";
import { runDeviceSuites } from "./run.ts";

/** The cases about what AIDL does not have. */
const inexpressible: readonly RegExp[] = [
  // Counts of consumers are not sent.
  /^device\/validation: operandNumberOfConsumers$/,
  // An argument has exactly the bytes of its value; what is longer or shorter is INVALID_ARGUMENT.
  /: an output with more room than it needs leaves the rest as it is$/,
  /: an output of known shape that does not fit is reported, with the others$/,
  /: more bytes than a tensor takes \((execute|launch|executeFenced|burst)\)$/,
  /: execute_1_[23] launches if an output does not fit, and its callback is told$/,
  /^burst\/service: an output that does not fit is reported$/,
];

const all = { aidl1: asAidl1, aidl2: asAidl2, aidl3: asAidl3, aidl4: asAidl4 };
const newest = { aidl4: asAidl4 };
const faces = process.env.NNHAL_VECTOR_WAYS === "all" ? all : newest;

it.each(Object.entries(faces))(
  "all cases pass through %s, except those about what AIDL does not have",
  async (_, as) => {
    const device = await openDevice({ backend: referenceBackend });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const lifted: Device = liftDevice(device.name, as(device));
    const failed: string[] = [];
    let passed = 0;
    for await (const { name: of, verdict, reason } of runDeviceSuites(lifted)) {
      if (verdict === "passed") passed++;
      if (verdict === "failed") failed.push(inexpressible.some((one) => one.test(of)) ? of : `${of}: ${reason}`);
    }
    expect(failed.filter((of) => !inexpressible.some((one) => one.test(of)))).toEqual([]);
    // Each is still about something that AIDL does not have.
    expect(inexpressible.filter((one) => !failed.some((of) => one.test(of)))).toEqual([]);
    expect(passed).toBeGreaterThan(600);
  },
  60_000,
);
