/**
 * The one error of this package.
 */

/** Kind of an error, for programs. The message says it for people. */
export type NetworkErrorCode =
  /** A file or an address cannot be read. */
  | "CANNOT_READ"
  /** The bytes are not a .tflite model. */
  | "NOT_A_MODEL"
  /** The model has operators that no device has, or that cannot be expressed: `problems` lists them. */
  | "CANNOT_RUN"
  /** An option is not valid. */
  | "BAD_OPTION"
  /** A device does not exist, or does not work here. */
  | "NO_DEVICE"
  /** An input, output or state of that name does not exist, or an input is missing. */
  | "WRONG_NAME"
  /** A value has the wrong type. */
  | "WRONG_TYPE"
  /** A value has the wrong number of elements. */
  | "WRONG_SIZE"
  /** A value has the right number of elements in a wrong shape. */
  | "WRONG_SHAPE"
  /** A value is out of the range of its type. */
  | "WRONG_VALUE"
  /** Bytes are not a picture, or a broken one. */
  | "NOT_A_PICTURE"
  /** Bytes are not a WAV file, or a broken one. */
  | "NOT_A_SOUND"
  /** The tokeniser that is packed with a model is broken, or has what is not supported. */
  | "NOT_A_TOKENIZER"
  /** The model is not one for the task. */
  | "WRONG_TASK"
  /** The model is closed. */
  | "CLOSED"
  /** A device did not end a run within its `timeout`. */
  | "TIMED_OUT"
  /** A device failed while it computed. */
  | "FAILED";

/** Every error of this package, except that a signal's own reason is thrown when the signal aborts. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly code: NetworkErrorCode;
  /** All reasons why a model cannot run, at most 100; empty for other errors. */
  readonly problems: readonly string[];

  constructor(code: NetworkErrorCode, message: string, options: NetworkErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.problems = options.problems ?? [];
  }
}

/** Details of an error besides its message. */
export interface NetworkErrorOptions {
  readonly cause?: unknown;
  readonly problems?: readonly string[] | undefined;
}

/** Throws unless a condition holds. */
export function check(condition: boolean, code: NetworkErrorCode, message: () => string): asserts condition {
  if (!condition) throw new NetworkError(code, message());
}
