/**
 * How a command ends that cannot do its work: with one line for the user and an exit code.
 */
import { messageOf } from "@nnhal/network/tensors";
import { oneLine } from "./text.ts";

export { messageOf };

/** Exit codes, as `nnhal --help` explains them. */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A problem that the user can understand and solve. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
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

/** The line for an error that no command expects. `debug`: its stack is shown already. */
export function unexpectedLine(error: unknown, debug: boolean): string {
  return `unexpected problem: ${oneLine(messageOf(error))}${debug ? "" : "; --debug shows where"}`;
}

/** The stack of a thrown value, with the stacks of its causes. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { stack, cause } = error;
  return cause instanceof Error ? `${stack}\ncaused by ${stackOf(cause)}` : String(stack);
}
