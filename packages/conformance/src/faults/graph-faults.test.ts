/** Faults of graph compilers are found by the suite graphs: each by the graph of the default run that its row names. */
import { describe, expect, it } from "vitest";
import { defaultGraphCount, runGraphs } from "../graphs/run.ts";
import { faultyDevice } from "../suites/faulty-device.test-helper.ts";
import { graphFaults } from "./graph-faults.test-helper.ts";

describe("a device that", { timeout: 60_000 }, () => {
  it.each(graphFaults)("%s", async (_what, fault, check) => {
    expect(Number(check.split(".")[1])).toBeLessThan(defaultGraphCount);
    const device = await faultyDevice(fault);
    for await (const { verdict, reason } of runGraphs(device, { only: check })) {
      expect({ verdict, reason }).toMatchObject({ verdict: "failed", reason: expect.stringMatching(/./) });
    }
  });
});
