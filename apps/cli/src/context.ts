/**
 * What a command may use of the process around it, so that a test can run it without one.
 */
import type { ChildProcess } from "node:child_process";
import type { Device } from "@nnhal/types";

/** A stream of text, such as process.stdout. */
export interface TextOutput {
  write(text: string): unknown;
  /** Whether a person watches it. */
  readonly isTTY?: boolean;
}

/** The surroundings of a command. */
export interface CommandContext {
  /** Results. */
  readonly stdout: TextOutput;
  /** Progress and problems. */
  readonly stderr: TextOutput;
  /** Opens a device by the name a user gives it. Rejects with an Error that says what there is instead. */
  openDevice(name: string): Promise<Device>;
  /** Starts this program as a child process with other arguments and an IPC channel. Absent: work stays in this process. */
  startSelf?(args: readonly string[]): ChildProcess;
  /** 0: done. 1: what was checked is not as it should be. 2: the command could not do its work. */
  setExitCode(code: number): void;
}
