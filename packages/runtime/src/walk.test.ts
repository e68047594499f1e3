/**
 * The way of a repeated execution from `compute` to a kernel and back, counted: functions on the stack, and checks of shapes. Decision 280 has the
 * numbers.
 */
import { Session } from "node:inspector/promises";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import type { Device, ExecutionResult } from "@nnhal/types";
import { expect, it } from "vitest";
import { Execution } from "./execution.ts";
import { addModel, compile, openReference } from "./models.test-helper.ts";

/** The stack of the last run of the kernel, from the kernel on. */
let stack: readonly string[] = [];

/** A device over the reference whose kernel of ADD notes its stack. */
async function openNoting(): Promise<Device> {
  const backend = createReferenceBackend({
    definitionFor: (operation) => ({
      ...operation,
      reference(...args) {
        const { stackTraceLimit } = Error;
        Error.stackTraceLimit = 100;
        stack = new Error("here").stack?.split("\n").slice(1) ?? [];
        Error.stackTraceLimit = stackTraceLimit;
        return operation.reference?.(...args);
      },
    }),
  });
  // Its time stands still: no execution waits for the next turn of the event loop.
  const device = await openDevice({ backend, now: () => 1n });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** Returns a function that executes `sum = left + right` with the same arguments, after it has run twice. */
async function repeat(device: Device): Promise<() => Promise<void>> {
  const compilation = await compile(addModel(), [device]);
  const [left, right, sum] = [Float32Array.of(1, 2), Float32Array.of(3, 4), new Float32Array(2)];
  const run = async () => {
    const execution = new Execution(compilation);
    execution.setInput(0, left);
    execution.setInput(1, right);
    execution.setOutput(0, sum);
    await execution.compute();
    expect(sum).toEqual(Float32Array.of(4, 6));
  };
  await run();
  await run();
  return run;
}

/** Calls of our functions during a piece of work, by file and name. */
async function countCalls(work: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await work();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const counts = new Map<string, number>();
  for (const { url, functions } of result) {
    const file = /packages\/(.*?\.ts)/.exec(url)?.[1];
    if (file === undefined) continue;
    for (const { functionName, ranges } of functions) {
      const count = ranges[0]?.count ?? 0;
      if (count > 0) counts.set(`${file} ${functionName}`, count);
    }
  }
  return counts;
}

it("makes 20 calls at most from compute to the kernel", async () => {
  const run = await repeat(await openNoting());
  let hops = -1;
  // On a busy machine a run may have paused before the kernel, which then is not called from compute.
  for (let tries = 0; tries < 20 && hops < 0; tries++) {
    await run();
    // Generators are resumed by a function of the engine.
    hops = stack.filter((line) => !line.endsWith("(<anonymous>)")).findIndex((line) => line.includes(".compute ("));
  }
  expect(hops, stack.join("\n")).toBeGreaterThan(0);
  expect(hops).toBeLessThanOrEqual(20);
});

it("checks the shape of each argument three times at most", async () => {
  const run = await repeat(await openNoting());
  const counts = await countCalls(run);
  const of = (place: string) => counts.get(place) ?? 0;
  // Each argument when it is set, of which there are three.
  expect(of("runtime/src/model-slots.ts lengthsOf")).toBe(3);
  // The inputs in the engine, the outputs there before and after they are computed.
  expect(of("backend/src/kernels/run.ts infoAt")).toBe(2);
  expect(of("backend/src/kernels/output-buffers.ts shortage")).toBe(1);
  expect(of("validation/src/result.ts checkResult")).toBe(1);
  // A repeated request has enough bytes, and an answer that the device has checked is not checked again.
  expect(of("driver-core/src/device/bind.ts isSufficient")).toBe(0);
  expect(of("validation/src/request.ts requestIssues")).toBe(0);
});

it("checks the answers of a device that has copied or changed them", async () => {
  const own = await openReference();
  const changed: Device = {
    ...own,
    prepareModel: async (...args) => {
      const answer = await own.prepareModel(...args);
      const { preparedModel } = answer;
      if (preparedModel === null) return answer;
      const outputShapes = [{ dimensions: [3], isSufficient: true }];
      const execute = async (...request: Parameters<typeof preparedModel.execute>): Promise<ExecutionResult> => ({
        ...(await preparedModel.execute(...request)),
        outputShapes,
      });
      return { ...answer, preparedModel: { ...preparedModel, execute } };
    },
  };
  await expect(repeat(changed)).rejects.toThrow("output 0 has dimensions [3] where a TENSOR_FLOAT32 [2] is declared");
});
