/**
 * A run that is not wanted any more ends its computation: by a signal or by its time, in this thread and in a worker.
 */
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { defineExtension, defineOperation, tensor as operand } from "@nnhal/operations/authoring";
import { afterAll, describe, expect, it } from "vitest";
import { load } from "./load.ts";
import { modelOf, tensor, unknownOperatorModel } from "./models.test-helper.ts";
import type { Port } from "./port.ts";
import { portOfWorker } from "./workers-node.ts";

/** A computation of many pauses, which are counted. */
const MOST_PAUSES = 2_000_000;
function makePausing(onPause: (count: number) => void, most = MOST_PAUSES) {
  const frobnicate = defineOperation({
    name: "Frobnicate",
    code: 1,
    summary: "Pauses.",
    params: [operand("input", "TENSOR_FLOAT32")],
    outputs: [operand("output", "TENSOR_FLOAT32")],
    types: [["1.2"]],
    infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
    // A pause comes after each unit, since it costs as much as is computed between two.
    reference: () => ({ units: most, cost: 2 ** 18, inTurn: true, compute: (_, end) => onPause(end) }),
  });
  return defineExtension({ name: "com.example.pausing", operations: [frobnicate] });
}

describe("in this thread", () => {
  it.each([
    ["auto", 1],
    ["auto", 100_000],
    ["reference", 1],
    ["reference", 100_000],
  ])("the signal ends the computation at a pause, on %s, aborted at pause %i", async (devices, abortAt) => {
    const controller = new AbortController();
    let pauses = 0;
    let isRunning = false;
    // Preparing a model runs it, too.
    const extension = makePausing((count) => {
      if (!isRunning) return;
      pauses = count;
      if (count === abortAt) controller.abort(new Error("enough"));
    });
    const model = await load(unknownOperatorModel(), { engines: [], devices, extensions: [extension] });
    isRunning = true;
    await expect(model.run([1, 2], { signal: controller.signal })).rejects.toThrow("enough");
    await model.close();
    // The reference looks when the event loop gets its turn, every some milliseconds.
    expect(pauses).toBeGreaterThanOrEqual(abortAt);
    expect(pauses).toBeLessThan(MOST_PAUSES);
  });

  it("the end of its time ends the computation, though several devices may compute", async () => {
    let pauses = 0;
    const extension = makePausing((count) => {
      pauses = count;
    });
    const model = await load(unknownOperatorModel(), { engines: [], extensions: [extension] });
    await expect(model.run([1, 2], { timeout: 1 })).rejects.toMatchObject({ code: "TIMED_OUT" });
    await model.close();
    expect(pauses).toBeLessThan(MOST_PAUSES);
  });

  it("is told when it has ended: after a result, an end before, and a refusal", async () => {
    const controller = new AbortController();
    let pauses = 0;
    let abortAt = Number.POSITIVE_INFINITY;
    const extension = makePausing((count) => {
      pauses = count;
      if (count === abortAt) controller.abort(new Error("enough"));
    }, 200_000);
    const model = await load(unknownOperatorModel(), { engines: [], devices: "reference", extensions: [extension] });
    const ends: string[] = [];
    const onEnd = () => ends.push(`after ${pauses} pauses`);
    pauses = 0;
    await model.run([1, 2], { onEnd });
    await expect.poll(() => ends).toEqual(["after 200000 pauses"]);
    await expect(model.run([1], { onEnd })).rejects.toThrow();
    await expect.poll(() => ends.length).toBe(2);
    abortAt = 1;
    const stopped = model.run([1, 2], { signal: controller.signal, onEnd });
    await expect(stopped).rejects.toThrow("enough");
    await expect.poll(() => ends.length).toBe(3);
    expect(ends[2]).toBe(`after ${pauses} pauses`);
    await model.close();
    await expect(model.run([1, 2], { onEnd })).rejects.toMatchObject({ code: "CLOSED" });
    await expect.poll(() => ends.length).toBe(4);
  });

  it("another run goes on", async () => {
    const controller = new AbortController();
    let calls = 0;
    const extension = makePausing((count) => {
      if (count === 1) calls++;
      if (calls === 2) controller.abort(new Error("enough"));
    }, 20_000);
    const model = await load(unknownOperatorModel(), { engines: [], devices: "reference", extensions: [extension] });
    const [first, second] = await Promise.allSettled([
      model.run([1, 2]),
      model.run([1, 2], { signal: controller.signal }),
    ]);
    expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
    await model.close();
  });
});

describe("in a worker", () => {
  const answers: unknown[] = [];
  const posted: unknown[] = [];
  const ports: Port[] = [];
  afterAll(() => Promise.all(ports.map((port) => port.end())));
  const watchedPort = (): Port => {
    const file = fileURLToPath(new URL("./worker-node.ts", import.meta.url));
    const sources = new URL("../../../tools/launcher/src/sources.mjs", import.meta.url).href;
    const worker = new Worker(file, { execArgv: ["--import", sources] });
    const port = portOfWorker(worker);
    ports.push(port);
    return {
      ...port,
      post(message, transfer) {
        posted.push(message);
        port.post(message, transfer);
      },
      listen: (onMessage, ...rest) =>
        port.listen(
          (message) => {
            answers.push(message);
            onMessage(message);
          },
          ...rest,
        ),
    };
  };

  /** A chain of hyperbolic tangents, which takes seconds. */
  function longModel(): Uint8Array {
    const shape = [1, 1_000_000];
    const places = Array.from({ length: 200 }, (_, place) => place);
    return modelOf({
      tensors: [...places, 200].map((place) => tensor(`t${place}`, { shape })),
      inputs: [0],
      outputs: [200],
      operators: places.map((place) => ({
        name: "TANH",
        version: 1,
        inputs: [place],
        outputs: [place + 1],
        options: {},
      })),
    });
  }

  it("the signal ends the computation there", async () => {
    const model = await load(longModel(), { devices: "reference", engines: [], worker: watchedPort });
    const controller = new AbortController();
    let hasEnded = false;
    const onEnd = () => {
      hasEnded = true;
    };
    const run = model.run(new Float32Array(1_000_000), { signal: controller.signal, onEnd });
    await expect.poll(() => posted.length).toBeGreaterThan(1);
    controller.abort(new Error("enough"));
    await expect(run).rejects.toThrow("enough");
    expect(hasEnded).toBe(false);
    await expect.poll(() => hasEnded).toBe(true);
    await model.close();
    const [, compute, stop] = posted as readonly { readonly ask: string; readonly id: number }[];
    expect([compute?.ask, stop]).toEqual(["compute", { ask: "stop", target: compute?.id, id: (compute?.id ?? 0) + 1 }]);
    // The computation has no result.
    const answer = answers.find(
      (each) => typeof each === "object" && each !== null && "id" in each && each.id === compute?.id,
    );
    expect(answer).toMatchObject({ code: "TIMED_OUT", message: expect.stringContaining("stopped") });
  });
});
