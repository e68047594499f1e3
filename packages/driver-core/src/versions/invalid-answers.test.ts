/**
 * Answers of drivers that break a rule, each alone: results, buffers and bursts.
 */

import { manualClock } from "@nnhal/test-kit/clock";
import {
  type BurstResult,
  type Device,
  ErrorStatus,
  type IBuffer,
  MeasureTiming,
  type PreparedModel,
  type V1_2,
} from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import {
  asV1_3PreparedModel,
  client,
  desc,
  faults,
  faulty,
  memory,
  queues,
  request,
  shape,
  success,
  wholeDevice,
  wholeModel,
} from "./faults.test-helper.ts";
import { asV1_3, liftDevice } from "./index.ts";
import { makePreparing } from "./launches.test-helper.ts";
import { driverV1_2 } from "./old-driver.test-helper.ts";
import { model, settleAll } from "./versions.test-helper.ts";

const { NONE, GENERAL_FAILURE, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;
const { YES } = MeasureTiming;

describe("answers of a lifted execution", () => {
  async function answerWith(result: object) {
    const execute = async () => ({ ...success, ...result });
    const own: PreparedModel = { ...wholeModel, execute };
    const driver = { ...driverV1_2().device };
    const lifted = liftDevice("invalid", {
      ...driver,
      prepareModel_1_2(_model, _preference, _modelCache, _dataCache, _token, callback) {
        const prepared = { ...asV1_3PreparedModel(), executeSynchronously_1_3: own.execute };
        // The callback is that of HAL 1.2, the model that of 1.3: a driver without types can pass it.
        callback?.notify_1_2(NONE, prepared as unknown as V1_2.IPreparedModel);
        return { status: NONE };
      },
    });
    const { preparedModel } = await lifted.prepareModel(model);
    return preparedModel?.execute(request, { measure: YES });
  }

  it("that are right are passed on, with shapes that are known if they are left out", async () => {
    expect(await answerWith({})).toEqual(success);
    expect(await answerWith({ outputShapes: [] })).toEqual(success);
    const short = { status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: [{ ...shape, isSufficient: false }] };
    expect(await answerWith(short)).toMatchObject(short);
  });

  it.each<[string, object]>([
    ["a status that does not exist", { status: 99 }],
    ["no list of shapes", { outputShapes: 5 }],
    ["a shape too many", { outputShapes: [shape, shape] }],
    ["a shape that is null", { outputShapes: [null] }],
    ["another rank", { outputShapes: [{ dimensions: [2, 1], isSufficient: true }] }],
    ["another extent", { outputShapes: [{ dimensions: [3], isSufficient: true }] }],
    ["a fraction of an extent", { outputShapes: [{ dimensions: [1.5], isSufficient: true }] }],
    ["NONE, but not sufficient", { outputShapes: [{ ...shape, isSufficient: false }] }],
    ["OUTPUT_INSUFFICIENT_SIZE without shapes", { status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: [] }],
    ["OUTPUT_INSUFFICIENT_SIZE, but sufficient", { status: OUTPUT_INSUFFICIENT_SIZE }],
  ])("with %s are GENERAL_FAILURE", async (_what, result) => {
    const answer = await answerWith(result);
    expect(answer).toMatchObject({ status: GENERAL_FAILURE, outputShapes: [] });
    expect(answer?.message).toContain("invalid: execute answered a result that is not valid: ");
  });

  it("have times only if they are times", async () => {
    expect((await answerWith({ timing: null }))?.timing).not.toBeNull();
    expect((await answerWith({ timing: { timeOnDevice: 1, timeInDriver: 2 } }))?.status).toBe(NONE);
  });
});

describe("buffers and bursts of drivers", () => {
  const makeAllocating = (buffer: IBuffer): Device => ({
    ...wholeDevice,
    allocate: async () => ({ status: NONE, buffer, token: 3 }),
  });

  it.each(faults)("a buffer each method of which %s answers GENERAL_FAILURE", async (name, fault) => {
    const clock = manualClock();
    const own: IBuffer = faulty(
      { copyTo: async () => ({ status: NONE }), copyFrom: async () => ({ status: NONE }), close() {} },
      fault,
    );
    const options = { now: clock.now, timer: clock.timer };
    for (const device of [
      liftDevice("new", asV1_3(makeAllocating(own))),
      liftDevice("new", asV1_3(makeAllocating(own)), options),
    ]) {
      const { buffer } = (await device.allocate?.(desc, [], [], [])) ?? {};
      const expected = name === "answers NONE and nothing else" ? NONE : GENERAL_FAILURE;
      expect((await buffer?.copyTo(memory))?.status).toBe(expected);
      expect((await buffer?.copyFrom(memory, []))?.status).toBe(expected);
      buffer?.close?.();
    }
    await settleAll();
  });

  it.each<[string, object]>([
    ["no buffer", { buffer: null, token: 3 }],
    ["a buffer without methods", { buffer: {}, token: 3 }],
    ["token 0", { buffer: { copyTo() {}, copyFrom() {} }, token: 0 }],
    ["a token that is not an integer", { buffer: { copyTo() {}, copyFrom() {} }, token: 1.5 }],
  ])("NONE with %s is GENERAL_FAILURE", async (_what, result) => {
    const allocate = vi.fn().mockResolvedValue({ status: NONE, ...result });
    for (const answer of [
      await liftDevice("new", { ...asV1_3(wholeDevice), allocate }).allocate?.(desc, [], [], []),
      await asV1_3({ ...wholeDevice, allocate }).allocate(desc, [], [], []),
    ]) {
      expect(answer).toMatchObject({ status: GENERAL_FAILURE, buffer: null, token: 0 });
    }
  });

  it("a burst's context keeps what it throws, and executes directly if its driver does", async () => {
    const log: string[] = [];
    const execute = vi.fn(async () => success);
    const configureExecutionBurst = async (): Promise<BurstResult> => ({
      status: NONE,
      context: {
        freeMemory() {
          throw new Error("on fire");
        },
        close: () => Promise.reject(new Error("on fire")),
        execute,
      },
    });
    const own: PreparedModel = { ...wholeModel, configureExecutionBurst };
    const device = liftDevice("new", asV1_3(makePreparing(async () => ({ status: NONE, preparedModel: own }))), {
      log: (line) => log.push(line),
    });
    const { preparedModel } = await device.prepareModel(model);
    const { context } = (await preparedModel?.configureExecutionBurst?.(client, ...queues)) ?? {};
    expect(() => context?.freeMemory(1)).not.toThrow();
    context?.close?.();
    expect(await context?.execute?.(request, YES)).toBe(success);
    await settleAll();
  });
});
