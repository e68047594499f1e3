/**
 * Drivers that launch with NONE and never call back: each wait has an end.
 */

import { manualClock } from "@nnhal/test-kit/clock";
import { ErrorStatus, type V1_0, type V1_2 } from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { request } from "./faults.test-helper.ts";
import { asV1_3, liftDevice } from "./index.ts";
import { makePreparing } from "./launches.test-helper.ts";
import { driverV1_0 } from "./old-driver.test-helper.ts";
import { model, settleAll } from "./versions.test-helper.ts";

const { NONE, GENERAL_FAILURE, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;

describe("a driver that launches and never calls back", () => {
  /** A lifted prepared model of HAL 1.2 that calls back only when the test says so. */
  async function silent(version: "1.0" | "1.2", log: string[] = []) {
    const clock = manualClock();
    const callbacks: (V1_0.IExecutionCallback | null)[] = [];
    const launch = (callback: V1_0.IExecutionCallback | null) => {
      callbacks.push(callback);
      return { status: NONE };
    };
    const own: Partial<V1_2.IPreparedModel> & V1_0.IPreparedModel = {
      execute: (_request, callback) => launch(callback),
      ...(version === "1.2" && {
        execute_1_2: (_request, _measure, callback) => launch(callback),
        executeSynchronously: () => new Promise(() => {}),
      }),
    };
    const { device } = driverV1_0();
    const driver: V1_0.IDevice = {
      ...device,
      prepareModel(_model, callback) {
        callback?.notify(NONE, own);
        return { status: NONE };
      },
    };
    const options = { now: clock.now, timer: clock.timer, log: (line: string) => void log.push(line) };
    const lifted = liftDevice("silent", driver, { ...options, synchronous: false });
    const { preparedModel } = await lifted.prepareModel(model);
    if (preparedModel === null) throw new Error("no prepared model");
    return { clock, preparedModel, callbacks };
  }

  it.each(["1.0", "1.2"] as const)(
    "an execution (HAL %s) ends at its deadline, and what comes later is logged",
    async (version) => {
      const log: string[] = [];
      const { clock, preparedModel, callbacks } = await silent(version, log);
      const answer = preparedModel.execute(request, { deadline: 1000n });
      await settleAll();
      clock.advance(1000n);
      expect(await answer).toMatchObject({
        status: MISSED_DEADLINE_TRANSIENT,
        message: "silent: execute: there was no answer by the deadline",
        outputShapes: [],
      });
      callbacks[0]?.notify(NONE);
      callbacks[0]?.notify(NONE);
      await settleAll();
      expect(log).toEqual([
        "a driver called back again; the first call counts",
        "silent: execute: an answer that came too late is ignored",
      ]);
      expect(clock.waiting).toBe(0);
    },
  );

  it.each(["1.0", "1.2"] as const)(
    "an execution (HAL %s) without a deadline ends after 10 minutes",
    async (version) => {
      const { clock, preparedModel } = await silent(version);
      const answer = preparedModel.execute(request);
      await settleAll();
      clock.advance(599_999_999_999n);
      const early = vi.fn();
      void answer.then(early);
      await settleAll();
      expect(early).not.toHaveBeenCalled();
      clock.advance(1n);
      expect(await answer).toMatchObject({
        status: GENERAL_FAILURE,
        message: "silent: execute: there was no answer within 600000 ms",
      });
    },
  );

  it("a fenced execution ends at its deadline, and does not execute when its fences are signalled later", async () => {
    const { clock, preparedModel, callbacks } = await silent("1.0");
    let signal: (state: "SIGNALED") => void = () => {};
    const wait = new Promise<"SIGNALED">((resolve) => {
      signal = resolve;
    });
    const answer = preparedModel.executeFenced?.(request, [{ state: "ACTIVE", wait: () => wait }], { deadline: 1000n });
    await settleAll();
    clock.advance(1000n);
    expect(await answer).toMatchObject({ status: MISSED_DEADLINE_TRANSIENT, syncFence: null, callback: null });
    signal("SIGNALED");
    await settleAll();
    expect(callbacks).toEqual([]);
    expect(clock.waiting).toBe(0);
  });

  it("a preparation ends at its deadline, and a model that comes later is freed", async () => {
    const clock = manualClock();
    const callbacks: (V1_0.IPreparedModelCallback | null)[] = [];
    const driver: V1_0.IDevice = {
      ...driverV1_0().device,
      prepareModel(_model, callback) {
        callbacks.push(callback);
        return { status: NONE };
      },
    };
    const log: string[] = [];
    const options = { now: clock.now, timer: clock.timer, log: (line: string) => void log.push(line) };
    const answer = liftDevice("silent", driver, options).prepareModel(model, { deadline: 1000n });
    await settleAll();
    clock.advance(1000n);
    expect(await answer).toEqual({
      status: MISSED_DEADLINE_TRANSIENT,
      message: "silent: prepareModel: there was no answer by the deadline",
      preparedModel: null,
    });
    const close = vi.fn();
    callbacks[0]?.notify(NONE, { execute: () => ({ status: NONE }), close });
    await settleAll();
    expect(close).toHaveBeenCalledTimes(1);
    expect(log).toEqual(["silent: prepareModel: an answer that came too late is ignored"]);
  });

  it("of HAL 1.3 gets 100 ms more to keep its deadline itself", async () => {
    const clock = manualClock();
    const never = makePreparing(() => new Promise(() => {}));
    const options = { now: clock.now, timer: clock.timer };
    const answer = liftDevice("silent", asV1_3(never), options).prepareModel(model, { deadline: 1000n });
    const early = vi.fn();
    void answer.then(early);
    await settleAll();
    clock.advance(100_000_999n);
    await settleAll();
    expect(early).not.toHaveBeenCalled();
    clock.advance(1n);
    expect((await answer).status).toBe(MISSED_DEADLINE_TRANSIENT);
  });
});
