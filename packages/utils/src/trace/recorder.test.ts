import { elementAt } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { clockedRecorder } from "./clock.test-helper.ts";
import { createTraceRecorder, type TraceRecorder } from "./recorder.ts";
import { inSection, noSection, noTracer, sectionMark } from "./tracer.ts";

/** The sections as `mark start-end lane <parent`, in milliseconds. */
function show(trace: TraceRecorder): string[] {
  return trace.read().sections.map((section) => {
    const { start, end, lane, parent, isOpen } = section;
    const open = isOpen ? " open" : "";
    return `${sectionMark(section)} ${start / 1e6}-${end / 1e6} lane ${lane} in ${parent}${open}`;
  });
}

describe("createTraceRecorder", () => {
  it("records sections inside sections", () => {
    const { trace, pass } = clockedRecorder();
    const outer = trace.begin("LR", "PE", "compute");
    pass(1);
    const inner = outer.begin("LD", "PE", "execute");
    pass(2);
    inner.end();
    pass(3);
    outer.end();
    expect(show(trace)).toEqual(["[NN_LR_PE]compute 0-6 lane 0 in -1", "[NN_LD_PE]execute 1-3 lane 0 in 0"]);
  });

  it("is off until it is started, and after it is stopped", () => {
    const { trace, pass } = clockedRecorder();
    const off = createTraceRecorder();
    expect([off.isOn, off.begin("LR", "PE", "compute")]).toEqual([false, noSection]);
    const underWay = trace.begin("LR", "PE", "compute");
    trace.stop();
    expect([trace.isOn, trace.begin("LR", "PE", "again"), underWay.begin("LD", "PE", "inside")]).toEqual([
      false,
      noSection,
      noSection,
    ]);
    pass(4);
    underWay.end();
    expect(show(trace)).toEqual(["[NN_LR_PE]compute 0-4 lane 0 in -1"]);
  });

  it("switches: one section ends where the other begins, in the same place", () => {
    const { trace, pass } = clockedRecorder();
    const outer = trace.begin("LC", "PE", "run");
    const section = outer.begin("LC", "PTR", "concat");
    pass(2);
    section.switchTo("LC", "PCO", "concat kernel");
    const inside = section.begin("LU", "PU", "copy");
    inside.end();
    pass(3);
    section.end();
    outer.end();
    expect(show(trace)).toEqual([
      "[NN_LC_PE]run 0-5 lane 0 in -1",
      "[NN_LC_PTR]concat 0-2 lane 0 in 0",
      "[SW][NN_LC_PCO]concat kernel 2-5 lane 0 in 0",
      "[NN_LU_PU]copy 2-2 lane 0 in 2",
    ]);
  });

  it("marks sections that subtract", () => {
    const { trace } = clockedRecorder();
    const outer = trace.begin("LI", "PC", "prepareModel");
    outer.beginSubtracted("LR", "PC", "work").end();
    outer.run(() => trace.beginSubtracted("LR", "PC", "more").end());
    trace.beginSubtracted("LR", "PC", "alone").end();
    outer.end();
    expect(show(trace).map((line) => line.replace(/ .*in/, ""))).toEqual([
      "[NN_LI_PC]prepareModel -1",
      "[SUB][NN_LR_PC]work 0",
      "[SUB][NN_LR_PC]more 0",
      "[SUB][NN_LR_PC]alone -1",
    ]);
  });

  it("puts what the tracer begins during the synchronous part of run inside, and nothing else", async () => {
    const { trace } = clockedRecorder();
    const outer = trace.begin("LR", "PE", "compute");
    const callee = async () => {
      trace.begin("LD", "PE", "before waiting").end();
      await Promise.resolve();
      trace.begin("LD", "PE", "after waiting").end();
    };
    const done = outer.run(callee);
    trace.begin("LA", "PP", "meanwhile").end();
    await done;
    expect(() =>
      outer.run(() => {
        throw new Error("broken");
      }),
    ).toThrow("broken");
    trace.begin("LA", "PP", "afterwards").end();
    expect(trace.read().sections.map(({ detail, parent }) => [detail, parent])).toEqual([
      ["compute", -1],
      ["before waiting", 0],
      ["meanwhile", -1],
      ["after waiting", -1],
      ["afterwards", -1],
    ]);
  });

  it("puts sections that run at the same time into separate lanes, and reuses lanes", () => {
    const { trace, pass } = clockedRecorder();
    const first = trace.begin("LR", "PE", "first");
    const second = trace.begin("LR", "PE", "second");
    const left = first.begin("LD", "PE", "left");
    const right = first.begin("LD", "PE", "right");
    const below = right.begin("LC", "PE", "below");
    pass(1);
    for (const section of [below, right, left, second]) section.end();
    trace.begin("LR", "PE", "third").end();
    first.end();
    trace.begin("LR", "PE", "fourth").end();
    expect(trace.read().sections.map(({ detail, lane }) => `${detail} ${lane}`)).toEqual([
      "first 0",
      "second 1",
      "left 0",
      "right 2",
      "below 2",
      "third 1",
      "fourth 0",
    ]);
  });

  it("ends what is open inside a section that ends, once", () => {
    const { trace, pass } = clockedRecorder();
    const outer = trace.begin("LR", "PE", "compute");
    const inner = outer.begin("LD", "PE", "execute");
    inner.begin("LC", "PE", "run");
    pass(1);
    outer.end();
    pass(1);
    inner.end();
    outer.end();
    inner.switchTo("LD", "PR", "too late");
    expect(show(trace)).toEqual([
      "[NN_LR_PE]compute 0-1 lane 0 in -1",
      "[NN_LD_PE]execute 0-1 lane 0 in 0",
      "[NN_LC_PE]run 0-1 lane 0 in 1",
    ]);
  });

  it("puts what begins in a section that has ended into the one around it", () => {
    const { trace } = clockedRecorder();
    const outer = trace.begin("LR", "PE", "compute");
    const inner = outer.begin("LD", "PE", "execute");
    inner.end();
    inner.begin("LC", "PE", "late").end();
    outer.end();
    inner.begin("LC", "PE", "latest").end();
    expect(trace.read().sections.map(({ parent }) => parent)).toEqual([-1, 0, 0, -1]);
  });

  it("reads sections under way as ending now", () => {
    const { trace, pass } = clockedRecorder();
    trace.begin("LR", "PE", "compute");
    pass(3);
    expect(show(trace)).toEqual(["[NN_LR_PE]compute 0-3 lane 0 in -1 open"]);
    pass(1);
    expect(show(trace)).toEqual(["[NN_LR_PE]compute 0-4 lane 0 in -1 open"]);
  });

  it("counts what has no room", () => {
    const { trace } = clockedRecorder({ limit: 2 });
    const first = trace.begin("LR", "PE", "first");
    const second = first.begin("LD", "PE", "second");
    expect(first.begin("LD", "PE", "third")).toBe(noSection);
    second.switchTo("LD", "PR", "fourth");
    second.end();
    first.end();
    const { sections, dropped } = trace.read();
    expect([sections.map(({ detail }) => detail), dropped]).toEqual([["first", "second"], 2]);
  });

  it("counts time on a clock of its own unless it is given one", () => {
    const trace = createTraceRecorder();
    trace.start();
    const section = trace.begin("LA", "PO", "wait");
    const end = performance.now() + 2;
    while (performance.now() < end);
    section.end();
    const { start, end: ended } = elementAt(trace.read().sections, 0);
    expect(ended - start).toBeGreaterThanOrEqual(2e6);
  });
});

describe("inSection", () => {
  it("ends with what it does, also where that throws", () => {
    const { trace, pass } = clockedRecorder();
    const result = inSection(trace, "LR", "PP", "finish", (section) => {
      section.begin("LU", "PU", "sort").end();
      pass(2);
      return 7;
    });
    expect(result).toBe(7);
    expect(() =>
      inSection(trace, "LR", "PP", "finish", () => {
        throw new Error("broken");
      }),
    ).toThrow("broken");
    expect(trace.read().sections.map(({ isOpen, end }) => [isOpen, end])).toEqual([
      [false, 2e6],
      [false, 0],
      [false, 2e6],
    ]);
  });

  it("ends when a promise settles, either way, before those that wait for it go on", async () => {
    const { trace, pass } = clockedRecorder();
    let finish = (_outcome: "resolve" | "reject") => {};
    const start = () =>
      inSection(
        trace,
        "LR",
        "PE",
        "compute",
        () =>
          new Promise<void>((resolve, reject) => {
            finish = (outcome) => (outcome === "resolve" ? resolve() : reject(new Error("broken")));
          }),
      );
    const first = start();
    pass(2);
    finish("resolve");
    await first;
    expect(trace.read().sections[0]).toMatchObject({ isOpen: false, end: 2e6 });
    const second = start();
    pass(3);
    finish("reject");
    await expect(second).rejects.toThrow("broken");
    expect(trace.read().sections[1]).toMatchObject({ isOpen: false, start: 2e6, end: 5e6 });
  });

  it("only does the work where nothing is traced", () => {
    expect(inSection(noTracer, "LR", "PP", "finish", (section) => section)).toBe(noSection);
    expect(inSection(noSection, "LR", "PP", "finish", () => 7)).toBe(7);
  });
});

describe("noSection", () => {
  it("holds nothing and stays what it is", () => {
    noSection.switchTo("LC", "PCO", "x");
    noSection.end();
    expect(noSection.begin("LC", "PE", "x")).toBe(noSection);
    expect(noSection.beginSubtracted("LC", "PE", "x")).toBe(noSection);
    expect(noSection.run(() => 7)).toBe(7);
    expect([noTracer.isOn, noTracer.begin("LC", "PE", "x"), noTracer.beginSubtracted("LC", "PE", "x")]).toEqual([
      false,
      noSection,
      noSection,
    ]);
  });
});
