import { elementAt } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { toChromeTrace } from "./chrome.ts";
import { clockedRecorder } from "./clock.test-helper.ts";

describe("toChromeTrace", () => {
  it("has an event for each section, and names for the process and the lanes", () => {
    const { trace, pass } = clockedRecorder();
    pass(1);
    const outer = trace.begin("LR", "PE", "compute");
    pass(0.0015);
    const inner = outer.begin("LC", "PCO", "CONV_2D");
    const other = trace.begin("LR", "PP", 'a "model"\n');
    pass(2);
    inner.switchTo("LC", "PR", "copy");
    pass(1);
    inner.end();
    other.end();
    outer.end();
    const section = (name: string, cat: string, tid: number, ts: number, dur: number, phase: string) => ({
      ph: "X",
      name,
      cat,
      pid: 9,
      tid,
      ts,
      dur,
      args: { phase },
    });
    const name = (what: string, tid: number, value: string) => ({
      ph: "M",
      name: what,
      pid: 9,
      tid,
      args: { name: value },
    });
    expect(toChromeTrace(trace.read(), { processName: "app", processId: 9 })).toEqual({
      displayTimeUnit: "ms",
      traceEvents: [
        name("process_name", 0, "app"),
        name("thread_name", 0, "main"),
        name("thread_name", 1, "at the same time, 1"),
        section("[NN_LR_PE]compute", "LR,PE", 0, 1000, 3001.5, "Execution"),
        section("[NN_LC_PCO]CONV_2D", "LC,PCO", 0, 1001.5, 2000, "Computation"),
        section('[NN_LR_PP]a "model"\n', "LR,PP", 1, 1001.5, 3000, "Preparation"),
        section("[SW][NN_LC_PR]copy", "LC,PR", 0, 3001.5, 1000, "Results"),
      ],
      otherData: { sections: 4, dropped: 0 },
    });
  });

  it("marks what had not ended, and says what had no room", () => {
    const { trace, pass } = clockedRecorder({ limit: 1 });
    trace.begin("LR", "PE", "compute").begin("LD", "PE", "execute");
    pass(1);
    const { traceEvents, otherData } = toChromeTrace(trace.read());
    expect(traceEvents.at(-1)).toMatchObject({ dur: 1000, pid: 1, args: { isOpen: true } });
    expect(otherData).toEqual({ sections: 1, dropped: 1 });
  });

  it("keeps sections of one lane inside or behind one another, whatever ends first", () => {
    const { trace, pass } = clockedRecorder();
    const open = [trace.begin("LR", "PE", "0")];
    for (let step = 1; step < 60; step++) {
      const around = elementAt(open, (step * 7) % open.length);
      open.push(step % 3 === 0 ? trace.begin("LR", "PE", `${step}`) : around.begin("LD", "PE", `${step}`));
      pass(1);
      if (step % 4 === 0) elementAt(open.splice((step * 5) % open.length, 1), 0).end();
      if (open.length === 0) open.push(trace.begin("LR", "PE", "again"));
    }
    for (const section of open) section.end();
    const events = toChromeTrace(trace.read()).traceEvents.flatMap((event) => (event.ph === "X" ? [event] : []));
    expect(events.length).toBeGreaterThanOrEqual(60);
    for (const a of events) {
      for (const b of events) {
        if (a === b || a.tid !== b.tid || a.ts > b.ts) continue;
        const isBehind = b.ts >= a.ts + a.dur;
        const isInside = b.ts + b.dur <= a.ts + a.dur;
        expect(isBehind || isInside || (a.ts === b.ts && a.dur <= b.dur)).toBe(true);
      }
    }
  });
});
