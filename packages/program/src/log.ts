/**
 * @nnhal/program/log: structured logs on stderr, a line of JSON for each entry, or a line of text. Programs that use it install pino.
 */
import type { LogEntry } from "@nnhal/utils";
import pino, { type DestinationStream, type Logger } from "pino";
import type { LogFormat, LogLevel } from "./log-forms.ts";

/** Makes a log that writes synchronously, so that nothing is lost when the process ends. */
export function createLog(format: LogFormat, write: (text: string) => void, level: LogLevel = "debug"): Logger {
  const destination: DestinationStream = { write: format === "json" ? write : (line) => write(textOf(line)) };
  const formatters = { level: (label: string) => ({ level: label }) };
  const timestamp = pino.stdTimeFunctions.isoTime;
  return pino({ base: null, level, formatters, timestamp }, destination);
}

/** Writes an entry of a component of a service. */
export function writeEntry(log: Logger, service: string, { severity, tag, message }: LogEntry): void {
  const fields = { service, ...(tag !== undefined && { tag }) };
  log[levels[severity]](fields, message);
}

const levels = { verbose: "debug", info: "info", warning: "warn", error: "error" } as const;

/** `12:00:00.000 info nnapi-sample_all: message (client=3)` */
function textOf(line: string): string {
  const { level, time, msg, service, ...rest }: Record<string, unknown> = JSON.parse(line);
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const where = service === undefined ? "" : `${service}: `;
  const more = fields.length === 0 ? "" : ` (${fields.join(" ")})`;
  return `${String(time).slice(11, 23)} ${level} ${where}${msg}${more}\n`;
}
