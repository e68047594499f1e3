import { describe, expect, it } from "vitest";
import { clockedRecorder } from "./clock.test-helper.ts";
import type { TraceLayer, TracePhase } from "./phases.ts";
import type { Trace } from "./recorder.ts";
import { formatTraceTable, toTraceTable } from "./table.ts";

/** A section of a test's trace: its mark, the milliseconds it takes itself before and after each inner one, and those. */
type Given = readonly [mark: string, own: number, ...inside: Given[]];

/** Records sections that take their own time before what is inside them. */
function record(...given: readonly Given[]): Trace {
  const { trace, pass } = clockedRecorder();
  const play = ([mark, own, ...inside]: Given, parent: Pick<typeof trace, "begin" | "beginSubtracted">) => {
    const [, prefix, layer, phase, detail = ""] = /^(\[SUB\])?(L.)_(P\w*) ?(.*)$/.exec(mark) ?? [];
    const begin = prefix === undefined ? parent.begin : parent.beginSubtracted;
    const section = begin.call(parent, layer as TraceLayer, phase as TracePhase, detail);
    pass(own);
    for (const one of inside) play(one, section);
    section.end();
  };
  for (const one of given) play(one, trace);
  return trace.read();
}

/** The rows as `phase layer: total self xcount`, in milliseconds. */
function rows(trace: Trace): string[] {
  return toTraceTable(trace).rows.map(
    ({ layer, phase, total, self, count }) => `${layer}_${phase}: ${total / 1e6} ${self / 1e6} x${count}`,
  );
}

describe("toTraceTable", () => {
  it("sums up a section", () => {
    expect(rows(record(["LR_PP", 3], ["LR_PP", 4], ["LR_PC", 5]))).toEqual(["LR_PP: 7 7 x2", "LR_PC: 5 5 x1"]);
  });

  it("takes inner layers out of the time of outer ones", () => {
    const trace = record(["LA_PE", 1, ["LR_PE", 2, ["LD_PE", 4, ["LC_PE", 8]]]]);
    expect(rows(trace)).toEqual(["LA_PE: 15 1 x1", "LR_PE: 14 2 x1", "LD_PE: 12 4 x1", "LC_PE: 8 8 x1"]);
    expect(toTraceTable(trace).problems).toEqual([]);
  });

  it("takes every inner section out, also of several layers", () => {
    const trace = record(["LR_PE", 1, ["LD_PE", 2], ["LC_PE", 4, ["LC_PE", 8]], ["LD_PE", 16]]);
    expect(rows(trace)).toEqual(["LR_PE: 31 1 x1", "LD_PE: 18 18 x2", "LC_PE: 12 12 x1"]);
  });

  it("does not count detail in the same layer", () => {
    const trace = record(["LR_PE", 1, ["LR_PE", 2, ["LR_PE", 4]], ["LD_PE", 8]]);
    expect(rows(trace)).toEqual(["LR_PE: 15 7 x1", "LD_PE: 8 8 x1"]);
  });

  it("takes a layer out of detail and of what the detail is of, once each", () => {
    const trace = record(["LR_PE", 1, ["LR_PE", 2, ["LD_PE", 4]]]);
    expect(rows(trace)).toEqual(["LR_PE: 7 3 x1", "LD_PE: 4 4 x1"]);
  });

  it("gives parts of an execution rows of their own inside the execution", () => {
    const trace = record(["LC_PE", 1, ["LC_PTR", 2], ["LC_PCO", 4, ["LC_PCO", 8]], ["LC_PR", 16]]);
    expect(rows(trace)).toEqual(["LC_PE: 31 31 x1", "LC_PTR: 2 2 x1", "LC_PCO: 12 12 x1", "LC_PR: 16 16 x1"]);
  });

  it("counts parts of an execution that no execution of their layer holds as execution", () => {
    expect(rows(record(["LR_PIO", 1], ["LR_PE", 2, ["LC_PCO", 4], ["LR_PR", 8]]))).toEqual([
      "LR_PE: 15 11 x2",
      "LC_PE: 4 4 x1",
      "LR_PIO: 1 1 x1",
      "LC_PCO: 4 4 x1",
      "LR_PR: 8 8 x1",
    ]);
  });

  it("counts both sides of a switch", () => {
    const { trace, pass } = clockedRecorder();
    const outer = trace.begin("LC", "PE", "run");
    const section = outer.begin("LC", "PTR", "f");
    pass(1);
    section.switchTo("LC", "PCO", "f");
    pass(2);
    section.switchTo("LC", "PTR", "f");
    pass(4);
    section.end();
    outer.end();
    expect(rows(trace.read())).toEqual(["LC_PE: 7 7 x1", "LC_PTR: 5 5 x2", "LC_PCO: 2 2 x1"]);
  });

  it("takes subtracted time out of other layers up to its own", () => {
    const alone = record(["LI_PC", 1, ["[SUB]LR_PC", 2]]);
    expect(rows(alone)).toEqual(["LR_PC: 2 2 x1", "LI_PC: 1 1 x1"]);
    const inside = record(["LA_PC", 16, ["LR_PC", 1, ["LI_PC", 2, ["LD_PC", 4, ["[SUB]LR_PC", 8]]]]]);
    expect(rows(inside)).toEqual(["LA_PC: 31 16 x1", "LR_PC: 15 9 x1", "LI_PC: 6 2 x1", "LD_PC: 4 4 x1"]);
    expect(toTraceTable(inside).problems).toEqual([]);
  });

  it("keeps a row for a subtracted part of an execution", () => {
    const trace = record(["LR_PE", 1, ["LI_PE", 2, ["[SUB]LR_PR", 4]]]);
    expect(rows(trace)).toEqual(["LR_PE: 7 5 x1", "LI_PE: 2 2 x1", "LR_PR: 4 4 x1"]);
  });

  it("takes initialisation out of everything around it", () => {
    const trace = record(["LA_PP", 1, ["LR_PP", 2, ["LR_PI", 4, ["LD_PI", 8]], ["LR_PP", 16]]]);
    expect(rows(trace)).toEqual(["LR_PI: 12 4 x1", "LD_PI: 8 8 x1", "LA_PP: 19 1 x1", "LR_PP: 18 18 x1"]);
    expect(toTraceTable(trace).problems).toEqual([]);
  });

  it("does not take out twice what is moved inside something moved", () => {
    const trace = record(["LR_PC", 1, ["LR_PI", 2, ["LI_PI", 4, ["[SUB]LR_PI", 8]]]]);
    expect(rows(trace)).toEqual(["LR_PI: 14 10 x1", "LI_PI: 4 4 x1", "LR_PC: 1 1 x1"]);
  });

  it("gives utility code and the phase PU to what is around them", () => {
    const trace = record(["LR_PP", 1, ["LU_PU", 2]], ["LD_PC", 4, ["LU_PU", 8], ["LD_PU", 16]], ["LD_PU", 32]);
    expect(rows(trace)).toEqual(["LR_PP: 3 3 x1", "LD_PC: 28 28 x1", "LD_PU: 32 32 x1"]);
  });

  it("lets overall sections hold all phases, warm-up and benchmark executions", () => {
    const trace = record(["LA_PO", 1, ["LA_PP", 2], ["LA_PWU", 4, ["LA_PE", 8]], ["LA_PBM", 16, ["LA_PE", 32]]]);
    expect(rows(trace)).toEqual([
      "LA_PO: 63 63 x1",
      "LA_PWU: 12 12 x1",
      "LA_PBM: 48 48 x1",
      "LA_PP: 2 2 x1",
      "LA_PE: 40 40 x2",
    ]);
    expect(toTraceTable(trace).problems).toEqual([]);
  });

  it("never gives negative times where inner sections run at the same time", () => {
    const { trace, pass } = clockedRecorder();
    const outer = trace.begin("LR", "PE", "compute");
    const inner = [outer.begin("LD", "PE", "left"), outer.begin("LD", "PE", "right")];
    pass(2);
    for (const section of inner) section.end();
    outer.end();
    expect(rows(trace.read())).toEqual(["LR_PE: 2 0 x1", "LD_PE: 4 4 x2"]);
  });

  it("names what does not fit the order of layers and phases", () => {
    const problems = (...given: readonly Given[]) => toTraceTable(record(...given)).problems;
    expect(problems(["LD_PE execute", 1, ["LR_PE compute", 1]])).toEqual([
      "[NN_LR_PE]compute lies in [NN_LD_PE]execute, which is of a layer further in",
    ]);
    expect(problems(["LR_PE compute", 1, ["LD_PC prepareModel", 1]])).toEqual([
      "[NN_LD_PC]prepareModel lies in [NN_LR_PE]compute, whose phase has no such part",
    ]);
    expect(problems(["LR_PE a", 1, ["LD_PE b", 1], ["LO_PE c", 1, ["LR_PE d", 1]], ["LU_PU e", 1]])).toEqual([]);
    expect(problems(["LA_PO a", 1, ["LC_PCO b", 1]], ["LA_PBM c", 1, ["LR_PIO d", 1]])).toEqual([]);
  });

  it("names what has not ended and what had no room", () => {
    const { trace } = clockedRecorder({ limit: 1 });
    trace.begin("LR", "PE", "compute").begin("LD", "PE", "execute");
    expect(toTraceTable(trace.read()).problems).toEqual([
      "[NN_LR_PE]compute has not ended",
      "1 sections had no room in the trace",
    ]);
  });

  it("names 20 problems and counts the rest", () => {
    const wrong = Array.from({ length: 23 }, (): Given => ["LR_PE compute", 0]);
    const { problems } = toTraceTable(record(["LD_PE execute", 1, ...wrong]));
    expect(problems).toHaveLength(21);
    expect(problems[20]).toBe("and 3 more");
  });
});

describe("formatTraceTable", () => {
  it("lines columns up, parts of an execution under it", () => {
    const trace = record(["LR_PP", 0.5], ["LR_PE", 1, ["LC_PCO", 1234.5678]], ["LD_PE", 1, ["LR_PE f", 1]]);
    expect(formatTraceTable(toTraceTable(trace))).toBe(
      [
        "phase          layer    count  total ms   self ms",
        "Preparation    Runtime      1     0.500     0.500",
        "Execution      Runtime      2  1236.568     2.000",
        "Execution      Driver       1     2.000     1.000",
        "Execution      CPU          1  1234.568  1234.568",
        "  Computation  CPU          1  1234.568  1234.568",
        "note: [NN_LR_PE]f lies in [NN_LD_PE], which is of a layer further in",
        "",
      ].join("\n"),
    );
  });
});
