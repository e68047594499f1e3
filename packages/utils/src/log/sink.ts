/**
 * Where messages go.
 */
import type { VLogTag } from "./vlog-mask.ts";

/** How much a message matters. `verbose` messages have a tag, and exist only where the tag is on. */
export type LogSeverity = "verbose" | "info" | "warning" | "error";

/** One message. */
export interface LogEntry {
  readonly severity: LogSeverity;
  /** Of a verbose message, and of the lines of a dump. */
  readonly tag?: VLogTag;
  readonly message: string;
}

/** Takes messages. It must not throw: what it throws reaches the code that logs. */
export type LogSink = (entry: LogEntry) => void;

/** A message as one line: `nnhal driver: prepareModel`, `nnhal warning: …`. */
export function formatLogEntry({ severity, tag, message }: LogEntry): string {
  const label = tag === undefined ? severity : tag.toLowerCase();
  return `nnhal ${label}: ${message}`;
}

/** Writes to the console: in Node.js to stderr, so that results on stdout stay as they are. */
export const consoleSink: LogSink = (entry) => globalThis.console?.error(formatLogEntry(entry));
