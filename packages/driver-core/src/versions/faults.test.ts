/**
 * Drivers and devices all methods of which throw, reject or answer nonsense: every method of lifts and faces answers a status.
 */

import { elementAt } from "@nnhal/operations";
import { manualClock } from "@nnhal/test-kit/clock";
import {
  type Device,
  DeviceStatus,
  ErrorStatus,
  MeasureTiming,
  type Outcome,
  type PreparedModel,
  Priority,
  type V1_0,
  type V1_3,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import {
  asV1_3PreparedModel,
  cache,
  client,
  desc,
  faults,
  faulty,
  queues,
  request,
  wholeDevice,
  wholeModel,
} from "./faults.test-helper.ts";
import { type AnyIDevice, asV1_0, asV1_1, asV1_2, asV1_3, liftDevice } from "./index.ts";
import { makePreparing, none, token } from "./launches.test-helper.ts";
import { driverV1_2 } from "./old-driver.test-helper.ts";
import { executionCallback, model, oldRequestOf, preparedCallback, settleAll } from "./versions.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;
const { YES } = MeasureTiming;

/** Every method of a device, called; each status. */
async function statusesOf(device: Device): Promise<ErrorStatus[]> {
  const outcomes: (Outcome | undefined)[] = [
    device.getCapabilities(),
    device.getType(),
    device.getVersionString(),
    device.getSupportedExtensions(),
    device.getNumberOfCacheFilesNeeded(),
    await device.getSupportedOperations(model),
    await device.prepareModel(model),
    await device.prepareModelFromCache?.(cache),
    await device.allocate?.(desc, [], [], []),
  ];
  return outcomes.flatMap((outcome) => (outcome === undefined ? [] : [outcome.status]));
}

describe.each(faults)("a driver each method of which %s", (name, fault) => {
  it.each<[string, AnyIDevice]>([
    ["1.2", faulty(driverV1_2().device, fault)],
    ["1.3", faulty(asV1_3(wholeDevice), fault)],
  ])("of HAL %s, lifted, answers GENERAL_FAILURE", async (_version, driver) => {
    const clock = manualClock();
    const device = liftDevice("faulty", driver, { now: clock.now, timer: clock.timer });
    const statuses = statusesOf(device);
    // A launch of NONE, with no callback, is answered in time.
    for (let count = 0; count < 4; count++) {
      await settleAll();
      clock.advance(600_000_000_000n);
    }
    expect(new Set(await statuses)).toEqual(new Set([GENERAL_FAILURE]));
    expect(device.getStatus()).toBe(DeviceStatus.UNKNOWN);
    expect(clock.waiting).toBe(0);
  });

  it("has prepared models that answer GENERAL_FAILURE when they are lifted", async () => {
    const clock = manualClock();
    const { device: driver } = driverV1_2();
    const prepared = faulty(asV1_3PreparedModel(), fault);
    const device = liftDevice(
      "faulty",
      {
        ...driver,
        prepareModel_1_2(_model, _preference, _modelCache, _dataCache, _token, callback) {
          callback?.notify_1_2(NONE, prepared);
          return { status: NONE };
        },
      },
      { now: clock.now, timer: clock.timer },
    );
    const { preparedModel } = await device.prepareModel(model);
    if (preparedModel === null) throw new Error("no prepared model");
    // Shapes that are known may be left out.
    await expectFailures(preparedModel, clock, name === "answers NONE and nothing else" ? NONE : GENERAL_FAILURE);
  });

  it("answers by callback or by status behind each face", async () => {
    const clock = manualClock();
    const options = { now: clock.now, timer: clock.timer };
    const below = faulty(wholeDevice, fault);
    const statuses: ErrorStatus[] = [];
    for (const face of [asV1_0, asV1_1, asV1_2, asV1_3]) {
      const device: Partial<V1_3.IDevice> & V1_0.IDevice = face(below, options);
      const outcomes: (Outcome | undefined)[] = [
        device.getCapabilities(),
        device.getCapabilities_1_1?.(),
        device.getCapabilities_1_2?.(),
        device.getCapabilities_1_3?.(),
        device.getVersionString?.(),
        device.getType?.(),
        device.getSupportedExtensions?.(),
        device.getNumberOfCacheFilesNeeded?.(),
      ];
      for (const outcome of outcomes) if (outcome !== undefined) statuses.push(outcome.status);
      statuses.push((await device.getSupportedOperations({ ...oldModel })).status);
      expect(device.getStatus()).toBe(DeviceStatus.UNKNOWN);
      const callback = preparedCallback();
      device.prepareModel(oldModel, callback);
      device.prepareModelFromCache?.([], [], token, callback);
      const allocated = device.allocate?.(desc, [], [], []);
      await settleAll();
      clock.advance(600_000_000_000n);
      statuses.push((await callback.first).status);
      if (allocated !== undefined) statuses.push((await allocated).status);
      for (const call of callback.calls) statuses.push(call.status);
    }
    expect(new Set(statuses)).toEqual(new Set([GENERAL_FAILURE]));
  });

  it("has prepared models that answer GENERAL_FAILURE behind faces", async () => {
    const clock = manualClock();
    const own = faulty(wholeModel, fault);
    const face = asV1_3(
      makePreparing(async () => ({ status: NONE, preparedModel: own })),
      {
        now: clock.now,
        timer: clock.timer,
      },
    );
    const callback = preparedCallback();
    face.prepareModel_1_3(model, 1, Priority.MEDIUM, none, [], [], token, callback);
    const { preparedModel } = await callback.first;
    const prepared = preparedModel as V1_3.IPreparedModel;
    const executions = [executionCallback(), executionCallback(), executionCallback()];
    prepared.execute(oldRequestOf(), elementAt(executions, 0));
    prepared.execute_1_2(oldRequestOf(), YES, elementAt(executions, 1));
    prepared.execute_1_3(request, YES, none, none, elementAt(executions, 2));
    const outcomes = await Promise.all<Outcome>([
      ...executions.map(({ first }) => first),
      prepared.executeSynchronously(oldRequestOf(), YES),
      prepared.executeSynchronously_1_3(request, YES, none, none),
      prepared.executeFenced(request, [], YES, none, none, none),
      prepared.configureExecutionBurst(client, ...queues),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => GENERAL_FAILURE));
    prepared.close?.();
    await settleAll();
  });
});

const oldModel: V1_0.Model = (() => {
  const { main, operandValues, pools } = model;
  const { operands, operations, inputIndexes, outputIndexes } = main;
  return { operands, operations, inputIndexes, outputIndexes, operandValues, pools } as V1_0.Model;
})();

async function expectFailures(
  preparedModel: PreparedModel,
  clock: ReturnType<typeof manualClock>,
  execution: ErrorStatus,
): Promise<void> {
  const answers = Promise.all<Outcome | undefined>([
    preparedModel.execute(request),
    preparedModel.executeFenced?.(request, []),
    preparedModel.configureExecutionBurst?.(client, ...queues),
  ]);
  await settleAll();
  clock.advance(600_000_000_000n);
  expect((await answers).map((answer) => answer?.status)).toEqual([execution, GENERAL_FAILURE, GENERAL_FAILURE]);
  expect(() => preparedModel.close()).not.toThrow();
  // A rejection of close is not left unhandled.
  await settleAll();
  expect((await preparedModel.execute(request)).status).toBe(INVALID_ARGUMENT);
  expect(clock.waiting).toBe(0);
}
