import type { Executable, RunContext, RunResult } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, LoopTimeoutDurationNs, MeasureTiming, type Request } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it } from "vitest";
import { createChannel } from "../burst/channel.ts";
import { createBurst } from "../burst/controller.ts";
import { openDevice } from "./device.ts";
import { absModel, absRequest, fakeDevice, succeeding } from "./fake-backend.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;
const sufficient = [{ dimensions: [2], isSufficient: true }];

/** A prepared model over an executable that runs as given. */
async function prepare(run: Executable["run"] = succeeding.run, change: Partial<Executable> = {}, now?: () => bigint) {
  const device = await fakeDevice({ compile: async () => ({ ...succeeding, run, ...change }) }, now && { now });
  const { preparedModel } = await device.prepareModel(absModel);
  if (preparedModel === null) throw new Error("not prepared");
  return preparedModel;
}

describe("PreparedModel", () => {
  it("runs on the reference backend", async () => {
    const device = await openDevice({ backend: referenceBackend });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const { preparedModel } = await device.prepareModel(absModel);
    const { request, output } = absRequest([-1.5, 2]);
    await expect(preparedModel?.execute(request)).resolves.toEqual({
      status: NONE,
      outputShapes: sufficient,
      timing: notMeasured,
    });
    expect(output()).toEqual([1.5, 2]);
  });

  it("hands the backend views on the pools and what is known of the shapes", async () => {
    const { request } = absRequest();
    const [first] = request.pools;
    const pool = first?.kind === "memory" ? first.memory.handle : null;
    const model = await prepare((inputs, outputs) => {
      const [input] = inputs;
      expect(pool?.kind === "buffer" && pool.buffer).toBe(input?.bytes.buffer);
      expect([input?.dimensions, elementAt(outputs, 0).dimensions]).toEqual([[2], [2]]);
      expect([input?.bytes.byteOffset, elementAt(outputs, 0).bytes.byteOffset]).toEqual([0, 8]);
      return { status: NONE, outputShapes: sufficient };
    });
    await expect(model.execute(request)).resolves.toMatchObject({ status: NONE });
  });

  it.each<[string, (request: Request) => Request, string]>([
    ["too few inputs", (request) => ({ ...request, inputs: [] }), "the request is not valid"],
    [
      "a place outside the pool",
      (request) => ({
        ...request,
        outputs: [{ ...elementAt(request.outputs, 0), location: { poolIndex: 0, offset: 9, length: 8 } }],
      }),
      "the request is not valid",
    ],
    [
      "a token that no buffer has",
      (request) => ({
        ...request,
        pools: [{ kind: "token", token: 5 }],
        inputs: [{ ...elementAt(request.inputs, 0), location: { poolIndex: 0, offset: 0, length: 0 } }],
        outputs: [{ ...elementAt(request.outputs, 0), location: { poolIndex: 0, offset: 0, length: 0 } }],
      }),
      "token 5",
    ],
  ])("refuses a request with %s", async (_what, change, message) => {
    const result = await (await prepare()).execute(change(absRequest().request));
    expect(result).toMatchObject({ status: INVALID_ARGUMENT, outputShapes: [], timing: notMeasured });
    expect(result.message).toContain(message);
  });

  it("turns what the backend throws into a status and a message", async () => {
    const throwing = await prepare(() => {
      throw new Error("on fire");
    });
    const rejecting = await prepare(() => Promise.reject(new Error("on fire")));
    for (const model of [throwing, rejecting]) {
      await expect(model.execute(absRequest().request)).resolves.toEqual({
        status: GENERAL_FAILURE,
        message: "executing: on fire",
        outputShapes: [],
        timing: notMeasured,
      });
    }
  });

  it("returns shapes only with NONE and OUTPUT_INSUFFICIENT_SIZE", async () => {
    const shapesWith = async (status: ErrorStatus) => {
      const isSufficient = status !== OUTPUT_INSUFFICIENT_SIZE;
      const model = await prepare((): RunResult => ({ status, outputShapes: [{ dimensions: [2], isSufficient }] }));
      return (await model.execute(absRequest().request)).outputShapes.length;
    };
    expect(await shapesWith(NONE)).toBe(1);
    expect(await shapesWith(OUTPUT_INSUFFICIENT_SIZE)).toBe(1);
    expect(await shapesWith(GENERAL_FAILURE)).toBe(0);
    expect(await shapesWith(ErrorStatus.MISSED_DEADLINE_TRANSIENT)).toBe(0);
  });

  it("returns timing in microseconds if requested, and only with NONE", async () => {
    let time = 0n;
    const timed = async (status: ErrorStatus, measure: MeasureTiming) => {
      const run = (): RunResult => {
        time += 5_000n;
        const isSufficient = status !== OUTPUT_INSUFFICIENT_SIZE;
        return { status, outputShapes: [{ dimensions: [2], isSufficient }], timeOnDevice: 3_000n };
      };
      const model = await prepare(run, {}, () => time);
      return (await model.execute(absRequest().request, { measure })).timing;
    };
    expect(await timed(NONE, MeasureTiming.YES)).toEqual({ timeOnDevice: 3n, timeInDriver: 5n });
    expect(await timed(NONE, MeasureTiming.NO)).toEqual(notMeasured);
    expect(await timed(OUTPUT_INSUFFICIENT_SIZE, MeasureTiming.YES)).toEqual(notMeasured);
  });

  it("refuses a deadline that has passed and hands on one that has not", async () => {
    const seen: RunContext[] = [];
    const model = await prepare(
      (_inputs, _outputs, context) => {
        seen.push(context);
        return { status: NONE, outputShapes: sufficient };
      },
      {},
      () => 100n,
    );
    const { request } = absRequest();
    await expect(model.execute(request, { deadline: 100n })).resolves.toMatchObject({
      status: ErrorStatus.MISSED_DEADLINE_PERSISTENT,
    });
    await expect(model.execute(request, { deadline: 101n })).resolves.toMatchObject({ status: NONE });
    expect(seen.map(({ deadline }) => deadline)).toEqual([101n]);
  });

  it("holds loops to their timeout: by default 2 s, at most 15 s", async () => {
    const seen: bigint[] = [];
    const model = await prepare((_inputs, _outputs, { loopTimeoutDuration }) => {
      seen.push(loopTimeoutDuration);
      return { status: NONE, outputShapes: sufficient };
    });
    const { request } = absRequest();
    await model.execute(request);
    await model.execute(request, { loopTimeoutDuration: 7n });
    await model.execute(request, { loopTimeoutDuration: LoopTimeoutDurationNs.MAXIMUM + 1n });
    expect(seen).toEqual([LoopTimeoutDurationNs.DEFAULT, 7n, LoopTimeoutDurationNs.MAXIMUM]);
  });

  it("tells the engine of a signal, and does not ask it once that is aborted", async () => {
    const seen: unknown[] = [];
    const model = await prepare((_inputs, _outputs, { signal }) => {
      seen.push(signal);
      return { status: NONE, outputShapes: sufficient };
    });
    const { request } = absRequest();
    const { signal } = new AbortController();
    expect((await model.execute(request, { signal })).status).toBe(NONE);
    await expect(model.execute(request, { signal: AbortSignal.abort() })).resolves.toMatchObject({
      status: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
      message: "the execution was stopped before it began",
    });
    expect(seen).toEqual([signal]);
  });

  it("serves bursts until it is closed", async () => {
    const model = await prepare();
    const burst = await createBurst(async (...channels) => {
      const { configureExecutionBurst } = model;
      if (configureExecutionBurst === undefined) throw new Error("the model has no bursts");
      return configureExecutionBurst(...channels);
    });
    if (burst.burst === null) throw new Error(burst.message);
    const { request } = absRequest();
    await expect(burst.burst.compute(request)).resolves.toMatchObject({ status: NONE, outputShapes: sufficient });
    model.close();
    await expect(burst.burst.compute(request)).resolves.toMatchObject({ status: INVALID_ARGUMENT });
    await burst.burst.close();
    const { descriptor: requests } = createChannel("FmqRequestDatum", 64);
    const { descriptor: results } = createChannel("FmqResultDatum", 64);
    const refused = { status: INVALID_ARGUMENT, context: null };
    await expect(model.configureExecutionBurst?.(null, requests, results)).resolves.toMatchObject(refused);
  });

  it("frees the executable once, after the executions under way", async () => {
    const events: string[] = [];
    let finish: () => void = () => {};
    const model = await prepare(
      () =>
        new Promise((resolve) => {
          finish = () => {
            events.push("ran");
            resolve({ status: NONE, outputShapes: sufficient });
          };
        }),
      { close: () => events.push("closed") },
    );
    const { request } = absRequest();
    const running = model.execute(request);
    model.close();
    model.close();
    await expect(model.execute(request)).resolves.toMatchObject({ status: INVALID_ARGUMENT });
    finish();
    await running;
    expect(events).toEqual(["ran", "closed"]);
  });

  it("checks the padding of an argument, also where all else repeats the request before", async () => {
    const model = await prepare();
    const { request } = absRequest();
    const input = elementAt(request.inputs, 0);
    const padded = (padding?: number): Request => ({
      ...request,
      inputs: [{ ...input, location: { ...input.location, ...(padding !== undefined && { padding }) } }],
    });
    for (const padding of [undefined, 8, undefined, 0, 8])
      expect(await model.execute(padded(padding))).toMatchObject({ status: NONE });
    for (const padding of [9, -1])
      expect(await model.execute(padded(padding))).toMatchObject({ status: INVALID_ARGUMENT });
    expect(await model.executeFenced?.(padded(9), [])).toMatchObject({ status: INVALID_ARGUMENT });
  });

  it("does not throw if the executable does not close", async () => {
    const model = await prepare(undefined, {
      close() {
        throw new Error("stuck");
      },
    });
    expect(() => model.close()).not.toThrow();
  });
});
