/**
 * Faults of a device outside its arithmetic are found, one at a time: each by the group of cases, or the operation's examples,
 * that its row names.
 */
import { describe, expect, it } from "vitest";
import { runArithmetic } from "../arithmetic/run.ts";
import { deviceFaults } from "../suites/device-faults.test-helper.ts";
import { executionFaults } from "../suites/execution-faults.test-helper.ts";
import { faultyDevice, itFinds } from "../suites/faulty-device.test-helper.ts";
import { cacheFaults, memoryFaults } from "../suites/resource-faults.test-helper.ts";
import { stateFaults } from "./state-faults.test-helper.ts";

const isArithmetic = (check: string) => check.startsWith("arithmetic/");

describe("a device that", () => {
  itFinds(deviceFaults);
  itFinds(executionFaults);
  itFinds(stateFaults.filter(([, , check]) => !isArithmetic(check)));

  it.each(stateFaults.filter(([, , check]) => isArithmetic(check)))("%s", async (_what, fault, check, reason) => {
    const only = check.slice("arithmetic/".length);
    for await (const { verdict, reason: found } of runArithmetic(await faultyDevice(fault), { only })) {
      if (verdict !== "failed") continue;
      expect(found).toMatch(reason);
      return;
    }
    expect.fail(`no example of ${only} fails`);
  });
});

describe("memory: a device that", () => itFinds(memoryFaults));
describe("caching: a device that", () => itFinds(cacheFaults));
