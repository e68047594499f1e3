/**
 * The allowed excess of a device over the limits of a case before the case fails. The defaults are generous: on a busy machine
 * they find only devices that do not keep the limit at all. The result of a case holds the measured value.
 */

/** Limits on late and expensive answers. Times are in milliseconds. */
export interface Allowances {
  /** From a deadline to the end of a call with a MISSED_DEADLINE status. Default 1000. */
  readonly lateness: number;
  /** From a deadline to the end of a call with NONE. Default 150. */
  readonly lateSuccess: number;
  /** The time to refuse an impossible request, such as an output without room. Default 2000. */
  readonly refusal: number;
  /** The bytes by which the process may grow while it refuses such a request. Default 512 MiB. */
  readonly memory: number;
  /**
   * The time of an execution of one client while another client's loop runs, beyond that loop's deadline. Default 1000.
   */
  readonly waiting: number;
  /**
   * The bytes by which the process may grow with 48 executions of a matrix of 256 x 256, or with as many prepared models that are
   * closed. Default 32 MiB.
   */
  readonly leak: number;
  /** The time for which a client's loop may block the thread. Default 1000. */
  readonly blocking: number;
}

/** The defaults of Allowances. */
export const defaultAllowances: Allowances = {
  lateness: 1000,
  lateSuccess: 150,
  refusal: 2000,
  memory: 512 * 2 ** 20,
  waiting: 1000,
  leak: 32 * 2 ** 20,
  blocking: 1000,
};
