import { ErrorStatus, type ExecutionInfo } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { expect, it } from "vitest";
import { startFenced } from "./fenced-work.ts";

const timing = { timingLaunched: notMeasured, timingFenced: notMeasured };

async function waitForEnd(work: () => Promise<ExecutionInfo>) {
  const { answer, ended } = startFenced(work);
  await ended;
  return { state: answer.syncFence?.state, info: await answer.callback?.getExecutionInfo() };
}

it("is active until the work has ended, then signalled", async () => {
  let end = (_: ExecutionInfo) => {};
  const { answer, ended } = startFenced(() => new Promise((resolve) => (end = resolve)));
  expect(answer.status).toBe(ErrorStatus.NONE);
  expect(answer.syncFence?.state).toBe("ACTIVE");
  expect(await answer.callback?.getExecutionInfo()).toMatchObject({ status: ErrorStatus.GENERAL_FAILURE });
  end({ status: ErrorStatus.NONE, ...timing });
  await ended;
  expect(answer.syncFence?.state).toBe("SIGNALED");
  expect(await answer.callback?.getExecutionInfo()).toEqual({ status: ErrorStatus.NONE, ...timing });
});

it("fails with the work", async () => {
  const info = { status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, message: "late", ...timing };
  expect(await waitForEnd(async () => info)).toEqual({ state: "ERROR", info });
});

it("treats an output that is too small as a failure", async () => {
  const { state, info } = await waitForEnd(async () => ({ status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, ...timing }));
  expect([state, info?.status]).toEqual(["ERROR", ErrorStatus.GENERAL_FAILURE]);
});

it("fails if the work throws", async () => {
  const { state, info } = await waitForEnd(async () => {
    throw new Error("broken");
  });
  expect([state, info?.status, info?.message]).toEqual(["ERROR", ErrorStatus.GENERAL_FAILURE, "executing: broken"]);
});
