/** The threads that an engine is asked for, and those that it gets. */
import type { Unavailable } from "../contract.ts";
import type { FormChoice } from "../self-check.ts";

const mostThreads = 64;

/** The threads of an engine. */
export interface OpenedThreads<Team> {
  /** Absent: one thread computes. */
  readonly team?: Team;
  readonly choices: readonly FormChoice[];
}

/**
 * Opens the threads beside this one, if more than one is wanted. Without them, the choices say why. `given`: an option, or the text of the environment
 * variable of that name; anything but a whole number from 1 to 64 is unavailable.
 */
export async function openThreads<Team>(
  given: number | string,
  variable: string,
  open: (threads: number) => Promise<Team>,
): Promise<OpenedThreads<Team> | Unavailable> {
  const threads = Number(given);
  if (!Number.isInteger(threads) || threads < 1 || threads > mostThreads) {
    return {
      unavailable: `${given} is not a valid number of threads`,
      remedy: `set threads or ${variable} to a whole number from 1 to ${mostThreads}`,
    };
  }
  const subject = "threads";
  if (threads === 1) return { choices: [] };
  try {
    if (typeof SharedArrayBuffer === "undefined")
      throw new Error("there is no SharedArrayBuffer: a page has it if it is isolated (COOP and COEP)");
    return { team: await open(threads), choices: [{ subject, chosen: String(threads) }] };
  } catch (error) {
    const reason = `${threads} threads were asked for: ${error instanceof Error ? error.message : error}`;
    return { choices: [{ subject, chosen: "1", reason }] };
  }
}
