/** The forms and severities of logs, apart from what writes them. */

/** The forms of a log. */
export const logFormats = ["text", "json"] as const;

/** One of them. */
export type LogFormat = (typeof logFormats)[number];

/** Severities, the least first. */
export const logLevels = ["debug", "info", "warn", "error"] as const;

/** One of them. */
export type LogLevel = (typeof logLevels)[number];
