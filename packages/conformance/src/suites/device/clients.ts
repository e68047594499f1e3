/**
 * Calls of a client that ended: every answer says that the client is gone. Its executions are covered by the suite
 * `prepared-model`, its tokens by `memory`.
 */
import { createChannel } from "@nnhal/driver-core/burst";
import { createFence } from "@nnhal/driver-core/fence";
import { DeviceStatus, deviceStatusNames, ErrorStatus, type Outcome } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { anotherClient, type Bench, needMethod, prepare, smallModel } from "../bench.ts";
import { openBurst } from "../burst/open.ts";
import { expectStatus, expectThat } from "../check.ts";
import { trialFor } from "../execution.ts";
import { allocate, role } from "../memory/buffers.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { memoryWith, newMemory } from "../values.ts";

const { DEVICE_UNAVAILABLE, INVALID_ARGUMENT } = ErrorStatus;

function expectGone(call: string, outcome: Outcome): void {
  expectStatus(`${call} of a client that ended`, outcome, DEVICE_UNAVAILABLE, INVALID_ARGUMENT);
}

/** A client that ended, a model, and the prepared model that the client had of it. */
async function endedClient(bench: Bench) {
  const small = await smallModel(bench);
  const client = anotherClient(bench);
  const preparedModel = await prepare(client, small.model);
  await client.close();
  return { client, small, preparedModel, trial: trialFor(small, [sampleValues(small.type, 6)]) };
}

export const clientCases: readonly SuiteCase[] = [
  ...group("clients", "1.0", {
    async "getStatus of a client that ended is OFFLINE, and that of others AVAILABLE"(bench) {
      const { client } = await endedClient(bench);
      for (const [what, { own }, expected] of [
        ["a client that ended", client, DeviceStatus.OFFLINE],
        ["another client", bench, DeviceStatus.AVAILABLE],
      ] as const) {
        const status = own.device.getStatus();
        expectThat(status === expected, () => {
          return `getStatus of ${what}: expected ${deviceStatusNames.get(expected)}, got ${deviceStatusNames.get(status)}`;
        });
      }
    },
    async "a closed client gets no facts about the device"(bench) {
      const { client } = await endedClient(bench);
      const { device } = client.own;
      expectGone("getCapabilities", device.getCapabilities());
      expectGone("getType", device.getType());
      expectGone("getVersionString", device.getVersionString());
      expectGone("getSupportedExtensions", device.getSupportedExtensions());
      expectGone("getNumberOfCacheFilesNeeded", device.getNumberOfCacheFilesNeeded());
    },
    async "getSupportedOperations of a client that ended says so"(bench) {
      const { client, small } = await endedClient(bench);
      expectGone("getSupportedOperations", await client.device.getSupportedOperations(small.model));
    },
    async "closing a client twice is closing it once"(bench) {
      const { client } = await endedClient(bench);
      await bench.watch.within("close of a client that ended", () => client.close());
    },
  }),
  ...group("clients", "1.2", {
    async "prepareModelFromCache of a client that ended says so"(bench) {
      const { client } = await endedClient(bench);
      const cache = { modelCache: [], dataCache: [], token: new Uint8Array(32) };
      const { device } = client;
      if (device.prepareModelFromCache === undefined) endAsUnsupported("kept models");
      const { preparedModel, ...outcome } = await device.prepareModelFromCache(cache);
      bench.after(() => preparedModel?.close());
      expectGone("prepareModelFromCache", outcome);
    },
    async "configureExecutionBurst of a client that ended says so"(bench) {
      await needMethod(bench, "configureExecutionBurst");
      const { preparedModel } = await endedClient(bench);
      const callback = { getMemories: () => ({ status: INVALID_ARGUMENT, buffers: [] }) };
      const requests = createChannel("FmqRequestDatum", 1024, newMemory).descriptor;
      const results = createChannel("FmqResultDatum", 1024, newMemory).descriptor;
      const launched = await preparedModel.configureExecutionBurst?.(callback, requests, results);
      if (launched === undefined) endAsUnsupported("bursts");
      bench.after(() => launched.context?.close?.());
      expectGone("configureExecutionBurst", launched);
    },
    async "a burst of a client that ends falls back, or says so"(bench) {
      const small = await smallModel(bench);
      const client = anotherClient(bench);
      const { burst } = await openBurst(client, await prepare(client, small.model));
      if (burst === null) endAsUnsupported("bursts");
      const { request } = trialFor(small, [sampleValues(small.type, 6)]);
      expectStatus("a burst", await burst.compute(request), ErrorStatus.NONE);
      await client.close();
      const { fallback, ...outcome } = await burst.compute(request);
      if (!fallback) expectGone("a burst", outcome);
    },
  }),
  ...group("clients", "1.3", {
    async "executeFenced of a client that ended says so"(bench) {
      const { preparedModel, trial } = await endedClient(bench);
      if (preparedModel.executeFenced === undefined) endAsUnsupported("fenced executions");
      expectGone("executeFenced", await preparedModel.executeFenced(trial.request, []));
    },
    async "an execution that waits for a fence ends with its client"(bench) {
      const small = await smallModel(bench);
      const client = anotherClient(bench);
      const preparedModel = await prepare(client, small.model);
      const { fence, signal } = createFence();
      bench.after(signal);
      const { request } = trialFor(small, [sampleValues(small.type, 6)]);
      const launched = await preparedModel.executeFenced?.(request, [fence]);
      if (launched === undefined) endAsUnsupported("fenced executions");
      expectStatus("executeFenced", launched, ErrorStatus.NONE);
      await client.close();
      const state = await launched.syncFence?.wait();
      expectThat(state === "ERROR", () => `executeFenced of a client that ended: the fence is ${state}`);
      const info = await launched.callback?.getExecutionInfo();
      if (info !== undefined) expectGone("getExecutionInfo", info);
    },
    async "allocate of a client that ended says so"(bench) {
      const { client, preparedModel } = await endedClient(bench);
      const { device } = client;
      if (device.allocate === undefined) endAsUnsupported("device memory");
      const {
        buffer,
        token: _,
        ...outcome
      } = await device.allocate({ dimensions: [] }, [preparedModel], [role(0)], []);
      bench.after(() => buffer?.close?.());
      expectGone("allocate", outcome);
    },
    async "copyFrom and copyTo of a client that ended say so"(bench) {
      const small = await smallModel(bench);
      const client = anotherClient(bench);
      const preparedModel = await prepare(client, small.model);
      const { buffer } = await allocate(client, { models: [preparedModel], inputs: [role(0)] });
      await client.close();
      const memory = memoryWith(small.type, sampleValues(small.type, 6));
      expectGone("copyFrom", await buffer.copyFrom(memory, []));
      expectGone("copyTo", await buffer.copyTo(memory));
    },
  }),
];
