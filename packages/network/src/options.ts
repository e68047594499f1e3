/**
 * Checks of the options of this package's functions, which may be called without types.
 */
import { type OptionNames, unknownOption } from "@nnhal/operations";
import { check, NetworkError } from "./error.ts";
import { messageOf, oneLine } from "./text.ts";
import { kindOf } from "./values.ts";

/** Throws BAD_OPTION for options that are not an object, and for an option that the function does not know. */
export function checkOptions<Options extends object>(
  what: string,
  options: Options,
  known: OptionNames<Options>,
): void {
  const isObject = typeof options === "object" && options !== null && !Array.isArray(options);
  check(isObject, "BAD_OPTION", () => `${what}: its options are ${kindOf(options)}, not an object`);
  // The names of a mapped type are strings.
  const problem = unknownOption(options, known as Readonly<Record<string, true>>);
  check(problem === undefined, "BAD_OPTION", () => `${what}: ${problem}`);
  if ("signal" in options) checkSignal(what, options.signal);
}

/** Throws BAD_OPTION for a signal that is not an AbortSignal. */
function checkSignal(what: string, signal: unknown): void {
  const isSignal =
    typeof signal === "object" &&
    signal !== null &&
    "aborted" in signal &&
    "throwIfAborted" in signal &&
    typeof signal.throwIfAborted === "function" &&
    "addEventListener" in signal &&
    typeof signal.addEventListener === "function";
  check(
    signal === undefined || isSignal,
    "BAD_OPTION",
    () => `${what}: its signal is ${kindOf(signal)}, not an AbortSignal`,
  );
}

/**
 * Resolves as the work does. Any other error than a NetworkError, such as one of a getter or a callback of the caller, becomes one, but not
 * the reason of the signal.
 */
export async function wrapErrors<Result>(
  what: string,
  options: { readonly signal?: AbortSignal | undefined } | undefined,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const signal = signalOf(options);
    if (error instanceof NetworkError || (signal?.aborted && error === signal.reason)) throw error;
    throw new NetworkError("FAILED", `${what} failed: ${oneLine(messageOf(error))}`, { cause: error });
  }
}

/** Options can be any value. */
function signalOf(options: unknown): AbortSignal | undefined {
  const signal = typeof options === "object" && options !== null && "signal" in options ? options.signal : undefined;
  return signal instanceof AbortSignal ? signal : undefined;
}
