/**
 * A recorder whose time a test moves.
 */
import { createTraceRecorder, type TraceRecorder, type TraceRecorderOptions } from "./recorder.ts";

/** A recorder that is on, and what moves its clock on by some milliseconds. */
export function clockedRecorder(options: Omit<TraceRecorderOptions, "now"> = {}): {
  readonly trace: TraceRecorder;
  readonly pass: (milliseconds: number) => void;
} {
  // Not 0: times are counted from when the recorder is made.
  let time = 5_000_000n;
  const trace = createTraceRecorder({ ...options, now: () => time });
  trace.start();
  return {
    trace,
    pass(milliseconds) {
      time += BigInt(Math.round(milliseconds * 1e6));
    },
  };
}
