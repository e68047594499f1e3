/**
 * All that the page measured, as a timeline in Chrome's trace form, which ui.perfetto.dev opens.
 */
import type { Profile } from "@nnhal/network";
import type { Phase } from "../engine/phases.ts";

/** An event of the form: a section of time in microseconds, or the name of a row or of a group of rows. */
interface TraceEvent {
  readonly name: string;
  readonly ph: "X" | "M";
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Measurements; undefined: there are none. */
export interface Measured {
  /** Phases of preparing the model. */
  readonly preparation: readonly Phase[] | undefined;
  /** Phases of the last run. */
  readonly run: readonly Phase[] | undefined;
  readonly operations: Profile["operations"] | undefined;
}

/** Groups of rows: one for the preparation, one for the run, and one for the operations, with a row for each device. Each begins at 0. */
export function traceOf({ preparation, run, operations }: Measured): { readonly traceEvents: readonly TraceEvent[] } {
  const groups: readonly (readonly [string, readonly TraceEvent[]])[] = [
    ["preparation", phaseEvents(preparation ?? [], 1)],
    ["the last run", phaseEvents(run ?? [], 2)],
    ["each operation, median", operationEvents(operations ?? [], 3)],
  ];
  const traceEvents = groups.flatMap(([name, events]) => {
    const [first] = events;
    return first === undefined ? [] : [nameOf("process_name", name, first.pid, 0), ...events];
  });
  return { traceEvents };
}

function nameOf(kind: "process_name" | "thread_name", name: string, pid: number, tid: number): TraceEvent {
  return { name: kind, ph: "M", pid, tid, args: { name } };
}

function phaseEvents(phases: readonly Phase[], pid: number): TraceEvent[] {
  const events = phases.map(
    ({ name, start, time }): TraceEvent => ({
      ...{ name, ph: "X", pid, tid: 1 },
      ...{ ts: start * 1000, dur: time * 1000, args: {} },
    }),
  );
  return events.length === 0 ? [] : [nameOf("thread_name", "the page's worker", pid, 1), ...events];
}

/** One row for each device, with its operations one after another, as they run. */
function operationEvents(operations: Profile["operations"], pid: number): TraceEvent[] {
  const rows = new Map<string, number>();
  let now = 0;
  const sections = operations.map(({ index, operation, operator, device = "the runtime", time = 0 }): TraceEvent => {
    const tid = rows.get(device) ?? rows.size + 1;
    rows.set(device, tid);
    const [ts, dur] = [now, time * 1000];
    now += dur;
    return { name: operation, ph: "X", pid, tid, ts, dur, args: { index, operator } };
  });
  return [...[...rows].map(([device, tid]) => nameOf("thread_name", device, pid, tid)), ...sections];
}
