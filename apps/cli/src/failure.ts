/**
 * End of a command that cannot do its work: one line for the user and an exit code.
 */

import { exitCodes } from "@nnhal/program";

/** One of the exit codes that `nnhal --help` explains. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A problem that the user can understand and solve. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;
  /** The package that must be installed. Undefined: the problem is another. */
  readonly missing: string | undefined;

  constructor(
    exitCode: ExitCode,
    message: string,
    { missing, ...options }: ErrorOptions & { readonly missing?: string | undefined } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode;
    this.missing = missing;
  }
}

/** The command line is wrong, or names a file that is missing or of the wrong kind. */
export function usageError(message: string, cause?: unknown): CommandError {
  return new CommandError(exitCodes.usage, message, { cause });
}

/** The command line is right, but the model cannot run. */
export function failure(message: string, cause?: unknown): CommandError {
  return new CommandError(exitCodes.failed, message, { cause });
}

/**
 * Loads what needs packages that are found if they are installed. Rejects with a failure that says what needs them, and why the first of
 * them is not there.
 */
export async function loadPackage<Loaded>(
  modules: readonly [string, ...string[]],
  what: string,
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  try {
    return await load();
  } catch (cause) {
    const { isMissing } = await import("@nnhal/backend/engines");
    const absent = modules.find((module) => isMissing(cause, module));
    const missing = absent && modules.join(" ");
    const why = absent === undefined ? `loading it failed: ${loadingReason(cause)}` : "it is not installed";
    const message = `${what} needs the package ${absent ?? modules[0]}: ${why}`;
    throw new CommandError(exitCodes.failed, message, { cause, missing });
  }
}

/** Why loading a package failed, without the files of its build that asked for what is missing. */
export function loadingReason(error: unknown): string {
  return messageOf(error).replace(/\s+(imported from|Require stack:)[\s\S]*$/, "");
}

/** The message of a thrown value. Not the function of @nnhal/network, which help would have to load. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The stack of a thrown value, with the stacks of its causes. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { stack, cause } = error;
  return cause instanceof Error ? `${stack}\ncaused by ${stackOf(cause)}` : String(stack);
}
