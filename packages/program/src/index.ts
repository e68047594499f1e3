/**
 * @nnhal/program: the shell of the programs of nnhal: options, exit codes, signals, and the process as a value. Logs are @nnhal/program/log.
 */
export type { LogFormat, LogLevel } from "./log-forms.ts";
export {
  addLogOptions,
  collect,
  count,
  driverOwnerHelp,
  type ParsedCommand,
  parseCommand,
  port,
  seconds,
  userNumber,
} from "./options.ts";
export { endSignal, exitCodeOf, exitCodes, runMain, type Surroundings, UsageError, versionOf } from "./process.ts";
export { inheritedSockets, notifySystem } from "./system.ts";
