/** AIDL at both ends of a connection: the served device is behind its interface, and so is the client's. */
import { memoryOf } from "@nnhal/driver-core/memory";
import { asVersion, convertToAidl1, liftDevice } from "@nnhal/driver-core/versions";
import { addModel } from "@nnhal/test-kit/models";
import {
  type AidlVersion,
  aidlVersions,
  type Device,
  ErrorStatus,
  ExecutionPreference,
  Priority,
  type Request,
} from "@nnhal/types";
import { type AIDL1, type AIDL4, ServiceSpecificException } from "@nnhal/types/aidl";
import { describe, expect, it } from "vitest";
import { addRequest, connectEnds, pairs, reference } from "./ends.test-helper.ts";

/** Prepares the sum of two values through an interface. */
async function prepareThrough<Version extends AidlVersion>(device: Device, version: Version) {
  const driver = asVersion[version](device);
  const prepared = new Promise<AIDL1.IPreparedModel>((resolve, reject) => {
    driver.prepareModel(
      convertToAidl1.model(addModel([2])).value,
      ...([ExecutionPreference.FAST_SINGLE_ANSWER, Priority.MEDIUM, -1n, [], [], new Uint8Array(32)] as const),
      { notify: (status, model) => (model === null ? reject(new Error(`status ${status}`)) : resolve(model)) },
    );
  });
  return prepared;
}

/** A request on a memory of three values and 40 bytes of padding after the first. */
function paddedRequest(padding: number) {
  const values = new Float32Array(16);
  const request = addRequest(memoryOf(new Uint8Array(values.buffer)));
  const offsets = [0, 48, 56];
  const place = (list: Request["inputs"], from: number) =>
    list.map((argument, index) => ({
      ...argument,
      location: { poolIndex: 0, offset: offsets[from + index] ?? 0, length: 8, ...(from + index === 0 && { padding }) },
    }));
  const padded = { ...request, inputs: place(request.inputs, 0), outputs: place(request.outputs, 2) };
  return { values, request: convertToAidl1.request(padded).value };
}

const statusOf = (call: Promise<unknown>) =>
  call.then(
    () => ErrorStatus.NONE,
    (error: unknown) => (error instanceof ServiceSpecificException ? error.errorCode : String(error)),
  );

describe.each(pairs)("over a channel of kind %s", (_name, pair, passing) => {
  it.each(aidlVersions)("%s has padding, and bursts that keep memories by their names", async (version) => {
    const device = await reference();
    const served = liftDevice("nnhal-lifted", asVersion[version](device));
    const { remote } = await connectEnds(served, pair, { passing });
    expect(remote.halVersion).toBe(version);
    const model = await prepareThrough(remote, version);
    const { values, request } = paddedRequest(40);
    const set = (value: number) => {
      values.set([value, 2 * value]);
      values.set([10, 20], 12);
    };
    set(1);
    expect(await model.executeSynchronously(request, false, -1n, -1n)).toMatchObject({ outputSufficientSize: true });
    expect([...values.subarray(14)]).toEqual([11, 22]);
    const { request: beyond } = paddedRequest(57);
    expect(await statusOf(model.executeSynchronously(beyond, false, -1n, -1n))).toBe(ErrorStatus.INVALID_ARGUMENT);

    const burst = await model.configureExecutionBurst();
    const run = (own: AIDL1.Request, token: bigint) => burst.executeSynchronously(own, [token], false, -1n, -1n);
    set(3);
    await run(request, 7n);
    expect([...values.subarray(14)]).toEqual([13, 26]);
    // The memory that is kept by the name is used, and not that of the request.
    const other = paddedRequest(40);
    other.values.fill(50);
    set(4);
    await run(other.request, 7n);
    expect([...values.subarray(14)]).toEqual([14, 28]);
    expect([...other.values.subarray(14)]).toEqual([50, 50]);
    burst.releaseMemoryResource(7n);
    await run(other.request, 7n);
    expect([...other.values.subarray(14)]).toEqual([100, 100]);
    expect(await statusOf(run(request, -2n))).toBe(ErrorStatus.INVALID_ARGUMENT);
    expect(await statusOf(burst.executeSynchronously(request, [], false, -1n, -1n))).toBe(ErrorStatus.INVALID_ARGUMENT);
    remote.close();
    await device.close();
  });

  it("aidl4 runs what was set up, at once and behind fences", async () => {
    const device = await reference();
    const { remote } = await connectEnds(liftDevice("nnhal-lifted", asVersion.aidl4(device)), pair, { passing });
    const model = (await prepareThrough(remote, "aidl4")) as AIDL4.IPreparedModel;
    const { values, request } = paddedRequest(8);
    const config = {
      ...{ measureTiming: false, loopTimeoutDurationNs: -1n },
      ...{ executionHints: [], extensionNameToPrefix: [] },
    };
    const execution = await model.createReusableExecution(request, config);
    for (const value of [1, 2]) {
      values.set([value, value]);
      values.set([10, 20], 12);
      await execution.executeSynchronously(-1n);
      expect([...values.subarray(14)]).toEqual([10 + value, 20 + value]);
      values.set([-value, -value]);
      const { syncFence, callback } = await execution.executeFenced([], -1n, -1n);
      await syncFence?.wait();
      expect(await callback.getExecutionInfo()).toMatchObject({ status: ErrorStatus.NONE });
      expect([...values.subarray(14)]).toEqual([10 - value, 20 - value]);
    }
    execution.close?.();
    remote.close();
    await device.close();
  });
});
