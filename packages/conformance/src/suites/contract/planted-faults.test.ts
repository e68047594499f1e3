/**
 * Whatever one method of a device or driver does wrong is found by a case, with the method, the rule and the actual value;
 * and the kit goes on.
 */

import { createFence } from "@nnhal/driver-core/fence";
import { asV1_3 } from "@nnhal/driver-core/versions";
import { elementAt } from "@nnhal/operations";
import type { IBurstContext, IFencedExecutionCallback } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { setUpBench } from "../bench.ts";
import { openRawBurst } from "../burst/open.ts";
import { executeMethods } from "../execute-launches.ts";
import { trialFor } from "../execution.ts";
import { referenceDevice } from "../faulty-device.test-helper.ts";
import { prepareMethods } from "../prepare-launches.ts";
import { listDeviceCases } from "../run.ts";
import { buildSmallModel, sampleValues, smallOperations } from "../small-models.ts";
import { kinds, type Planted, runPlanted } from "./planted.test-helper.ts";
import { plantedInDrivers } from "./planted-driver.test-helper.ts";
import { plantedInDevice } from "./planted-objects.test-helper.ts";

const all = [...plantedInDevice, ...plantedInDrivers];
const title = (faults: readonly Planted[]) =>
  faults.map((planted) => [`${planted.method}, a ${planted.kind}: ${planted.what}`, planted] as const);

/** Groups whose cases take long, and call nothing that others do not. */
const long = [
  "prepared-model/sizes",
  "prepared-model/windows",
  "prepared-model/leaks",
  "qos/lateness",
  "qos/starvation",
];

/** The first case of each other group: together they call every method. */
function firstOfGroups(): Set<string> {
  const firsts = new Map<string, string>();
  for (const name of listDeviceCases()) {
    const group = elementAt(name.split(": ", 1), 0);
    if (!firsts.has(group) && !long.includes(group)) firsts.set(group, name);
  }
  return new Set(firsts.values());
}

describe("one method that does wrong is found", () => {
  it.each(title(all))("%s", async (_title, planted) => {
    const { finds, says } = planted;
    expect(listDeviceCases()).toContain(finds);
    const result = elementAt(await runPlanted(planted, (name) => name === finds), 0);
    expect(result).toMatchObject({ name: finds, verdict: "failed" });
    expect(result.reason).toMatch(says);
  });

  it("by a case that passes on a device without a fault", async () => {
    const cases = new Set(all.map(({ finds }) => finds));
    const right: Planted = { ...elementAt(all, 0), plant: () => ({}) };
    const results = await runPlanted(right, (name) => cases.has(name));
    expect(results.filter(({ verdict }) => verdict !== "passed")).toEqual([]);
    expect(results).toHaveLength(cases.size);
  });
});

describe("the kit goes on beside a fault: every case is reported", () => {
  // With NNHAL_FAULTS=all, each fault; it takes minutes.
  const chosen =
    process.env.NNHAL_FAULTS === "all"
      ? all
      : all.filter(({ method, kind, what }) => {
          return (
            kind !== "liar" &&
            what !== "rejects" &&
            /^(Device|PreparedModel)\.(get(Status|SupportedOp)|prepareModel$|execute)/.test(method)
          );
        });
  const firsts = firstOfGroups();

  it.each(title(chosen))("%s", { timeout: 120_000 }, async (_title, planted) => {
    const isChosen = (name: string) => firsts.has(name) || name === planted.finds;
    const results = await runPlanted(planted, isChosen);
    expect(results.map(({ name }) => name)).toEqual(listDeviceCases().filter(isChosen));
    const failed = results.filter(({ verdict }) => verdict === "failed");
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.filter(({ reason = "" }) => reason === "")).toEqual([]);
  });
});

/** The methods of the objects that the reference device makes, with what each object is. */
async function methodsOfContract(): Promise<string[]> {
  const { connect: _, close: __, ...device } = { connect: 0, close: 0, ...(await referenceDevice()) };
  const small = buildSmallModel(elementAt(smallOperations, 0), { type: "TENSOR_FLOAT32" });
  const { preparedModel } = await device.prepareModel(small.model);
  if (preparedModel === null) throw new Error("the reference device prepares this");
  const { request } = trialFor(small, [sampleValues(small.type, 6)]);
  const allocated = await device.allocate?.(
    { dimensions: [] },
    [preparedModel],
    [{ modelIndex: 0, ioIndex: 0, frequency: 1 }],
    [],
  );
  const repeated = await preparedModel.createReusableExecution?.(request);
  const source = createFence();
  const launched = await preparedModel.executeFenced?.(request, [source.fence]);
  source.signal();
  const bench = { ...setUpBench(device), after() {}, tell() {} };
  const { context } = await openRawBurst(bench, preparedModel);
  context.close?.();
  const driver = asV1_3(device);
  let driverModel: object | null = null;
  const notify = (_status: number, own: object | null) => {
    driverModel = own;
  };
  const callback = { notify, notify_1_2: notify, notify_1_3: notify };
  driver.prepareModel_1_3(small.model, 1, 1, { kind: "none" }, [], [], new Uint8Array(32), callback);
  await expect.poll(() => driverModel).not.toBeNull();
  const methods = (name: string, object: object | null | undefined) =>
    Object.entries(object ?? {}).flatMap(([key, value]) => (typeof value === "function" ? [`${name}.${key}`] : []));
  return [
    ...methods("Device", device),
    ...methods("PreparedModel", preparedModel),
    ...methods("IBuffer", allocated?.buffer),
    ...methods("IBurstContext", context satisfies IBurstContext),
    ...methods("ReusableExecution", repeated?.execution),
    ...methods("SyncFence", launched?.syncFence),
    ...methods("IFencedExecutionCallback", launched?.callback satisfies IFencedExecutionCallback | null | undefined),
    ...methods("IDevice", driver),
    ...methods("IPreparedModel", driverModel),
    ...prepareMethods.map(({ notify }) => `IPreparedModelCallback.${notify}`),
    ...executeMethods.map(({ notify }) => `IExecutionCallback.${notify}`),
  ];
}

describe("the table of faults", () => {
  it("has a thrower, a liar and a sleeper for each method of the contract and of the drivers", async () => {
    const methods = [...new Set(await methodsOfContract())];
    for (const name of ["Device.prepareModel", "IBuffer.copyTo", "IPreparedModel.execute_1_3", "IDevice.allocate"]) {
      expect(methods).toContain(name);
    }
    const exempt = new Set(["IPreparedModel.close, a liar"]);
    const wanted = methods.flatMap((method) => kinds.map((kind) => `${method}, a ${kind}`));
    const has = new Set(all.map(({ method, kind }) => `${method}, a ${kind}`));
    expect(wanted.filter((row) => !has.has(row) && !exempt.has(row))).toEqual([]);
    expect([...has].filter((row) => !wanted.includes(row) && !row.startsWith("SyncFence.state"))).toEqual([]);
  });
});
