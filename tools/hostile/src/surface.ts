/** The interface of attacked surfaces: a program in a separate process, and kinds of hostile input for it. */
import type { Started } from "@nnhal/test-kit/processes";

/** A program that takes input from outside. */
export interface Surface {
  readonly name: string;
  readonly says: string;
  /** Starts the program in a separate process, with `heapArguments`. */
  start(): Promise<Target>;
}

/** A program that runs. */
export interface Target {
  readonly program: Started;
  /** Bytes that its process may have resident, as SECURITY.md states them. */
  readonly memoryLimit: number;
  /** Asks for something that costs the program nothing. Rejects if the answer is wrong. */
  ask(): Promise<void>;
  readonly kinds: readonly Kind[];
  close(): Promise<void>;
}

/** A kind of hostile input. */
export interface Kind {
  readonly name: string;
  /**
   * Sends one round of it, which takes a few seconds at most, and leaves nothing open. Rejects if an answer shows a fault. `signal` aborts when
   * the time of the kind is over. `note` takes a line for the report.
   */
  send(random: () => number, signal: AbortSignal, note: (text: string) => void): Promise<void>;
}

/** MiB of heap that programs get: about what Node.js gives itself in a container of 2 GiB. */
export const heapLimit = 1024;

/** The environment of a program under attack. */
export const heapEnvironment: NodeJS.ProcessEnv = { NODE_OPTIONS: `--max-old-space-size=${heapLimit}` };
