/**
 * A progress bar on a terminal. If stderr is not a terminal, nothing, or lines for work that takes minutes.
 */
import { SingleBar } from "cli-progress";
import type { TextOutput } from "./context.ts";

/** A bar that counts to a total. */
export interface ProgressBar {
  /** Moves on to `done` of the total, never back, and shows a description of the last work. */
  moveTo(done: number, detail: string): void;
  stop(): void;
}

const silent: ProgressBar = { moveTo() {}, stop() {} };

/** Starts a bar on a stream if that is a terminal. */
export function createProgressBar(stream: TextOutput, total: number): ProgressBar {
  if (!stream.isTTY || !isWritable(stream)) return silent;
  const bar = new SingleBar({
    stream,
    format: "{bar} {percentage}%  {eta_formatted} left  {detail}",
    barsize: 30,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    // The terminal keeps its modes, so that Ctrl-C leaves it usable.
    hideCursor: false,
    linewrap: true,
    clearOnComplete: true,
    formatTime: leftText,
  });
  bar.start(total, 0, { detail: "" });
  let most = 0;
  return {
    moveTo(done, detail) {
      most = Math.max(most, done);
      bar.update(most, { detail });
    },
    stop: () => bar.stop(),
  };
}

/** Seconds as text. cli-progress has words such as INF for a time that it cannot know yet, and its own text cuts them to "NFs". */
function leftText(seconds: number | string): string {
  if (typeof seconds !== "number") return "?";
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

/**
 * The same for work that takes minutes: where there is no terminal, a line every `interval` milliseconds says how far the work is, so that
 * logs show what takes so long.
 */
export function createLongProgress(stream: TextOutput, total: number, interval = 10_000): ProgressBar {
  if (stream.isTTY) return createProgressBar(stream, total);
  let line = "";
  const timer = setInterval(() => stream.write(line), interval);
  timer.unref();
  let most = 0;
  return {
    moveTo(done, detail) {
      most = Math.max(most, done);
      line = `${Math.floor((100 * most) / total)}%  ${detail}\n`;
    },
    stop: () => clearInterval(timer),
  };
}

/** The same for work that is often short: the bar starts when the work has taken `delay` milliseconds. */
export function createLateProgressBar(stream: TextOutput, total: number, delay = 1000): ProgressBar {
  let bar: ProgressBar | undefined;
  let latest: Parameters<ProgressBar["moveTo"]> = [0, ""];
  const timer = setTimeout(() => {
    bar = createProgressBar(stream, total);
    bar.moveTo(...latest);
  }, delay);
  return {
    moveTo(done, detail) {
      latest = [done, detail];
      bar?.moveTo(done, detail);
    },
    stop() {
      clearTimeout(timer);
      bar?.stop();
    },
  };
}

function isWritable(stream: unknown): stream is NodeJS.WritableStream {
  return typeof stream === "object" && stream !== null && "once" in stream && "end" in stream;
}
