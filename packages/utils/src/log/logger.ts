/**
 * A logger: messages of four severities, the verbose ones selected by tag while the program runs.
 */
import { environmentProperties, environmentVariableOf, type PropertySource } from "./properties.ts";
import { consoleSink, type LogSink } from "./sink.ts";
import { ALL_VLOG_TAGS, parseVLogMask, VLOG_PROPERTY, VLogFlag, type VLogTag, vlogTagNames } from "./vlog-mask.ts";

/** A message, or a function that returns it, which is called only if the message is written. */
export type LogMessage = string | (() => string);

/** Receives the messages of a component. */
export interface Logger {
  /** Writes a message of a tag, if the tag is on. */
  VLOG(tag: VLogTag, message: LogMessage): void;
  /** Returns whether a tag is on. Check it before expensive preparations and in loops. */
  VLOG_IS_ON(tag: VLogTag): boolean;
  /** Reads the property with the tags again. Drivers do it in getCapabilities, the runtime when a model is created. */
  initVLogMask(): void;
  /** Output that a user asked for, such as the lines of a dump. `tag`: its subject. */
  info(message: LogMessage, tag?: VLogTag): void;
  /** A warning: unexpected, but nothing fails. */
  warning(message: LogMessage): void;
  /** A fault of the caller, or a failure. */
  error(message: LogMessage): void;
}

/** Options of a logger. */
export interface LoggerOptions {
  /** Default: the console. */
  readonly sink?: LogSink | undefined;
  /** The source of `debug.nn.vlog`. Default: the environment variable NNHAL_VLOG. */
  readonly properties?: PropertySource | undefined;
}

/** A logger. As in Android, every tag is on until the first call of `initVLogMask`. */
export function createLogger({ sink = consoleSink, properties = environmentProperties }: LoggerOptions = {}): Logger {
  let mask: number = ALL_VLOG_TAGS;
  /** The value of the property that the mask was made from. */
  let known: string | undefined;
  const isOn = (tag: VLogTag) => (mask & (1 << VLogFlag[tag])) !== 0;
  const logger: Logger = {
    VLOG(tag, message) {
      if (isOn(tag)) sink({ severity: "verbose", tag, message: textOf(message) });
    },
    VLOG_IS_ON: isOn,
    initVLogMask() {
      const setting = properties(VLOG_PROPERTY) ?? "";
      // Models are created often: an invalid setting is reported once.
      if (setting === known) return;
      known = setting;
      mask = parseVLogMask(setting, (token) => logger.error(() => describeUnknown(token)));
    },
    info: (message, tag) => sink({ severity: "info", ...(tag && { tag }), message: textOf(message) }),
    warning: (message) => sink({ severity: "warning", message: textOf(message) }),
    error: (message) => sink({ severity: "error", message: textOf(message) }),
  };
  return logger;
}

function textOf(message: LogMessage): string {
  return typeof message === "function" ? message() : message;
}

function describeUnknown(token: string): string {
  const setting = `${VLOG_PROPERTY} (${environmentVariableOf(VLOG_PROPERTY)})`;
  return `${setting}: ${JSON.stringify(token)} is not a tag; the tags are ${vlogTagNames.join(", ")}, and all`;
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  VLOG() {},
  VLOG_IS_ON: () => false,
  initVLogMask() {},
  info() {},
  warning() {},
  error() {},
};

/**
 * The default logger of components: on the console, with the tags in NNHAL_VLOG. Components call `initVLogMask` before
 * their first verbose message, so without the variable there are none.
 */
export const defaultLogger: Logger = /* @__PURE__ */ createLogger();
