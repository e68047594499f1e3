/** Destinations of messages. */
import type { VLogTag } from "./vlog-mask.ts";

/** The severity of a message. `verbose` messages have a tag, and exist only if the tag is on. */
export type LogSeverity = "verbose" | "info" | "warning" | "error";

/** One message. */
export interface LogEntry {
  readonly severity: LogSeverity;
  /** Of a verbose message, and of the lines of a dump. */
  readonly tag?: VLogTag;
  readonly message: string;
}

/** Receives messages. It must not throw: errors reach the code that logs. */
export type LogSink = (entry: LogEntry) => void;

/** A message as one line: `nnhal driver: prepareModel`, `nnhal warning: …`. */
export function formatLogEntry({ severity, tag, message }: LogEntry): string {
  const label = tag === undefined ? severity : tag.toLowerCase();
  return `nnhal ${label}: ${message}`;
}

/** Writes to the console: in Node.js to stderr, so that results on stdout are not mixed with messages. */
export const consoleSink: LogSink = (entry) => globalThis.console?.error(formatLogEntry(entry));
