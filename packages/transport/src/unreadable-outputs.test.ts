/** Outputs of launches that a client cannot read back: the launch fails, and what comes after it does not. */
import { createFence } from "@nnhal/driver-core/fence";
import { allocateMemory } from "@nnhal/driver-core/memory";
import { addModel } from "@nnhal/test-kit/models";
import { ErrorStatus, type FencedResult, type SyncFence } from "@nnhal/types";
import { expect, it } from "vitest";
import { memoryChannels, threadPassing } from "./channel/index.ts";
import { addRequest, connectEnds, prepare, reference } from "./ends.test-helper.ts";
import type { PassingFactory } from "./memory/passing.ts";

/** A connected model, memory of which cannot be read back while `fails.now`, and its launches behind fences. */
async function connect() {
  const fails = { now: true };
  const passing: PassingFactory = (onUnused) => {
    const own = threadPassing(onUnused);
    const load = () => {
      if (fails.now) throw new Error("planted");
    };
    return {
      ...own,
      pass(memory) {
        const passed = own.pass(memory);
        return "refused" in passed ? passed : { ...passed, load };
      },
    };
  };
  const ends = await connectEnds(await reference(), async () => memoryChannels(), { passing });
  const model = await prepare(ends.remote, addModel([2]));
  const reusable = async () => {
    const result = await model.createReusableExecution?.(addRequest(allocateMemory(24)));
    const execution = result?.execution ?? null;
    if (execution === null) throw new Error(result?.message);
    return (waitFor: readonly SyncFence[]) => execution.executeFenced(waitFor);
  };
  const single = async () => async (waitFor: readonly SyncFence[]) => {
    const result = await model.executeFenced?.(addRequest(allocateMemory(24)), waitFor);
    if (result === undefined) throw new Error("no fenced executions");
    return result;
  };
  return { ...ends, fails, ways: { reusable, single } };
}

const endOf = async ({ status, syncFence }: FencedResult) => [status, await syncFence?.wait()];

it.each(["reusable", "single"] as const)("fail a launch (%s) that has ended, and not the next", async (way) => {
  const { remote, fails, ways } = await connect();
  const launch = await ways[way]();
  const { status, message } = await launch([]);
  expect(status).toBe(ErrorStatus.GENERAL_FAILURE);
  expect(message).toContain("the outputs cannot be read: planted");
  fails.now = false;
  expect((await launch([])).status).toBe(ErrorStatus.NONE);
  remote.close();
});

it.each(["reusable", "single"] as const)("fail the fence of a launch (%s), and not the next one", async (way) => {
  const { remote, fails, ways } = await connect();
  const launch = await ways[way]();
  const start = createFence();
  const launched = await launch([start.fence]);
  start.signal();
  expect(await endOf(launched)).toEqual([ErrorStatus.NONE, "ERROR"]);
  fails.now = false;
  const next = createFence();
  const second = await launch([next.fence]);
  next.signal();
  expect(await endOf(second)).toEqual([ErrorStatus.NONE, "SIGNALED"]);
  remote.close();
});

it("do not keep the other fences of a service that is gone from failing", async () => {
  const { served, ways } = await connect();
  const { fence } = createFence();
  const launched = [await (await ways.single())([fence]), await (await ways.reusable())([fence])];
  await served.close();
  for (const one of launched) expect(await endOf(one)).toEqual([ErrorStatus.NONE, "ERROR"]);
});
