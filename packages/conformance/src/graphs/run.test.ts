import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { changeElements } from "@nnhal/test-kit/changed-kernel";
import { type Device, ErrorStatus, OperationType, TIMING_NOT_MEASURED } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { CaseResult } from "../result.ts";
import { faultyDevice, referenceDevice } from "../suites/faulty-device.test-helper.ts";
import { type Example, subgraphsOf } from "../vectors/example.ts";
import { parseExample } from "../vectors/parse.ts";
import { runVectors } from "../vectors/run.ts";
import { exampleLine } from "../vectors/write.ts";
import { type GraphsOptions, graphOf, runGraphs } from "./run.ts";

async function resultsOf(device: Parameters<typeof runGraphs>[0], options: GraphsOptions): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for await (const result of runGraphs(device, options)) results.push(result);
  return results;
}

/** A device that supports no operation of some types. */
function without(device: Device, ...types: readonly number[]): Device {
  return {
    ...device,
    async getSupportedOperations(model: Parameters<typeof device.getSupportedOperations>[0]) {
      const answer = await device.getSupportedOperations(model);
      const supported = answer.supported.map(
        (yes, index) => yes && !types.includes(model.main.operations[index]?.type ?? -1),
      );
      return { ...answer, supported, reasons: supported.map((yes) => (yes ? undefined : "left out")) };
    },
  };
}

/** The reference with other results of an operation: 1 more, or 1 less where there is no more. */
async function deviceWith(name: string): Promise<Device> {
  const definitionFor = changeElements(name, (element) => element + (element < 100 ? 7 : -7));
  const device = await openDevice({ backend: createReferenceBackend({ definitionFor }) });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

describe("the suite graphs", { timeout: 120_000 }, () => {
  it("passes on the reference to the bit, each graph in one way in turn", async () => {
    const results = await resultsOf(await referenceDevice(), { count: 14, exact: true });
    expect(results.map(({ name, verdict, reason }) => ({ name, verdict, reason }))).toEqual(
      results.map((_, index) => ({ name: `graphs/1.${index}`, verdict: "passed", reason: undefined })),
    );
    // A fenced execution needs to know the extents of all outputs, so that another way may take its place.
    for (const way of ["sync", "async", "burst", "device-memory", "cached", "divided"]) {
      expect(results.map(({ subject }) => subject)).toContain(way);
    }
    for (const { elements } of results) expect(elements?.total).toBeGreaterThan(0);
  });

  it("names the operation at fault of a graph that fails", async () => {
    const [first] = graphOf(1, 0).example.main.operations;
    const name = first?.type ?? "ADD";
    const wrong = await deviceWith(name);
    const results = await resultsOf(wrong, { only: "graphs/1.0" });
    expect(results).toMatchObject([{ verdict: "failed" }]);
    expect(results[0]?.reason).toContain(`operation 1, ${name}, is the first that nnhal-reference computes wrong: `);
  });

  it("runs each graph in every way, if it is asked to", async () => {
    const results = await resultsOf(await referenceDevice(), { only: "graphs/1.0", everyWay: true, exact: true });
    expect(results.map(({ verdict }) => verdict)).toEqual(results.map(() => "passed"));
    expect(results.map(({ name }) => name)).toEqual(
      ["sync", "async", "fenced", "burst", "device-memory", "cached", "reusable", "divided"].map(
        (way) => `graphs/1.0 ${way}`,
      ),
    );
  });

  it("passes operations that the device does not support on to the reference", async () => {
    const [first] = graphOf(1, 0).example.main.operations;
    const left = without(await referenceDevice(), OperationType[first?.type ?? "ADD"]);
    const [result] = await resultsOf(left, { only: "graphs/1.0", exact: true });
    expect(result).toMatchObject({ subject: "helped", verdict: "passed" });
  });

  it("counts a graph as unsupported of which the device gets no operation", async () => {
    const [result] = await resultsOf(without(await referenceDevice(), ...Object.values(OperationType)), {
      only: "graphs/1.0",
    });
    const reason = "no operation of the graph goes to the device";
    expect(result).toMatchObject({ subject: "helped", verdict: "unsupported", reason });
  });

  it.each(["divided", "helped"])(
    "fails if the reference stands in for a device that cannot execute: %s",
    async (way) => {
      const answer = { status: ErrorStatus.GENERAL_FAILURE, message: "out of order", outputShapes: [] };
      const timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
      const broken = await faultyDevice({ preparedModel: () => ({ execute: async () => ({ ...answer, timing }) }) });
      const [first] = graphOf(1, 0).example.main.operations;
      const left = way === "divided" ? broken : without(broken, OperationType[first?.type ?? "ADD"]);
      // Of eight ways, the last one is that of graph 7. All of graph 15 would go to the reference.
      const [result] = await resultsOf(left, { only: way === "divided" ? "graphs/1.7" : "graphs/1.0" });
      expect(result).toMatchObject({ subject: way, verdict: "failed" });
      expect(result?.reason).toMatch(/execute: GENERAL_FAILURE: out of order; the reference stood in for it/);
    },
  );

  it("leaves out results at the beginning, and selects by name", async () => {
    const device = await referenceDevice();
    const names = async (options: GraphsOptions) => (await resultsOf(device, options)).map(({ name }) => name);
    expect(await names({ count: 4, skip: 2 })).toEqual(["graphs/1.2", "graphs/1.3"]);
    expect(await names({ count: 12, filter: "GRAPHS/1.1" })).toEqual(["graphs/1.1", "graphs/1.10", "graphs/1.11"]);
    expect(await names({ seed: 5, only: "graphs/3.1" })).toEqual(["graphs/3.1"]);
    await expect(names({ only: "CONV_2D" })).rejects.toThrow(RangeError);
    let more = 2;
    expect(await names({ count: 1, goesOn: () => more-- > 0 })).toHaveLength(3);
  });

  it("makes a graph that fails smaller, and the file of it fails as well", async () => {
    // It multiplies instead of adding.
    const device = await faultyDevice({
      device: ({ prepareModel }) => ({
        prepareModel: (model, options) => {
          const operations = model.main.operations.map((operation) =>
            operation.type === OperationType.ADD ? { ...operation, type: OperationType.MUL } : operation,
          );
          return prepareModel({ ...model, main: { ...model.main, operations } }, options);
        },
      }),
    });
    let kept: Example | undefined;
    const keep = (example: Example, original: string, path: string | undefined) => {
      kept ??= example;
      return `kept ${original} ${path}`;
    };
    const failed = (await resultsOf(device, { count: 12, keep })).filter(({ verdict }) => verdict === "failed");
    expect(failed[0]?.reason).toMatch(/\nkept graphs\/1\.\d+ /);
    if (kept === undefined) throw new Error("nothing was kept");
    expect(subgraphsOf(kept).flatMap(({ operations }) => operations.map(({ type }) => type))).toEqual(["ADD"]);
    const read = parseExample(exampleLine(kept));
    expect(read).toEqual(kept);
    for await (const { verdict } of runVectors(device, [read])) expect(verdict).toBe("failed");
    for await (const { verdict } of runVectors(await referenceDevice(), [read])) expect(verdict).toBe("passed");
  });

  it("survives a device that throws, and one that never answers", async () => {
    const preparedModel = () => ({ execute: () => Promise.reject(new Error("broken")) });
    const thrown = await resultsOf(await faultyDevice({ preparedModel }), { only: "graphs/1.0" });
    expect(thrown[0]?.reason).toMatch(/broken/);
    const silent = await faultyDevice({ preparedModel: () => ({ execute: () => new Promise(() => {}) }) });
    const [result] = await resultsOf(silent, { only: "graphs/1.0", timeLimit: 300 });
    expect(result).toMatchObject({ verdict: "failed", reason: "no answer within 300 ms", isLost: true });
  });

  it("fails on a device that supports a graph and cannot prepare it", async () => {
    const device = await referenceDevice();
    const closed = {
      ...device,
      prepareModel: async () => ({ status: ErrorStatus.GENERAL_FAILURE, message: "closed", preparedModel: null }),
    };
    const [result] = await resultsOf(closed, { only: "graphs/1.0" });
    expect(result).toMatchObject({ verdict: "failed" });
    expect(result?.reason).toMatch(/closed/);
  });
});
