/** `model.diff()` on the demo's networks. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createReferenceBackend, referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { changeElements } from "@nnhal/test-kit/changed-kernel";
import { afterAll, describe, expect, it } from "vitest";
import { load } from "./load.ts";
import { apart } from "./load-apart.ts";
import { createModel, type DiffOptions, type Model } from "./model.ts";
import { demoFolder, passingModel } from "./models.test-helper.ts";
import { portHere } from "./port.test-helper.ts";
import { openWorkerSession } from "./worker-session.ts";

const digits = async (form = "uint8") => new Uint8Array(await readFile(join(demoFolder, `digits-${form}.tflite`)));

/** The reference under another name, with other results of a maximum pool. */
function engineWith(change: (element: number) => number) {
  return { ...createReferenceBackend({ definitionFor: changeElements("MAX_POOL_2D", change) }), name: "wrong" };
}

const models: Model[] = [];
async function open(...given: Parameters<typeof load>): Promise<Model> {
  const model = await load(...given);
  models.push(model);
  return model;
}
afterAll(() => Promise.all(models.map((model) => model.close())));

const wrongDigits = async () =>
  open(await digits(), { engines: [engineWith((element) => Math.min(255, element + 3))], devices: "wrong" });

describe("model.diff", () => {
  it("names the first operation that is wrong, with the operator and its tensor", async () => {
    const model = await wrongDigits();
    const progress: [number, number][] = [];
    const report = await model.diff({ random: 2, onProgress: (done, total) => progress.push([done, total]) });
    expect(report).toMatchObject({
      devices: ["nnhal-wrong"],
      against: ["nnhal-reference"],
      inputs: ["noise of seed 1", "noise of seed 2"],
      isRight: false,
    });
    const first = report.operations[report.first ?? -1];
    expect(first).toMatchObject({
      operation: "MAX_POOL_2D",
      operator: "MAX_POOL_2D",
      verdict: "wrong",
      device: "nnhal-wrong",
    });
    expect(first?.outputs[0]).toMatchObject({ name: "strokes_pool", alone: { largest: 3 } });
    expect(report.verdict).toMatch(
      /^operation \d+, MAX_POOL_2D \(strokes_pool\), is the first that nnhal-wrong computes wrong/,
    );
    expect(progress[0]).toEqual([0, report.operations.length]);
    expect(progress.at(-1)).toEqual([report.operations.length, report.operations.length]);
    expect(structuredClone(report)).toEqual(report);
  });

  it("takes inputs, and allows steps", async () => {
    const model = await wrongDigits();
    const [{ shape = [] } = {}] = model.inputs;
    const grey = new Uint8Array(shape.reduce((product, extent) => product * extent, 1)).fill(128);
    expect(await model.diff({ inputs: [grey], steps: 1 })).toMatchObject({ isRight: false, inputs: ["inputs 1"] });
  });

  it("finds nothing on a right device", async () => {
    const model = await open(await digits(), { engines: [engineWith((element) => element)], devices: "wrong" });
    const { isRight, verdict, first } = await model.diff();
    expect([isRight, first]).toEqual([true, null]);
    expect(verdict).toMatch(/^All \d+ operations that were compared are right; the outputs are equal\.$/);
  });

  it("says what quantisation costs, against the float model", async () => {
    const options = { engines: [referenceBackend], devices: "reference" };
    const [quantised, float] = [await open(await digits(), options), await open(await digits("float"), options)];
    const report = await quantised.diff({ against: float });
    expect(report).toMatchObject({ isRight: true, isMeasured: true });
    expect(report.heaviest.length).toBeGreaterThan(0);
    expect(report.verdict).toMatch(/half of all noise\. Keep (it|these) in float first\.$/);
    expect((await quantised.diff({ against: float, steps: 0.1 })).isRight).toBe(false);
  });

  it("compares in a worker, with progress, until it is stopped", async () => {
    const { port } = portHere();
    const session = await openWorkerSession(() => port, await digits(), { devices: "reference" }, {});
    const model = createModel(session, apart);
    const done: number[] = [];
    const report = await model.diff({ onProgress: (count) => done.push(count) });
    expect(report.operations.length).toBeGreaterThan(3);
    expect(report.verdict).toMatch(/^Nothing was compared/);
    expect(done).toEqual([...done.keys()]);
    const stop = new AbortController();
    const stopped = model.diff({ random: 100, signal: stop.signal, onProgress: () => stop.abort(new Error("enough")) });
    await expect(stopped).rejects.toThrow("enough");
    // The worker goes on with other questions.
    expect((await model.explain()).operations.length).toBe(report.operations.length);
    await expect(model.diff({ against: model })).rejects.toThrow(
      "expected two models of this thread, got one in a worker",
    );
  });

  it("takes devices as the judge, of this thread alone", async () => {
    const model = await wrongDigits();
    const opened = await openDevice({ backend: referenceBackend });
    if ("unavailable" in opened) throw new Error(opened.unavailable);
    const report = await model.diff({ against: [opened] });
    expect([report.against, report.isRight]).toEqual([["nnhal-reference"], false]);
    expect((await model.diff({ against: ["reference"] })).operations).toEqual(report.operations);
    const { port } = portHere();
    const session = await openWorkerSession(() => port, await digits(), { devices: "reference" }, {});
    await expect(createModel(session, apart).diff({ against: [opened] })).rejects.toThrow(
      "against: devices are passed to a worker by name, such as reference",
    );
    await session.close();
    await opened.close();
  });

  const given: readonly (readonly [unknown, string])[] = [
    [{ random: 0 }, "random: expected a whole number from 1 to 1000, got 0"],
    [{ inputs: [], random: 2 }, "random: expected either inputs or random, got both"],
    [{ inputs: [] }, "inputs: expected the inputs of one run at least, got none"],
    [{ inputs: 5 }, "inputs: expected a list of the inputs of each run, got a number"],
    [{ steps: -1 }, "steps: expected a number of at least 0, got -1"],
    [{ relative: "1" }, "relative: expected a number of at least 0, got 1"],
    [{ against: {} }, "against: expected devices, or a model that is loaded, got an object"],
    [{ against: [] }, "devices: it is an empty list"],
    [{ against: ["tpu"] }, 'there is no device "tpu"'],
    [{ against: "tpu" }, 'there is no device "tpu"'],
    [{ onProgress: 3 }, "onProgress: expected a function, got a number"],
    [{ agianst: "ort" }, 'diff: unknown option "agianst": did you mean "against"?'],
  ];
  it.each(given)("refuses the options %j", async (options, problem) => {
    const model = await open(passingModel({ shape: [2, 2] }), { devices: "reference" });
    // Callers in JavaScript may pass anything.
    await expect(model.diff(options as DiffOptions)).rejects.toThrow(problem);
  });

  it("asks for the inputs of a model with open extents", async () => {
    const model = await open(passingModel({ shape: [1, 3], shapeSignature: [-1, 3] }), {
      devices: "reference",
      dynamicShapes: true,
    });
    await expect(model.diff()).rejects.toThrow(/diff: the input .* has open extents: give `inputs`/);
  });
});
