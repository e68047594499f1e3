import type { Executable, InputBuffer, OutputBuffer } from "@nnhal/backend";
import { ErrorStatus, type ExecuteOptions, MeasureTiming, type Memory, type Request } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import {
  bufferFor,
  floats,
  floatsIn,
  prepareOn,
  referenceDevice,
  reluModel,
} from "../domains/relu-model.test-helper.ts";
import { createFence } from "../fence/fence.ts";
import { absModel, absRequest, fakeDevice, succeeding } from "./fake-backend.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

/** A prepared model over an executable that runs as given, and its arguments in each run. */
async function prepare(run: Executable["run"] = succeeding.run) {
  const runs: { readonly inputs: readonly (InputBuffer | undefined)[]; readonly outputs: readonly OutputBuffer[] }[] =
    [];
  const device = await fakeDevice({
    compile: async () => ({
      ...succeeding,
      run(inputs, outputs, context) {
        runs.push({ inputs, outputs });
        return run(inputs, outputs, context);
      },
    }),
  });
  const { preparedModel } = await device.prepareModel(absModel);
  if (preparedModel === null) throw new Error("not prepared");
  return { preparedModel, runs };
}

async function createOn(
  { preparedModel }: Awaited<ReturnType<typeof prepare>>,
  request: Request,
  options?: ExecuteOptions,
) {
  const result = await preparedModel.createReusableExecution?.(request, options);
  if (!result?.execution) throw new Error(`no execution: ${result?.message}`);
  return result.execution;
}

describe("createReusableExecution", () => {
  it("binds the request for runs behind fences, too", async () => {
    const prepared = await prepare();
    const execution = await createOn(prepared, absRequest().request);
    for (let run = 0; run < 3; run++) {
      const launched = await execution.executeFenced([]);
      expect(launched).toMatchObject({ status: NONE });
      await launched.syncFence?.wait();
    }
    const [first, ...others] = prepared.runs;
    expect(others.slice(1).every(({ inputs }) => inputs === others[0]?.inputs)).toBe(true);
    expect(others).toHaveLength(2);
    expect(first?.inputs).not.toBe(others[0]?.inputs);
  });

  it("checks the request once, and binds it for all runs", async () => {
    const prepared = await prepare();
    let reads = 0;
    const { request } = absRequest();
    const counted: Request = {
      ...request,
      get inputs() {
        reads++;
        return request.inputs;
      },
    };
    const execution = await createOn(prepared, counted);
    const readsOfSetUp = reads;
    for (let run = 0; run < 3; run++) {
      expect(await execution.execute()).toMatchObject({
        status: NONE,
        outputShapes: [{ dimensions: [2], isSufficient: true }],
      });
    }
    expect(reads).toBe(readsOfSetUp);
    const { runs } = prepared;
    expect(runs).toHaveLength(3);
    expect(runs[1]?.inputs[0]).toBe(runs[0]?.inputs[0]);
    expect(runs[2]?.outputs[0]).toBe(runs[0]?.outputs[0]);
  });

  it.each<[string, (request: Request) => Request, ExecuteOptions | undefined]>([
    ["a request without inputs", (request) => ({ ...request, inputs: [] }), undefined],
    ["a token that no buffer has", (request) => ({ ...request, pools: [{ kind: "token", token: 5 }] }), undefined],
    // Callers without types.
    ["no request", () => null as unknown as Request, undefined],
    ["a loop timeout that is a number", (request) => request, { loopTimeoutDuration: 5 as unknown as bigint }],
    ["a measure of 7", (request) => request, { measure: 7 as MeasureTiming }],
  ])("refuses %s", async (_what, change, options) => {
    const { preparedModel, runs } = await prepare();
    const result = await preparedModel.createReusableExecution?.(change(absRequest().request), options);
    expect(result).toMatchObject({ status: INVALID_ARGUMENT, execution: null, message: expect.any(String) });
    expect(runs).toEqual([]);
  });

  it("refuses everything once the prepared model is closed", async () => {
    const prepared = await prepare();
    const { request } = absRequest();
    const execution = await createOn(prepared, request);
    prepared.preparedModel.close();
    expect(await execution.execute()).toMatchObject({ status: INVALID_ARGUMENT });
    expect(await prepared.preparedModel.createReusableExecution?.(request)).toMatchObject({
      status: INVALID_ARGUMENT,
      execution: null,
    });
  });
});

describe("a reusable execution", () => {
  it("runs once at a time, behind fences too", async () => {
    let finish = () => {};
    const prepared = await prepare(
      (_inputs, outputs) =>
        new Promise((resolve) => {
          finish = () =>
            resolve({
              status: NONE,
              outputShapes: outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true })),
            });
        }),
    );
    const execution = await createOn(prepared, absRequest().request);
    const first = execution.execute();
    const busy = { status: GENERAL_FAILURE, message: expect.stringContaining("runs once at a time") };
    expect(await execution.execute()).toMatchObject(busy);
    expect(await execution.executeFenced([])).toMatchObject({ ...busy, syncFence: null, callback: null });
    finish();
    expect(await first).toMatchObject({ status: NONE });
    const { fence, signal } = createFence();
    const launched = await execution.executeFenced([fence]);
    expect(launched).toMatchObject({ status: NONE });
    expect(await execution.execute()).toMatchObject(busy);
    signal();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await execution.execute()).toMatchObject(busy);
    finish();
    expect(await launched.syncFence?.wait()).toBe("SIGNALED");
    const last = execution.execute();
    finish();
    expect(await last).toMatchObject({ status: NONE });
    expect(prepared.runs).toHaveLength(3);
  });

  it("goes on after a run that has failed", async () => {
    let status: ErrorStatus = GENERAL_FAILURE;
    const prepared = await prepare((_inputs, outputs) => ({
      status,
      outputShapes: outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true })),
    }));
    const execution = await createOn(prepared, absRequest().request);
    expect(await execution.execute()).toMatchObject({ status: GENERAL_FAILURE });
    status = NONE;
    expect(await execution.execute()).toMatchObject({ status: NONE });
  });

  it("takes a deadline for each run, and measures each if it was set up so", async () => {
    const prepared = await prepare();
    const execution = await createOn(prepared, absRequest().request, { measure: MeasureTiming.YES });
    expect(await execution.execute({ deadline: 0n })).toMatchObject({ status: ErrorStatus.MISSED_DEADLINE_PERSISTENT });
    const { status, timing } = await execution.execute();
    expect(status).toBe(NONE);
    expect(timing.timeInDriver).toBeLessThan(10n ** 9n);
    // A caller without types.
    expect(await execution.execute({ deadline: 5 as unknown as bigint })).toMatchObject({ status: INVALID_ARGUMENT });
    expect(await execution.executeFenced([], { duration: 5 as unknown as bigint })).toMatchObject({
      status: INVALID_ARGUMENT,
    });
  });

  it("finds a buffer that was transferred after it was set up", async () => {
    const buffer = new ArrayBuffer(16);
    const memory: Memory = { name: "ashmem", size: 16, handle: { kind: "buffer", buffer, byteOffset: 0 } };
    const prepared = await prepare();
    const { request } = absRequest();
    const execution = await createOn(prepared, { ...request, pools: [{ kind: "memory", memory }] });
    expect(await execution.execute()).toMatchObject({ status: NONE });
    structuredClone(buffer, { transfer: [buffer] });
    expect((await execution.execute()).status).not.toBe(NONE);
    expect(prepared.runs).toHaveLength(1);
  });

  it("checks in each run that a device buffer has a value", async () => {
    const device = await referenceDevice();
    const model = await prepareOn(device, reluModel({ dimensions: [2] }));
    const { buffer, token } = await bufferFor(device, model, [0], []);
    const output = floats(0, 0);
    const nowhere = { poolIndex: 0, offset: 0, length: 0 };
    const request: Request = {
      inputs: [{ hasNoValue: false, location: nowhere, dimensions: [] }],
      outputs: [{ hasNoValue: false, location: { poolIndex: 1, offset: 0, length: 8 }, dimensions: [] }],
      pools: [
        { kind: "token", token },
        { kind: "memory", memory: output },
      ],
    };
    const created = await model.createReusableExecution?.(request);
    const execution = created?.execution;
    expect(await execution?.execute()).toMatchObject({ status: GENERAL_FAILURE });
    expect(await buffer.copyFrom(floats(-1, 2), [])).toMatchObject({ status: NONE });
    expect(await execution?.execute()).toMatchObject({ status: NONE });
    expect([...floatsIn(output)]).toEqual([0, 2]);
    await buffer.copyFrom(floats(1), []);
    expect(await execution?.execute()).toMatchObject({ status: GENERAL_FAILURE });
  });
});
