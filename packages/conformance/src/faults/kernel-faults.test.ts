/**
 * Each arithmetic fault of the library is found by the examples of its operation, which are part of the default run.
 */
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { everyFault } from "@nnhal/test-kit/samples";
import type { Device } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { runArithmetic } from "../arithmetic/run.ts";
import { checkOf, type KernelFault } from "./kernel-fault.test-helper.ts";
import { kernelFaults, unfoundKernelFaults } from "./kernel-faults.test-helper.ts";

async function deviceWith({ plant }: KernelFault): Promise<Device> {
  const device = await openDevice({ backend: createReferenceBackend({ definitionFor: plant() }) });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** The first example that fails on a device with a fault. */
async function finderOf(fault: KernelFault): Promise<string | undefined> {
  const options = { only: fault.operation, filter: checkOf(fault) };
  for await (const { name, verdict } of runArithmetic(await deviceWith(fault), options)) {
    if (verdict === "failed") return name;
  }
  return undefined;
}

const title = <Fault extends KernelFault>(faults: readonly Fault[]) =>
  faults.map((fault) => [`${fault.operation}: ${fault.what}`, fault] as const);

describe("an arithmetic fault", { timeout: 60_000 }, () => {
  it("is one of many, each with a name of its own", () => {
    const names = title(kernelFaults).map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(60);
  });

  // Of the faults that families of operations share, one in three runs; with NNHAL_FAULTS=all, each.
  const shared = kernelFaults
    .filter(({ kind }) => kind !== undefined)
    .filter((_, place) => everyFault || place % 3 === 0);
  const own = kernelFaults.filter(({ kind }) => kind === undefined);

  it.each(title([...own, ...shared]))("is found: %s", async (_name, fault) => {
    expect(await finderOf(fault)).toMatch(new RegExp(`^${checkOf(fault)}`));
  });

  it.each(title(unfoundKernelFaults))("is within what the HAL allows: %s", async (_name, fault) => {
    expect(await finderOf(fault)).toBeUndefined();
  });
});
