import { readFileSync } from "node:fs";
import { load, picture } from "@nnhal/network";
import { writeNpy } from "@nnhal/network/tensors";
import { afterEach, describe, expect, it } from "vitest";
import { manyOperators, mediapipeModel, statefulModel, textModel } from "../files.test-helper.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { GivenInput } from "./given-inputs.ts";
import type { Placement } from "./runner.ts";

const reference: Placement = { devices: "reference", isOnMachine: false, signature: undefined, inputShapes: {} };
const file = (path: string) => new Uint8Array(readFileSync(new URL(`../../../cli/demo/${path}`, import.meta.url)));
const digits = file("digits-uint8.tflite");
const bytesOf = (text: string) => new TextEncoder().encode(text);
const none = () => {};

let engine: Engine;
afterEach(() => engine.end());

async function prepare(bytes: Uint8Array, placement = reference) {
  engine = createEngine();
  await engine.open(bytes, "a.tflite");
  return engine.prepare(placement, none);
}

/** The elements of the only output after a run with the only input. */
async function valuesOf(given: GivenInput): Promise<readonly number[]> {
  const run = await engine.run({ value_0: given, "block_0/value_0": given });
  return run.outputs[0]?.summary.first ?? [];
}

describe("a run", () => {
  it("of a picture gives the values and classes of nnhal run", async () => {
    await prepare(digits);
    const bytes = file("2-ballpoint.png");
    const run = await engine.run({ picture: { kind: "file", bytes } });
    const model = await load(digits, { devices: "reference" });
    const { scores } = await model.run({ picture: await picture(bytes) });
    await model.close();
    expect(run.outputs[0]?.summary.first).toEqual([...(scores?.data ?? [])]);
    expect(run.found[0]).toEqual({ label: "class 2", score: scores?.data[2] });
    expect(run.task).toBe("classify");
    expect(run.time).toBeGreaterThan(0);
  });

  it("takes numbers, arrays of NumPy, noise and zeros", async () => {
    // 2 * (x * x) by an addition of the product to itself.
    const view = await prepare(manyOperators(2));
    expect(view).toMatchObject({
      devices: ["nnhal-reference"],
      states: [],
      inputs: [{ name: "block_0/value_0", shape: [1, 8] }],
    });
    const expected = [2, 8, 18, 32, 50, 72, 98, 0.5];
    const numbers = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 0.5);
    expect(await valuesOf({ kind: "text", text: "[[1, 2, 3; 4 5\n6 7, .5]]" })).toEqual(expected);
    const text = new TextEncoder().encode("1 2 3 4 5 6 7 0.5");
    expect(await valuesOf({ kind: "file", bytes: text })).toEqual(expected);
    const npy = writeNpy("float32", [1, 8], new Uint8Array(numbers.buffer));
    expect(await valuesOf({ kind: "file", bytes: npy })).toEqual(expected);
    expect(await valuesOf({ kind: "zeros" })).toEqual(new Array(8).fill(0));
    const noise = await valuesOf({ kind: "noise", seed: 1 });
    expect(noise.every((value) => value > 0 && value <= 2)).toBe(true);
    expect(await valuesOf({ kind: "noise", seed: 1 })).toEqual(noise);
    expect(await valuesOf({ kind: "noise", seed: 2 })).not.toEqual(noise);
  });

  it("shows outputs without classes by their values alone", async () => {
    await prepare(manyOperators(2, [2, 2, 2]));
    const { found, task, outputs } = await engine.run({ "block_0/value_0": { kind: "text", text: "1 2 3 4 5 6 7 8" } });
    expect({ found, task, first: outputs[0]?.summary.first }).toEqual({
      found: [],
      task: undefined,
      first: [2, 8, 18, 32, 50, 72, 98, 128],
    });
  });

  it("says which input is wrong, and how", async () => {
    await prepare(manyOperators(2));
    await expect(valuesOf({ kind: "text", text: "1 2 three" })).rejects.toThrow(
      'the input "block_0/value_0": expected numbers, got "three"',
    );
    await expect(valuesOf({ kind: "text", text: "1 2 3" })).rejects.toThrow(/block_0\/value_0.*8/);
  });

  it("cuts a text by the tokeniser of the network, however long it is", async () => {
    const [ids] = (await prepare(textModel())).inputs;
    expect(ids?.tokenizer?.kind).toBe("regex");
    const scores = async (given: GivenInput) => (await engine.run({ ids: given })).outputs[0]?.summary.first;
    expect(await scores({ kind: "sentence", text: "good, good; unknown; bad" })).toEqual([1.25, 2.25]);
    expect(await scores({ kind: "file", bytes: new TextEncoder().encode("a good film") })).toEqual([0.5, 1.5]);
    // Numbers are tokens.
    expect(await scores({ kind: "text", text: "3 3 4" })).toEqual([1, 2]);
  });

  it("computes MediaPipe's custom operators", async () => {
    await prepare(mediapipeModel());
    expect((await engine.examine()).subgraphs[0]?.operators.map(({ status }) => status)).toEqual([
      "extension",
      "extension",
    ]);
    const x: GivenInput = { kind: "text", text: "1 2 3 4  8 7 6 5  1 1 2 2  1 9 2 3" };
    expect((await engine.run({ x })).outputs[0]?.summary.first).toEqual([
      0, 0, 0, 0, 8, 0, 6, 0, 0, 0, 0, 0, 0, 9, 0, 3,
    ]);
    expect((await engine.explain()).operations.map(({ operation }) => operation)).toEqual([
      expect.stringContaining("MaxPoolingWithArgmax2D"),
      expect.stringContaining("MaxUnpooling2D"),
    ]);
  });

  it("names classes by a file or a list, and says if that does not fit", async () => {
    await prepare(digits);
    const named = async (text: string) => engine.nameClasses({ kind: "file", name: "a.txt", bytes: bytesOf(text) });
    const ten = "zero one two three four five six seven eight".split(" ").join("\n");
    expect(await named(`${ten}\nnine\n`)).toEqual({ view: { kind: "file", name: "a.txt", count: 10 }, run: undefined });
    const run = await engine.run({ picture: { kind: "file", bytes: file("2-ballpoint.png") } });
    expect([run.found[0]?.label, run.misfit]).toEqual(["two", undefined]);
    // Nothing runs again.
    const short = await named("0\n1\n\n");
    expect(short.run).toEqual({
      ...run,
      found: run.found.map(({ score }, place) => ({
        score,
        label: expect.stringMatching(place === 0 ? "class 2" : ""),
      })),
      misfit: "a.txt has 3 labels, but the output has 10 classes",
    });
    const listed = await engine.nameClasses({ kind: "list", name: "coco" });
    expect([listed.view?.count, listed.run?.found[0]?.label]).toEqual([90, "car"]);
    for (const [text, message] of [
      ["", "a.txt is empty"],
      ["\0", "a.txt is not a text in UTF-8 with one label a line"],
      ["\n".repeat(2 ** 20 + 1), "a.txt is empty"],
      ["x\n".repeat(2 ** 20 + 1), "a.txt has 1048577 lines: more than a list of labels needs"],
      ["x".repeat(2 ** 23 + 1), "a.txt has 8.39 MB: more than a list of labels needs"],
    ] as const)
      await expect(named(text)).rejects.toThrow(message);
    await expect(engine.nameClasses({ kind: "list", name: "constructor" })).rejects.toThrow("expected one of coco");
    const other = await engine.run({ picture: { kind: "file", bytes: file("2-ballpoint.png") } });
    expect(other.found[0]?.label).toBe("car");
    // They stay when the model runs elsewhere, and go with the file.
    await engine.prepare({ ...reference, devices: "wasm" }, none);
    expect((await engine.run({})).misfit).toBe("the list coco has 90 labels, but the output has 10 classes");
    expect((await engine.nameClasses(undefined)).run?.misfit).toBeUndefined();
    await named("1");
    await engine.open(manyOperators(2, [2, 2, 2]), "b.tflite");
    await engine.prepare(reference, none);
    expect((await engine.run({})).misfit).toBeUndefined();
    expect((await named("1")).run?.misfit).toBe("a.txt has 1 label, but no output holds scores of classes");
  });

  it("has its phases, and so has the preparation", async () => {
    const { phases } = await prepare(digits);
    expect(phases.map(({ name }) => name)).toEqual(["import", "devices", "prepare"]);
    const run = await engine.run({ picture: { kind: "file", bytes: file("2-ballpoint.png") } });
    expect(run.phases.map(({ name }) => name)).toEqual([
      ...["read the inputs", "fit the picture"],
      ...["run the network", "read the outputs"],
    ]);
    expect(run.phases.find(({ name }) => name === "run the network")?.time).toBeGreaterThan(0);
  });

  it("keeps a state until it is set back", async () => {
    const view = await prepare(statefulModel());
    expect(view.states).toHaveLength(1);
    const ones: GivenInput = { kind: "text", text: "1 1 1 1" };
    const once = async () => (await engine.run({ in: ones })).outputs[0]?.summary.first[0];
    const [first, second] = [await once(), await once()];
    expect(second).not.toBe(first);
    await engine.resetState();
    expect(await once()).toBe(first);
  });

  it("is on a model that is prepared", async () => {
    engine = createEngine();
    await engine.open(digits, "digits.tflite");
    await expect(engine.run({})).rejects.toThrow("expected a prepared model, got none");
    await expect(engine.prepare({ ...reference, devices: "toaster" }, none)).rejects.toThrow("toaster");
    await expect(engine.explain()).rejects.toThrow("expected a prepared model, got none");
  });
});

describe("an explanation", () => {
  it("has a device, a time and an error for each operation", async () => {
    await prepare(manyOperators(3), { ...reference, devices: "wasm" });
    const { operations } = await engine.explain();
    expect(operations.map(({ device }) => device)).toEqual(["nnhal-wasm", "nnhal-wasm", "nnhal-wasm"]);
    const profile = await engine.profile({}, 2);
    expect(profile.operations).toHaveLength(3);
    const progress: number[] = [];
    const report = await engine.diff("reference", {}, (done) => progress.push(done));
    expect(report.isRight).toBe(true);
    expect(report.operations.map(({ verdict }) => verdict)).toEqual(["right", "right", "right"]);
    expect(progress.at(-1)).toBe(3);
  });

  it.each(["wasm", "reference"])("has the error against %s, on the inputs of the run", async (judge) => {
    await prepare(digits, { ...reference, devices: "wasm,reference" });
    const picture: GivenInput = { kind: "file", bytes: file("2-ballpoint.png") };
    const report = await engine.diff(judge, { picture }, none);
    expect(report).toMatchObject({ against: [`nnhal-${judge}`], inputs: ["inputs 1"], isRight: true });
    const noise = await engine.diff(judge, {}, none);
    expect(noise.operations[0]?.outputs[0]?.alone?.expectedRange).not.toEqual(
      report.operations[0]?.outputs[0]?.alone?.expectedRange,
    );
  });

  it("refuses a judge that is not there, and goes on", async () => {
    await prepare(manyOperators(3));
    await expect(engine.diff("toaster", {}, none)).rejects.toThrow('there is no device "toaster"');
    await expect(engine.diff("constructor", {}, none)).rejects.toThrow('there is no device "constructor"');
    expect((await engine.diff("wasm", {}, none)).against).toEqual(["nnhal-wasm"]);
  });

  it("has the reference judge what another judge does not take", async () => {
    await prepare(statefulModel());
    const { against, operations } = await engine.diff("gpujs", {}, none);
    expect([against, operations.map(({ verdict }) => verdict)]).toEqual([
      ["nnhal-gpujs", "nnhal-reference"],
      ["judge"],
    ]);
  });

  it("can be stopped while operations are compared, and goes on with other work", async () => {
    await prepare(manyOperators(200));
    const done: number[] = [];
    const stopped = engine.diff("wasm", {}, (count) => {
      done.push(count);
      if (count === 3) void engine.stop();
    });
    await expect(stopped).rejects.toThrow("the comparison was stopped");
    expect(done.at(-1)).toBeLessThan(200);
    expect((await engine.explain()).operations).toHaveLength(200);
  });
});
