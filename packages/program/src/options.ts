/** Command lines: readers of options, and a parser that returns instead of ending the process. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type LogLevel, logFormats, logLevels } from "./log-forms.ts";
import { exitCodes } from "./process.ts";

/**
 * The outcome of reading a command line: a command to run, or a text with which the program ends (help, the version, or
 * an error).
 */
export type ParsedCommand =
  | { readonly kind: "run"; readonly command: Command }
  | { readonly kind: "end"; readonly text: string; readonly exitCode: number };

/**
 * Reads a command line without the program's name. Adds `--help` and `--version` with their short forms. The text of a mistake is one line:
 * the program's name, the mistake, and how to get help. Never throws for what a user has written. The command may come from another copy
 * of commander than this package's, of the same version.
 */
export function parseCommand(command: Command, args: readonly string[], version: string): ParsedCommand {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  command
    .version(version, "-v, --version", "print the version")
    .helpOption("-h, --help", "explain the command")
    .exitOverride()
    .configureOutput({
      writeOut: write,
      writeErr: write,
      outputError: (message, end) => end(`${command.name()}: ${mistakeIn(message)}; see ${command.name()} --help\n`),
    });
  try {
    command.parse([...args], { from: "user" });
  } catch (error) {
    if (!isOfCommander(error)) throw error;
    return { kind: "end", text, exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage };
  }
  return { kind: "run", command };
}

/**
 * Returns commander's description of a mistake as one line without `error: ` and full stop, as in other messages of
 * nnhal.
 */
function mistakeIn(message: string): string {
  return message
    .trim()
    .replace(/^error: /, "")
    .replace(/\s*\n\s*/g, " ")
    .replace(/\.$/, "");
}

/** Returns whether commander ended the reading, by the error's code: each copy of commander has its own class. */
function isOfCommander(error: unknown): error is Error & { readonly exitCode: number } {
  return (
    error instanceof Error && "code" in error && String(error.code).startsWith("commander.") && "exitCode" in error
  );
}

/** Adds `--log-format` and `--log-level`, whose values are a `LogFormat` and a `LogLevel`. `level`: the default. */
export function addLogOptions(command: Command, level: LogLevel): Command {
  return command
    .addOption(new Option("--log-format <form>", "the form of logs on stderr").choices(logFormats).default("text"))
    .addOption(new Option("--log-level <level>", "the least severe entries of logs").choices(logLevels).default(level));
}

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** A port; 0 is a free one. */
export function port(text: string): number {
  return count(0, 65_535)(text);
}

/** A number of seconds above 0, of at most a day. */
export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && value <= 86_400) return value;
  throw new InvalidArgumentError("Expected a number of seconds above 0, of at most a day.");
}

/** The number of a user of the system, as `id -u NAME` prints it. */
export function userNumber(text: string): number {
  return count(0, 2 ** 32 - 2)(text);
}

/** The help text of `--driver-owner`. */
export const driverOwnerHelp =
  "the number of the user whose daemon --driver names (default: that of this process; any other is refused)";

/** An integer in a range. */
export function count(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected an integer from ${least} to ${most}.`);
  };
}
