/**
 * Clients that come and go while they prepare, allocate and execute: every call is answered, and nothing of theirs is left.
 */
import type { BackendBuffer, Executable, RunResult } from "@nnhal/backend";
import { ErrorStatus, type PreparedModel } from "@nnhal/types";
import fc from "fast-check";
import { expect, it } from "vitest";
import { floats, reluModel, requestFor } from "../domains/relu-model.test-helper.ts";
import { createFence } from "../fence/fence.ts";
import { allocateMemory } from "../memory/memory.ts";
import type { ClientDevice } from "./client-device.ts";
import { fakeBackend, succeeding } from "./fake-backend.test-helper.ts";
import { openDevice } from "./index.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE, DEVICE_UNAVAILABLE } = ErrorStatus;

/** A device over a backend that takes a turn of the event loop for every call, and the number of its open objects. */
async function countingDevice() {
  const open = { executables: 0, buffers: 0, runs: 0 };
  const turn = () => new Promise(setImmediate);
  const run = async (...[, outputs]: Parameters<Executable["run"]>): Promise<RunResult> => {
    open.runs++;
    await turn();
    open.runs--;
    return { status: NONE, outputShapes: outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true })) };
  };
  const backend = fakeBackend({
    async compile() {
      open.executables++;
      await turn();
      return { ...succeeding, run, close: () => void open.executables-- };
    },
    allocate(): BackendBuffer {
      open.buffers++;
      return { read: () => {}, write: () => {}, close: () => void open.buffers-- };
    },
  });
  const device = await openDevice({ backend, concurrency: 2 });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return { device, open };
}

const actions = ["prepare", "allocate", "execute", "fenced", "wait", "close model"] as const;

/** Does one thing after the other for a client, without waiting for most of it; gives the statuses of all answers. */
async function live(client: ClientDevice, todo: readonly (typeof actions)[number][]): Promise<ErrorStatus[]> {
  const models: PreparedModel[] = [];
  const answers: Promise<{ readonly status: ErrorStatus }>[] = [];
  const request = () => requestFor([floats(1, 2, 3, 4, 5, 6)], [allocateMemory(24)]);
  for (const action of todo) {
    const model = models.at(-1);
    if (action === "prepare" || model === undefined) {
      const prepared = await client.prepareModel(reluModel());
      if (prepared.preparedModel !== null) models.push(prepared.preparedModel);
      answers.push(Promise.resolve(prepared));
    } else if (action === "allocate") {
      const roles = [{ modelIndex: 0, ioIndex: 0, frequency: 1 }];
      answers.push(client.allocate({ dimensions: [] }, [model], roles, []));
    } else if (action === "execute") {
      answers.push(model.execute(request()));
    } else if (action === "fenced") {
      const launched = model.executeFenced?.(request(), [createFence().fence]);
      const waitForEnd = async () => {
        const fenced = await launched;
        // A fence that is never signalled: the client's end ends it.
        await fenced?.syncFence?.wait();
        return (await fenced?.callback?.getExecutionInfo()) ?? fenced ?? { status: GENERAL_FAILURE };
      };
      answers.push(waitForEnd());
    } else if (action === "close model") {
      models.pop()?.close();
    } else {
      await new Promise(setImmediate);
    }
  }
  await client.close();
  return (await Promise.all(answers)).map(({ status }) => status);
}

it("leave nothing behind and no call without an answer", async () => {
  const life = fc.array(fc.constantFrom(...actions), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 8 }), async (lives) => {
      const { device, open } = await countingDevice();
      const seen = await Promise.all(lives.map((todo) => live(device.connect(), todo)));
      const allowed = [NONE, INVALID_ARGUMENT, DEVICE_UNAVAILABLE];
      for (const status of seen.flat()) expect(allowed).toContain(status);
      expect(open).toEqual({ executables: 0, buffers: 0, runs: 0 });
      await device.close();
    }),
    { numRuns: 60 },
  );
});
