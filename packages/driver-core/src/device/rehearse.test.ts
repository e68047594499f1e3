import { operationByCode } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { createTraceRecorder } from "@nnhal/utils";
import { expect, it } from "vitest";
import { absModel, fakeDevice, fakeSession, succeeding } from "./fake-backend.test-helper.ts";
import { rehearse } from "./rehearse.ts";

it("goes all the way of an execution", async () => {
  const session = await fakeSession();
  // A request that the device refused would be no rehearsal.
  const status = await rehearse({ name: "rehearsed", session, operationByCode, random: Math.random });
  expect(status).toBe(ErrorStatus.NONE);
});

it("is nothing that a backend or a trace sees", async () => {
  const calls: string[] = [];
  const trace = createTraceRecorder();
  trace.start();
  const device = await fakeDevice(
    {
      compile: async () => {
        calls.push("compile");
        return { ...succeeding, run: () => Promise.reject(new Error("there is nothing to run")) };
      },
    },
    { trace },
  );
  await device.prepareModel(absModel);
  expect(calls).toEqual(["compile"]);
  expect(trace.read().sections.map(({ detail }) => detail)).toEqual([
    "fake: open",
    "nnhal-fake: prepareModel",
    "compile",
  ]);
});
