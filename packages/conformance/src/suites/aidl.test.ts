/** The device suites on a device that is driven through the interfaces of AIDL. */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { aidlVersions } from "@nnhal/types";
import { expect, it } from "vitest";
import { aidlGaps } from "./aidl-gaps.ts";
import { listDeviceCases, runDeviceSuites } from "./run.ts";

const versions = process.env.NNHAL_VECTOR_WAYS === "all" ? aidlVersions : aidlVersions.slice(-1);

it.each(versions)(
  "all cases pass through %s, except those about what AIDL does not have",
  async (version) => {
    const device = await openDevice({ backend: referenceBackend });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const failed: string[] = [];
    const left: string[] = [];
    let passed = 0;
    for await (const { name, verdict, reason, cause } of runDeviceSuites(device, { version })) {
      if (verdict === "passed") passed++;
      if (verdict === "failed") failed.push(`${name}: ${reason}`);
      if (cause?.kind === "halVersion") left.push(name);
    }
    expect(failed).toEqual([]);
    expect(left.filter((name) => !aidlGaps.some((gap) => gap.name.test(name)))).toEqual([]);
    expect(passed).toBeGreaterThan(600);
  },
  60_000,
);

it("each gap of AIDL is one of a case", () => {
  const names = listDeviceCases();
  for (const { name } of aidlGaps)
    expect(names.filter((one) => name.test(one)).length, String(name)).toBeGreaterThan(0);
});
