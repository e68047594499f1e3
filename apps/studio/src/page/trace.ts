/**
 * The times of operations as a timeline in Chrome's trace form, which ui.perfetto.dev opens.
 */
import type { Profile } from "@nnhal/network";

/** An event of the form: a section of time in microseconds, or the name of a row. */
interface TraceEvent {
  readonly name: string;
  readonly ph: "X" | "M";
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One row for each device, with its operations one after another, as they run. */
export function traceOf({ operations }: Pick<Profile, "operations">): { readonly traceEvents: readonly TraceEvent[] } {
  const rows = new Map<string, number>();
  let now = 0;
  const sections = operations.map(({ index, operation, operator, device = "the runtime", time = 0 }): TraceEvent => {
    const tid = rows.get(device) ?? rows.size + 1;
    rows.set(device, tid);
    const [ts, dur] = [now, time * 1000];
    now += dur;
    return { name: operation, ph: "X", pid: 1, tid, ts, dur, args: { index, operator } };
  });
  const names = [...rows].map(
    ([device, tid]): TraceEvent => ({ name: "thread_name", ph: "M", pid: 1, tid, args: { name: device } }),
  );
  return { traceEvents: [...names, ...sections] };
}
