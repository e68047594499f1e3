/**
 * @nnhal/program: what the long-running programs of nnhal share.
 */
export { createLog, type LogFormat, type LogLevel, logFormats, logLevels, writeEntry } from "./log.ts";
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
export { endSignal, exitCodeOf, exitCodes, runMain, type Surroundings, UsageError } from "./process.ts";
export { inheritedSockets, notifySystem } from "./system.ts";
