import { ErrorStatus, type Outcome } from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { launch, launchTask, once, type Task } from "./callback.ts";
import { settleAll } from "./versions.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;

describe("once", () => {
  it("calls the first time only", () => {
    const callback = vi.fn();
    const call = once(callback, () => {});
    call(1);
    call(2);
    expect(callback.mock.calls).toEqual([[1]]);
  });

  it("catches and logs errors of a callback", () => {
    const log: string[] = [];
    const call = once(
      () => {
        throw new Error("client bug");
      },
      (line) => log.push(line),
    );
    expect(() => call()).not.toThrow();
    expect(log).toEqual(["a callback of a client failed: client bug"]);
  });

  it("catches and logs rejections of an asynchronous callback", async () => {
    const log: string[] = [];
    once(
      async () => {
        throw new Error("client bug");
      },
      (line) => log.push(line),
    )();
    await settleAll();
    expect(log).toEqual(["a callback of a client failed: client bug"]);
  });
});

describe("launch", () => {
  const silent = () => {};

  /** A task that succeeds, and what its callback was told. */
  function taskOf(changes: Partial<Task<Outcome>> = {}) {
    const told: Outcome[] = [];
    const task: Task<Outcome> = {
      check: () => undefined,
      run: async () => ({ status: NONE }),
      answerFailure: (outcome) => outcome,
      notify: (answer) => told.push(answer),
      ...changes,
    };
    return { task, told };
  }

  it("returns NONE at once and reports the outcome later, once", async () => {
    const { task, told } = taskOf();
    expect(launch(task, silent)).toEqual({ status: NONE });
    expect(told).toEqual([]);
    await settleAll();
    expect(told).toEqual([{ status: NONE }]);
  });

  it("reports a refusal before it returns the same", () => {
    const refusal = { status: INVALID_ARGUMENT, message: "wrong" };
    const run = vi.fn();
    const { task, told } = taskOf({ check: () => refusal, run });
    expect(launch(task, silent)).toEqual(refusal);
    expect(told).toEqual([refusal]);
    expect(run).not.toHaveBeenCalled();
  });

  it("refuses arguments over which a check throws", () => {
    const { task, told } = taskOf({
      check() {
        throw new TypeError("no such field");
      },
    });
    const refusal = { status: INVALID_ARGUMENT, message: "the arguments cannot be read: no such field" };
    expect(launch(task, silent)).toEqual(refusal);
    expect(told).toEqual([refusal]);
  });

  it("fails if the task cannot be started", () => {
    const { task, told } = taskOf({
      run() {
        throw new Error("no worker");
      },
    });
    const outcome = { status: GENERAL_FAILURE, message: "the task could not be started: no worker" };
    expect(launch(task, silent)).toEqual(outcome);
    expect(told).toEqual([outcome]);
  });

  it("reports GENERAL_FAILURE if the task rejects", async () => {
    const { task, told } = taskOf({ run: () => Promise.reject(new Error("gone")) });
    expect(launch(task, silent)).toEqual({ status: NONE });
    await settleAll();
    expect(told).toEqual([{ status: GENERAL_FAILURE, message: "the task failed: gone" }]);
  });

  it("survives a callback that throws, at launch and later", async () => {
    const log: string[] = [];
    const notify = () => {
      throw new Error("client bug");
    };
    const refused = taskOf({ check: () => ({ status: INVALID_ARGUMENT }), notify });
    expect(launch(refused.task, (line) => log.push(line))).toEqual({ status: INVALID_ARGUMENT });
    expect(launch(taskOf({ notify }).task, (line) => log.push(line))).toEqual({ status: NONE });
    await settleAll();
    expect(log).toEqual(Array.from({ length: 2 }, () => "a callback of a client failed: client bug"));
  });
});

describe("launched", () => {
  const fail = (outcome: Outcome) => outcome;
  const told = { status: NONE };

  it("waits for the callback", async () => {
    let settle: (answer: Outcome) => void = () => {};
    const promise = launchTask<Outcome>((callback) => {
      settle = callback;
      return { status: NONE };
    }, fail);
    settle(told);
    settle({ status: GENERAL_FAILURE });
    expect(await promise).toBe(told);
  });

  it("accepts a callback before the launch returns", async () => {
    const promise = launchTask<Outcome>((callback) => {
      callback(told);
      callback({ status: GENERAL_FAILURE });
      return { status: NONE };
    }, fail);
    expect(await promise).toBe(told);
  });

  it("uses the status of a launch that fails, regardless of the callback, and does not wait for it", async () => {
    const status = ErrorStatus.DEVICE_UNAVAILABLE;
    expect(
      await launchTask<Outcome>((callback) => {
        callback(told);
        return { status, message: "busy" };
      }, fail),
    ).toEqual({ status, message: "busy" });
    expect(await launchTask<Outcome>(() => ({ status }), fail)).toEqual({ status });
  });

  it("makes failures of errors that a driver throws and of numbers that are not a status", async () => {
    const thrown = await launchTask<Outcome>(() => {
      throw new Error("transport");
    }, fail);
    expect(thrown).toEqual({ status: GENERAL_FAILURE, message: "the driver failed: transport" });
    const odd = await launchTask<Outcome>(() => ({ status: 99 as ErrorStatus }), fail);
    expect(odd).toEqual({ status: GENERAL_FAILURE });
  });
});
