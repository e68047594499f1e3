import { describe, expect, it } from "vitest";
import type { Measured } from "./contest.ts";
import type { ContestantId } from "./contestant.ts";
import type { ModelResults } from "./report.ts";
import { device, makeMeasured, peer, modelReportOf as report, wrong } from "./reports.test-helper.ts";

const outputs = (value: Uint8Array) => ({ milliseconds: 7, keeps: false, first: 9, outputs: [value] });

describe("modelReport", () => {
  it("has the figures of a contestant", () => {
    const { contestants, arithmetic } = report([makeMeasured(device, [4, 2])]);
    expect(arithmetic).toBe("float");
    expect(contestants[0]).toMatchObject({
      name: "nnhal-one",
      version: "2",
      problem: null,
      prepare: { cold: [7], cached: null },
      first: 9,
      times: { executions: 2, min: 2, median: 3 },
      perSecond: 1000 / 3,
      cores: 1.5,
      processorTime: 4.5,
      // Two operations for each of 2 million multiply-adds, in 2 ms.
      gigaOperations: 2,
      shareOfPeak: null,
      memory: 1000,
      agreement: { agrees: true },
    });
  });

  it("leaves out what is measured of the process if the contestant computes in another one", () => {
    const opened = { version: "2", settings: [], threads: null, isElsewhere: true, milliseconds: 5 };
    const { contestants } = report([makeMeasured(device, [4, 2], { opened })]);
    expect(contestants[0]).toMatchObject({ cores: null, processorTime: null, memory: null, times: { min: 2 } });
  });

  it("relates the rate to the greatest peak of the arithmetic, and adds preparations of other processes", () => {
    const peak = { how: "", threads: 1, integer: 50 };
    const peaks = [
      { ...peak, float: 10 },
      { ...peak, float: 8 },
    ];
    const { contestants } = report([makeMeasured(device, [4, 2])], {
      peaks,
      preparations: [{ cold: [8, 6], cached: [1, 2] }],
    });
    expect(contestants[0]).toMatchObject({ shareOfPeak: 0.2, prepare: { cold: [7, 8, 6], cached: [1, 2] } });
  });

  it("tells a cache that was not reached from one that there is not", () => {
    const cached = (preparations: ModelResults["preparations"]) =>
      report([makeMeasured(device, [4])], { preparations }).contestants[0]?.prepare?.cached;
    expect(cached([])).toEqual([]);
    expect(cached([{ cold: [], cached: null }])).toBeNull();
  });

  it("compares devices with peers, and with the devices after them", () => {
    const other: ContestantId = { kind: "device", name: "nnhal-two", path: "compute" };
    const { ratios } = report([makeMeasured(device, [2, 2]), makeMeasured(other, [4, 4]), makeMeasured(peer, [1, 1])]);
    expect(ratios.map(({ name, other: against, ratio }) => [name, against, ratio?.median])).toEqual([
      ["nnhal-one", "nnhal-two", 0.5],
      ["nnhal-one", "litert", 2],
      ["nnhal-two", "litert", 4],
    ]);
  });

  it("has no ratios of bursts of different devices", () => {
    const burst = (name: string): ContestantId => ({ kind: "device", name, path: "burst" });
    const other: ContestantId = { kind: "device", name: "nnhal-two", path: "compute" };
    const ids = [device, burst("nnhal-one"), other, burst("nnhal-two")];
    const { ratios } = report(ids.map((id) => makeMeasured(id, [1])));
    expect(ratios.map((one) => `${one.name} / ${one.other}`)).toEqual([
      "nnhal-one / nnhal-one burst",
      "nnhal-one / nnhal-two",
      "nnhal-two / nnhal-two burst",
    ]);
  });

  it("has the overhead of a device above its engine, if both compute the same", () => {
    const ort: ContestantId = { kind: "device", name: "nnhal-ort", path: "burst" };
    const engine: ContestantId = { kind: "peer", name: "onnxruntime" };
    const all = [
      makeMeasured(ort, [3, 3]),
      makeMeasured(device, [9, 9]),
      makeMeasured(engine, [1, 2]),
      makeMeasured(peer, [1, 1]),
    ];
    expect(report(all).overheads).toEqual([
      {
        name: "nnhal-ort burst",
        engine: "onnxruntime",
        difference: expect.objectContaining({ median: 1.5, ofMinima: 2 }),
      },
    ]);
    const different = [makeMeasured(ort, [3]), makeMeasured(engine, [1], { prepared: outputs(wrong) })];
    expect(report(different).overheads).toEqual([]);
  });

  it.each([
    ["the peer's first outputs differ", {}, { prepared: outputs(wrong) }],
    ["the peer's last outputs differ", {}, { footprint: { memory: 1, heap: 1, outputs: [wrong] } }],
    ["the device's outputs differ", { prepared: outputs(wrong) }, {}],
  ])("has no ratio if %s, and says by how much", (_, ours, theirs) => {
    const { ratios } = report([makeMeasured(device, [2], ours), makeMeasured(peer, [1], theirs)]);
    expect(ratios).toEqual([
      {
        name: "nnhal-one",
        other: "litert",
        ratio: null,
        reason: expect.stringMatching(/^the outputs of .* are not those of the reference: .* is 5, 1 from 4; /),
      },
    ]);
  });

  it("has no ratio without reference outputs", () => {
    const { ratios, noReference, contestants } = report([makeMeasured(device, [2]), makeMeasured(peer, [1])], {
      expected: "no FOO",
    });
    expect(noReference).toBe("no FOO");
    expect(contestants[0]?.agreement).toBeNull();
    expect(ratios[0]).toMatchObject({ ratio: null, reason: "there is no reference to compare the outputs with" });
  });

  it("says why a contestant has no times", () => {
    const absent = (id: ContestantId, problem: NonNullable<Measured["problem"]>): Measured => ({
      id,
      problem,
      rounds: [],
      cpu: 0,
    });
    const { contestants, ratios } = report([
      makeMeasured(device, [2]),
      absent(peer, { unavailable: "x is not installed", remedy: "npm install x" }),
      absent({ kind: "peer", name: "tfjs" }, { cannot: "no CONV_2D" }),
      absent({ kind: "peer", name: "onnxruntime" }, { failed: "its process ended" }),
    ]);
    expect(contestants.map(({ problem }) => problem)).toEqual([
      null,
      "x is not installed; to add it: npm install x",
      "cannot: no CONV_2D",
      "failed: its process ended",
    ]);
    expect(ratios.map(({ ratio, reason }) => [ratio, reason])).toEqual([
      [null, "litert has no times"],
      [null, "tfjs has no times"],
      [null, "onnxruntime has no times"],
    ]);
  });
});
