/** The messages between the process that runs inputs and the one that watches it. */

/** The task of a process, its argument. */
export interface Task {
  readonly target: string;
  readonly seed: number;
  /**
   * A file of the last execution: its number, the length of its input, and whether it has ended (1) or not (0), each of 32 bits, then the
   * input.
   */
  readonly stateFile: string;
  /** Where inputs are kept that reached something first. They are run at the start of the next run. */
  readonly corpusFolder: string;
  /** When to end, in milliseconds since 1970. */
  readonly until: number;
  /** Inputs to run instead, once each. */
  readonly files: readonly string[] | undefined;
  /** Milliseconds of processor time for one input. */
  readonly cpuLimit: number;
  /** Bytes by which one input may raise the greatest memory of the process. */
  readonly memoryLimit: number;
}

/** Bytes of the state file before the input. */
export const stateHeader = 12;

/** Reports of a process. */
export type Report =
  | {
      readonly kind: "progress";
      readonly executions: number;
      readonly places: number;
      readonly corpus: number;
      readonly memory: number;
    }
  /** Something that must not happen has happened. `key` is the same for the same fault. */
  | {
      readonly kind: "found";
      readonly key: string;
      readonly message: string;
      readonly file: string | undefined;
      readonly base64: string;
    }
  /** All is done. `reached`: the numbers of the places that were reached. */
  | { readonly kind: "done"; readonly executions: number; readonly reached: readonly number[] };
