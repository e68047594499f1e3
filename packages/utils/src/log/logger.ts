/**
 * A logger: messages of four severities, the verbose ones selected by tag while the program runs.
 */
import { environmentProperties, environmentVariableOf, type PropertySource } from "./properties.ts";
import { consoleSink, type LogSink } from "./sink.ts";
import { ALL_VLOG_TAGS, parseVLogMask, VLOG_PROPERTY, VLogFlag, type VLogTag, vlogTagNames } from "./vlog-mask.ts";

/** A message, or how to make it: a function is called only if somebody reads the message. */
export type LogMessage = string | (() => string);

/** Takes what a component has to say. */
export interface Logger {
  /** Says something about a tag's subject, if the tag is on. */
  VLOG(tag: VLogTag, message: LogMessage): void;
  /** Whether a tag is on: for what is dear to prepare, and in loops. */
  VLOG_IS_ON(tag: VLogTag): boolean;
  /** Reads again which tags are on. Drivers do it in getCapabilities, the runtime when a model is created. */
  initVLogMask(): void;
  /** What a user asked to see, such as the lines of a dump. `tag`: what it is about. */
  info(message: LogMessage, tag?: VLogTag): void;
  /** What may surprise but stops nothing. */
  warning(message: LogMessage): void;
  /** What a caller did wrong, or what failed. */
  error(message: LogMessage): void;
}

/** What a logger is made of. */
export interface LoggerOptions {
  /** Default: the console. */
  readonly sink?: LogSink | undefined;
  /** Where `debug.nn.vlog` comes from. Default: the environment variable NNHAL_VLOG. */
  readonly properties?: PropertySource | undefined;
}

/** A logger. As Android's it has every tag on until `initVLogMask` is called for the first time. */
export function createLogger({ sink = consoleSink, properties = environmentProperties }: LoggerOptions = {}): Logger {
  let mask: number = ALL_VLOG_TAGS;
  /** The value that the mask stands for. */
  let known: string | undefined;
  const isOn = (tag: VLogTag) => (mask & (1 << VLogFlag[tag])) !== 0;
  const logger: Logger = {
    VLOG(tag, message) {
      if (isOn(tag)) sink({ severity: "verbose", tag, message: textOf(message) });
    },
    VLOG_IS_ON: isOn,
    initVLogMask() {
      const setting = properties(VLOG_PROPERTY) ?? "";
      // Models are created often: what is wrong with a setting is said once.
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
  return `${setting}: ${JSON.stringify(token)} is no tag; there are ${vlogTagNames.join(", ")}, and all`;
}

/** A logger that says nothing. */
export const silentLogger: Logger = {
  VLOG() {},
  VLOG_IS_ON: () => false,
  initVLogMask() {},
  info() {},
  warning() {},
  error() {},
};

/**
 * The logger of components that are given none: on the console, with the tags that NNHAL_VLOG selects. Components call
 * `initVLogMask` before they say anything verbose, so without the variable nothing is.
 */
export const defaultLogger: Logger = /* @__PURE__ */ createLogger();
