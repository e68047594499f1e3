/** The job of a process under stress: plain data, since it passes from one process to another. */

/**
 * `infer`: prepares models, executes each several times at once, and closes it, now and then while executions are under way. `load`:
 * prepares and closes. `alive`: executes one small model over and over. `grow`: like `infer`, and reports how much memory is kept.
 */
export type StressWork = "infer" | "load" | "alive" | "grow";

/** The task of a process. */
export interface StressJob {
  readonly work: StressWork;
  /** `common`: small models of twelve operations, whose results are compared. `random`: of all operations. Or the path of a .tflite file. */
  readonly models: "common" | "random" | { readonly file: string };
  /** Number of concurrent lanes. */
  readonly lanes: number;
  readonly milliseconds: number;
  readonly seed: number;
}

/** Work that a process did. */
export interface StressTally {
  readonly executions: number;
  readonly prepared: number;
  /** Mean time of an execution in ms; 0 if there was none. */
  readonly mean: number;
  /** Mean time in ms of a loop that is always the same: how fast the machine was meanwhile. 0 if there were no executions. */
  readonly loop: number;
  /** Bytes by which the process has grown since it was warm, of `grow`. */
  readonly growth?: number;
}

/** Messages of a process when its work begins, and at its end. */
export type StressMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "success"; readonly tally: StressTally }
  | { readonly kind: "failure"; readonly reason: string }
  /** The device does not support the network. */
  | { readonly kind: "unsupported"; readonly reason: string };

/** Outcome of a process, as in Android's MLTS. */
export type StressOutcome = "SUCCESS" | "FAILURE" | "HANG" | "CRASH";
