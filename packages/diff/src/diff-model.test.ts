/** Comparisons of small networks on devices with a fault. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OperationView, partialBackend } from "@nnhal/backend";
import { createReferenceBackend, referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { asVersion, liftDevice } from "@nnhal/driver-core/versions";
import { Burst, type Compilation, Model } from "@nnhal/runtime";
import { changeElements } from "@nnhal/test-kit/changed-kernel";
import { type Device, DeviceStatus, ErrorStatus, type Model as HalModel } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { DiffOptions } from "./diff-model.ts";
import { diffModel } from "./diff-model.ts";
import type { TensorValue } from "./prepared-part.ts";
import { reportDiff } from "./report.ts";
import { judgeDiff } from "./verdict.ts";

async function openTested(backend: Parameters<typeof openDevice>[0]["backend"]): Promise<Device> {
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

const right = () => openTested(referenceBackend);

/** The reference with other results of an operation. */
function wrongIn(name: string, change: (element: number, index: number) => number): Promise<Device> {
  return openTested(createReferenceBackend({ definitionFor: changeElements(name, change) }));
}

const size = 4;

/** ((x + 1) * 2) - 3, then RELU; an operation each. */
function chain(): HalModel {
  const model = new Model();
  const tensor = () => model.addOperand({ type: "TENSOR_FLOAT32", dimensions: [size] });
  const constant = (value: number) => {
    const index = model.addOperand({ type: "TENSOR_FLOAT32", dimensions: [1] });
    model.setOperandValue(index, Float32Array.of(value));
    return index;
  };
  const none = model.addOperand({ type: "INT32" });
  model.setOperandValue(none, 0);
  const input = tensor();
  const [sum, product, difference, result] = [tensor(), tensor(), tensor(), tensor()] as const;
  model.addOperation("ADD", [input, constant(1), none], [sum]);
  model.addOperation("MUL", [sum, constant(2), none], [product]);
  model.addOperation("SUB", [product, constant(3), none], [difference]);
  model.addOperation("RELU", [difference], [result]);
  model.identifyInputsAndOutputs([input], [result]);
  model.finish();
  return model.hal;
}

const floats = (...elements: number[]): TensorValue => ({
  bytes: new Uint8Array(Float32Array.from(elements).buffer),
  dimensions: [elements.length],
});
const inputs: DiffOptions["inputs"] = [[floats(-3, 0, 1, 5)]];

async function diffOn(suspect: Device, more: Partial<DiffOptions> = {}) {
  const found = await diffModel(chain(), {
    judge: { devices: [await right()] },
    suspect: { devices: [suspect] },
    inputs,
    ...more,
  });
  return { found, verdict: judgeDiff(found), verdicts: found.operations.map(({ verdict }) => verdict) };
}

describe("a comparison", () => {
  it("of a right device finds nothing", async () => {
    const { found, verdict, verdicts } = await diffOn(await wrongIn("", (element) => element));
    expect(verdicts).toEqual(["right", "right", "right", "right"]);
    expect(found.operations.map(({ operation }) => operation)).toEqual(["ADD", "MUL", "SUB", "RELU"]);
    expect(found.whole).toMatchObject([{ differing: 0 }]);
    expect(verdict).toMatchObject({ first: undefined, isRight: true, ranking: [] });
  });

  it("names the wrong operation alone, and what becomes of its error", async () => {
    const { found, verdict, verdicts } = await diffOn(await wrongIn("MUL", (element) => element * 1.01));
    expect(verdicts).toEqual(["right", "wrong", "right", "right"]);
    expect(verdict.first).toMatchObject({ index: 1, operation: "MUL", device: "nnhal-reference" });
    expect(verdict.ranking.map(({ index }) => index)).toEqual([1]);
    expect(found.operations[3]?.outputs[0]).toMatchObject({
      alone: { differing: 0 },
      // (1 + 1) * 2 * 1.01 - 3 and (5 + 1) * 2 * 1.01 - 3; the others are 0.
      accumulated: { differing: 2, worst: { element: 3, expected: 9 } },
    });
    expect(found.whole[0]?.largestReal).toBeCloseTo(0.12, 5);
  });

  it("adds up runs: one wrong result in several is found", async () => {
    const suspect = await wrongIn("SUB", (element) => (element === 7 ? 8 : element));
    expect((await diffOn(suspect)).verdicts).toEqual(["right", "right", "right", "right"]);
    const { verdicts, found } = await diffOn(suspect, { inputs: [...inputs, [floats(4, 0, 0, 0)]] });
    expect(verdicts).toEqual(["right", "right", "wrong", "right"]);
    expect(found.runs).toBe(2);
    expect(found.operations[2]?.outputs[0]?.alone).toMatchObject({ count: 8, differing: 1 });
  });

  it("has the judge stand in for what the device does not take", async () => {
    const whyNot = ({ definition }: OperationView) => (definition.name === "MUL" ? "not today" : undefined);
    const suspect = await openTested(partialBackend(createReferenceBackend(), { whyNot }));
    const { found, verdicts, verdict } = await diffOn(suspect);
    expect(verdicts).toEqual(["right", "refused", "right", "right"]);
    expect(found.operations[1]?.failure).toContain("not today");
    expect(found.whole).toEqual([]);
    expect(verdict.isRight).toBe(true);
  });

  it("says which operation a device fails to compute, and goes on", async () => {
    const honest = await right();
    const suspect: Device = {
      ...honest,
      name: "failing",
      prepareModel: async (model, options) =>
        model.main.operations.some(({ type }) => type === chain().main.operations[2]?.type)
          ? { status: ErrorStatus.GENERAL_FAILURE, message: "out of order", preparedModel: null }
          : honest.prepareModel(model, options),
    };
    const { found, verdicts, verdict } = await diffOn(suspect);
    expect(verdicts).toEqual(["right", "right", "failed", "right"]);
    expect(found.operations[2]?.failure).toContain("out of order");
    expect(found.wholeFailure).toContain("out of order");
    expect(verdict).toMatchObject({ isRight: false, first: { index: 2 } });
  });

  it("names the operation that ends the device, and asks for no other", async () => {
    const honest = await right();
    let isGone = false;
    const gone = { status: ErrorStatus.DEVICE_UNAVAILABLE, message: "DEAD_OBJECT: the driver has ended" };
    const prepared: number[] = [];
    const suspect: Device = {
      ...honest,
      name: "crashing",
      getStatus: () => (isGone ? DeviceStatus.OFFLINE : DeviceStatus.AVAILABLE),
      async prepareModel(model, options) {
        prepared.push(model.main.operations.length);
        isGone ||= model.main.operations.some(({ type }) => type === chain().main.operations[1]?.type);
        return isGone ? { ...gone, preparedModel: null } : honest.prepareModel(model, options);
      },
    };
    const { found, verdicts, verdict } = await diffOn(suspect);
    expect(verdicts).toEqual(["right", "failed", "gone", "gone"]);
    expect(found.operations[1]?.failure).toMatch(/the driver has ended; it ended crashing$/);
    expect(verdict.first).toMatchObject({ index: 1, operation: "MUL" });
    expect(found.wholeFailure).toBeDefined();
    // The whole network comes last: it would have ended the device before any operation could be asked for.
    expect(prepared.slice(0, 2)).toEqual([1, 1]);
    const { verdict: sentence } = reportDiff(found, {
      ...{ model: "chain", devices: ["crashing"], against: ["reference"], isMeasured: false, inputs: [] },
      ...{ operators: [], operandNames: [], outputIndexes: [] },
    });
    expect(sentence).toMatch(
      /^operation 2, MUL, is the first that fails on crashing: .*; it ended crashing; 2 operations could not be asked for afterwards\.$/,
    );
  });

  it("finds operations that are wrong only together", async () => {
    const [honest, wrong] = [await right(), await wrongIn("SUB", (element) => element + 1)];
    const suspect: Device = {
      ...honest,
      name: "joining",
      prepareModel: (model, options) =>
        (model.main.operations.length > 2 ? wrong : honest).prepareModel(model, options),
    };
    const { found, verdicts, verdict } = await diffOn(suspect);
    expect(verdicts).toEqual(["right", "right", "right", "right"]);
    // 3 operations are wrong together, 2 are not; log2(4) + 2 are the most tries.
    expect(found.together).toMatchObject({ operation: 2 });
    expect(found.together?.tries).toBeLessThanOrEqual(4);
    expect(verdict.isRight).toBe(false);
  });

  it("does not compare the judge with itself", async () => {
    const judge = await right();
    const { verdicts } = await diffOn(judge, { judge: { devices: [judge] } });
    expect(verdicts).toEqual(["judge", "judge", "judge", "judge"]);
  });

  it("holds a device against recorded values", async () => {
    const { outputs: [product] = [] } = chain().main.operations[1] ?? {};
    const values = new Map<number, TensorValue>();
    const record: DiffOptions["onOperation"] = ({ outputs }, { runs }) => {
      for (const [place, { operand }] of outputs.entries()) {
        const value = runs[0]?.expected[place];
        if (value !== undefined) values.set(operand, value);
      }
    };
    await diffOn(await wrongIn("", (element) => element), { onOperation: record });
    const judge = (known: ReadonlyMap<number, TensorValue>) => ({
      judge: { recordedValue: async (operand: number) => known.get(operand) },
    });
    const suspect = await wrongIn("RELU", (element) => element + 1);
    expect((await diffOn(suspect, judge(values))).verdicts).toEqual(["right", "right", "right", "wrong"]);
    // Without a value, neither the operation that writes it nor the one that reads it can be judged.
    const gap = new Map([...values].filter(([operand]) => operand !== product));
    expect((await diffOn(suspect, judge(gap))).verdicts).toEqual(["right", "unknown", "unknown", "wrong"]);
    // With an engine that stands in for it, what reads it can be judged.
    const engine = { devices: [await right()] };
    const helped = { judge: { ...judge(gap).judge, engine } };
    expect((await diffOn(suspect, helped)).verdicts).toEqual(["right", "unknown", "right", "wrong"]);
  });

  it("finds what is wrong only as the device loads it from its cache", async () => {
    const [honest, wrong] = [await right(), await wrongIn("SUB", (element) => element + 1)];
    const { prepareModelFromCache } = wrong;
    const loading: Device = { ...honest, name: "loading", ...(prepareModelFromCache && { prepareModelFromCache }) };
    expect((await diffOn(loading)).verdicts).toEqual(["right", "right", "right", "right"]);
    const cache = await mkdtemp(join(tmpdir(), "nnhal-diff-"));
    try {
      const { verdicts } = await diffOn(loading, { suspect: { devices: [loading], way: { cache } } });
      expect(verdicts).toEqual(["right", "right", "wrong", "right"]);
    } finally {
      await rm(cache, { recursive: true });
    }
  });

  it.each([
    [{ burstOf: (compilation: Compilation) => Burst.create(compilation) }, "bursts"],
    [{ isRelaxed: true }, "relaxed"],
  ] as const)("runs parts of the device in the way %j", async (way, counted) => {
    const judge = await right();
    const counts = { bursts: 0, relaxed: 0, strict: 0 };
    const watched: Device = {
      ...judge,
      async prepareModel(model, options) {
        counts[model.relaxComputationFloat32toFloat16 ? "relaxed" : "strict"]++;
        const answer = await judge.prepareModel(model, options);
        const { preparedModel } = answer;
        if (preparedModel === null) return answer;
        const { configureExecutionBurst: configure } = preparedModel;
        const configureExecutionBurst: typeof configure = (...given) => {
          counts.bursts++;
          return configure?.(...given) ?? Promise.reject(new TypeError("expected a device with bursts"));
        };
        return { ...answer, preparedModel: { ...preparedModel, configureExecutionBurst } };
      },
    };
    // Bursts of devices in this thread have no queues; those of a HAL driver do.
    const driven = liftDevice("driven", asVersion["1.3"](watched));
    const { verdicts } = await diffOn(driven, { judge: { devices: [judge] }, suspect: { devices: [driven], way } });
    expect(verdicts).toEqual(["right", "right", "right", "right"]);
    // Four operations, and the whole network.
    expect(counts[counted]).toBe(5);
    expect(counts.relaxed + counts.strict).toBe(5);
  });

  it("frees nothing that is still read, and hands each operation over with its values", async () => {
    const seen: string[] = [];
    await diffOn(await wrongIn("", (element) => element), {
      onOperation: ({ operation }, { operands, runs }) => {
        seen.push(`${operation} ${operands.length} ${runs.length} ${runs[0]?.actual[0]?.bytes.length}`);
      },
    });
    expect(seen).toEqual(["ADD 1 1 16", "MUL 1 1 16", "SUB 1 1 16", "RELU 1 1 16"]);
  });

  it("reports progress, and ends when its signal aborts", async () => {
    const done: number[] = [];
    const abort = new AbortController();
    const run = diffOn(await right(), {
      signal: abort.signal,
      onProgress: (count) => {
        done.push(count);
        if (count === 2) abort.abort(new Error("enough"));
      },
    });
    await expect(run).rejects.toThrow("enough");
    expect(done).toEqual([0, 1, 2]);
  });

  it("needs a run", async () => {
    await expect(diffOn(await right(), { inputs: [] })).rejects.toThrow("expected the values of at least one run");
  });
});
