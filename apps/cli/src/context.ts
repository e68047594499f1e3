/**
 * The process around a command, as an interface, so that a test can run the command without one.
 */
import type { ChildProcess } from "node:child_process";
import type { BatchThread } from "@nnhal/batch";
import type { AllowList } from "@nnhal/runtime";
import type { Device } from "@nnhal/types";
import type { TraceRecorder } from "@nnhal/utils";
import type { Engine } from "./backend-module.ts";
import type { DeviceFinder } from "./devices.ts";

/** A stream of text, such as process.stdout. */
export interface TextOutput {
  write(text: string): unknown;
  /** True if a person watches it. */
  readonly isTTY?: boolean;
  /** The width of the terminal in characters. Absent: not a terminal; lines are not broken. */
  readonly columns?: number;
}

/** The surroundings of a command. */
export interface CommandContext {
  /** Results. */
  readonly stdout: TextOutput;
  /** Progress and problems. */
  readonly stderr: TextOutput;
  /**
   * Opens the device of a selection: a name, several names with commas between them, or `auto`. Rejects with an Error
   * that lists the names that exist.
   */
  openDevice(names: string): Promise<Device>;
  /**
   * The device that a command is to check: `names` if given, else the only one that the user named, with `--backend` or `--driver`. Rejects
   * with a usage error that lists the names that exist.
   */
  deviceToCheck(names: string | undefined): Promise<string>;
  /** The options before a command that open the same devices, such as `--driver NAME`: for a line that the user runs again. */
  readonly sharedArguments?: readonly string[];
  /** Starts this program as a child process with other arguments and an IPC channel. Absent: work stays in this process. */
  startSelf?(args: readonly string[]): ChildProcess;
  /** Prints the stack of a problem, if the user asked for it with --debug. */
  showWhere(error: unknown): void;
  /**
   * Calls a listener at the next Ctrl-C or SIGTERM instead of ending the process; the one after that ends it. Returns a function that takes
   * the listener away. Absent: they end the process.
   */
  onInterrupt?(listener: () => void): () => void;
  /** 0: done. 1: the check failed. 2: the command could not do its work. */
  setExitCode(code: number): void;
}

/** Further parts for a command that runs models. */
export interface ModelCommandContext extends CommandContext {
  /** The folder that relative paths start from. */
  readonly cwd: string;
  /** Reads the standard input to its end. Absent: there is none. */
  stdin?(): Promise<Uint8Array>;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** The devices that the command line knows. */
  readonly devices: DeviceFinder;
  /** Answer of the machine's allow-list about this program. */
  allowList(): { readonly source: string; readonly refused: string | null };
  /** Records what they and the runtime do, once it is started. */
  readonly trace: TraceRecorder;
}

/** Further parts for the demo. */
export interface DemoContext extends ModelCommandContext {
  /** The folder of the demo's network and pictures. */
  readonly demoFolder: string;
  /** Words that a user types before arguments: `nnhal`, or the script that stands for it in a checkout. */
  readonly commandLine: string;
  /** True if stdout shows colours. */
  readonly hasColours: boolean;
  /** Options that all commands share, for processes and threads that must know the same devices. */
  readonly shared: SharedOptions;
  /** Starts a thread that computes inputs of a batch (batch-thread.ts). */
  startThread(settings: ThreadSettings): BatchThread;
  /** Starts nnhal-sample-driver as a child process whose stdout is read. Absent: it is not installed. */
  startDriver?(args: readonly string[]): ChildProcess;
}

/** The process around the command line. */
export interface Surroundings
  extends Omit<
    DemoContext,
    "openDevice" | "deviceToCheck" | "devices" | "shared" | "trace" | "showWhere" | "allowList"
  > {
  /** The engines it knows, in the order in which they are preferred. */
  engines(): Promise<readonly Engine[]>;
  readonly version: string;
  /** Command that installs a package of this project, such as `npm install PACKAGE`. */
  installs(module: string): string;
  /** The directory of kept self-checks of engines. Absent, or undefined: engines check themselves whenever they open. */
  stateDirectory?(): Promise<string | undefined>;
  /** Which applications may use extensions. Default: the machine's list. */
  readonly extensionsAllowed?: AllowList;
}

/** Options of every command. */
export interface SharedOptions {
  readonly backend?: readonly string[];
  readonly extension?: readonly string[];
  readonly driver?: readonly string[];
  /** The number of the user whose daemon `driver` names. Default: the user of this process. */
  readonly driverOwner?: number;
  readonly debug?: boolean;
}

/** Settings of the machine for a thread of a batch. */
export interface ThreadSettings extends SharedOptions {
  readonly cwd: string;
  /** See `Surroundings.stateDirectory`. */
  readonly state?: string | undefined;
}
