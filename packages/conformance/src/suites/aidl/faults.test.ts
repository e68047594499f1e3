/** Faults of drivers of AIDL are found, one at a time, by the group of cases that their rows name. */
import { describe, expect, it } from "vitest";
import { aidlExecutionFaults } from "./execution-faults.test-helper.ts";
import { aidlFailures } from "./faulty-driver.test-helper.ts";
import { aidlObjectFaults } from "./object-faults.test-helper.ts";

const all = [...aidlObjectFaults, ...aidlExecutionFaults];

describe("a driver of AIDL that", () => {
  it.each(all)("%s", async (_what, fault, group, reason) => {
    const failed = await aidlFailures(fault, group);
    expect(failed.map((result) => result.reason).join("\n")).toMatch(reason);
  });

  it("is right fails nothing", async () => {
    for (const group of new Set(all.map(([, , group]) => group))) expect(await aidlFailures({}, group)).toEqual([]);
  });
});

it("the faults are more than 100, and each is another", () => {
  expect(all.length).toBeGreaterThan(100);
  expect(new Set(all.map(([what]) => what)).size).toBe(all.length);
});
