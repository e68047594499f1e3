/**
 * How far beyond what a case asks for a device may go before the case fails. The defaults are generous: they find a device
 * that does not keep its word at all, on a machine that is busy with other things. What was measured is in the case's result.
 */

/** See the file's head. Times are in milliseconds. */
export interface Allowances {
  /** How long after its deadline a call may end, with a status that says so. Default 1000. */
  readonly lateness: number;
  /** How long after its deadline a call may end with NONE. Default 150. */
  readonly lateSuccess: number;
  /** How long it may take to refuse what cannot be done, such as an output that has no room. Default 2000. */
  readonly refusal: number;
  /** Bytes by which the process may grow while it refuses that. Default 512 MiB. */
  readonly memory: number;
  /** How long an execution of one client may take while another client's loop runs, beyond that loop's deadline. Default 1000. */
  readonly waiting: number;
  /** How long the thread may not turn to other work while a client's loop runs. Default 1000. */
  readonly blocking: number;
}

/** Generous: see the file's head. */
export const defaultAllowances: Allowances = {
  lateness: 1000,
  lateSuccess: 150,
  refusal: 2000,
  memory: 512 * 2 ** 20,
  waiting: 1000,
  blocking: 1000,
};
