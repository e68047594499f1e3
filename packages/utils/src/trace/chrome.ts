/**
 * A trace in the Chrome trace event format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
 */
import { tracePhases } from "./phases.ts";
import type { Trace } from "./recorder.ts";
import { sectionMark } from "./tracer.ts";

/** A trace event: a section (`X`), or a name for a process or a lane (`M`). */
export type ChromeTraceEvent =
  | {
      readonly ph: "X";
      /** The section's mark. */
      readonly name: string;
      /** Categories to filter by: the layer and the phase. */
      readonly cat: string;
      readonly pid: number;
      /** The lane. */
      readonly tid: number;
      /** Microseconds since the trace began. */
      readonly ts: number;
      /** Microseconds. */
      readonly dur: number;
      readonly args: Readonly<Record<string, string | boolean>>;
    }
  | {
      readonly ph: "M";
      readonly name: "process_name" | "thread_name";
      readonly pid: number;
      readonly tid: number;
      readonly args: { readonly name: string };
    };

/** The content of a trace file, before it is written as JSON. */
export interface ChromeTrace {
  readonly displayTimeUnit: "ms";
  readonly traceEvents: readonly ChromeTraceEvent[];
  readonly otherData: Readonly<Record<string, string | number>>;
}

/** Options of a Chrome trace. */
export interface ChromeTraceOptions {
  /** Default: nnhal. */
  readonly processName?: string | undefined;
  /** Default: 1. */
  readonly processId?: number | undefined;
}

/** A trace for Perfetto. */
export function toChromeTrace(
  { sections, dropped }: Trace,
  { processName = "nnhal", processId = 1 }: ChromeTraceOptions = {},
): ChromeTrace {
  const nameEvent = (name: "process_name" | "thread_name", tid: number, value: string): ChromeTraceEvent => ({
    ph: "M",
    name,
    pid: processId,
    tid,
    args: { name: value },
  });
  const lanes = [...new Set(sections.map(({ lane }) => lane))].sort((a, b) => a - b);
  return {
    displayTimeUnit: "ms",
    traceEvents: [
      nameEvent("process_name", 0, processName),
      ...lanes.map((lane) => nameEvent("thread_name", lane, lane === 0 ? "main" : `at the same time, ${lane}`)),
      ...sections.map(
        (section): ChromeTraceEvent => ({
          ph: "X",
          name: sectionMark(section),
          cat: `${section.layer},${section.phase}`,
          pid: processId,
          tid: section.lane,
          ts: section.start / 1000,
          dur: (section.end - section.start) / 1000,
          args: { phase: tracePhases[section.phase], ...(section.isOpen && { isOpen: true }) },
        }),
      ),
    ],
    otherData: { sections: sections.length, dropped },
  };
}
