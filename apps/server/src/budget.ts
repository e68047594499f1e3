/**
 * The memory that requests hold together, from their first byte until their answer is taken. Without it, each request would be
 * within its limit, and all of them together beyond the machine's memory.
 */
import { RequestError } from "./errors.ts";

/** Memory of one request. */
export interface Holding {
  /**
   * Sets the number of held bytes. Throws a RequestError if they are refused. Of requests that arrive, and of answers that
   * wait, the largest is ended for a smaller one: small requests are not refused because of large ones.
   */
  hold(bytes: number): void;
  /** Sets the number of held bytes, which are allocated already, even if they are too many. */
  keep(bytes: number): void;
  /** Marks the request as complete: it is no longer ended for others. */
  markArrived(): void;
  /** Marks that the client lets its answer wait: it is ended for others, by `giveUp`. */
  waits(giveUp: (error: RequestError) => void): void;
  /** Gives back all memory. */
  release(): void;
}

export interface Budget {
  /** Opens the memory of a request. `giveUp` ends the request, while it arrives, with an error. */
  open(giveUp: (error: RequestError) => void): Holding;
  /** Number of held bytes. */
  readonly held: number;
}

interface Entry {
  bytes: number;
  mayGiveUp: boolean;
  giveUp(error: RequestError): void;
}

/** Creates a budget. `limit`: maximum bytes. */
export function createBudget(limit: number): Budget {
  const entries = new Set<Entry>();
  let held = 0;
  const set = (entry: Entry, bytes: number) => {
    held += bytes - entry.bytes;
    entry.bytes = bytes;
  };
  const drop = (entry: Entry) => {
    if (entries.delete(entry)) set(entry, 0);
  };
  const busy = () =>
    new RequestError("busy", `the requests of this server hold ${held} of the ${limit} bytes that they may`, {
      retryAfter: 1,
    });
  /** Ends the largest request that waits for its client and is larger than `bytes`. Returns whether there was one. */
  const giveUpLargest = (except: Entry, bytes: number): boolean => {
    let largest: Entry | undefined;
    for (const entry of entries) {
      if (entry !== except && entry.mayGiveUp && entry.bytes > (largest?.bytes ?? bytes)) largest = entry;
    }
    if (largest === undefined) return false;
    const error = busy();
    drop(largest);
    largest.giveUp(error);
    return true;
  };
  return {
    get held() {
      return held;
    },
    open(giveUp) {
      const entry: Entry = { bytes: 0, mayGiveUp: true, giveUp };
      entries.add(entry);
      return {
        hold(bytes) {
          // The request was ended: its further memory is refused and not counted.
          if (!entries.has(entry)) throw busy();
          if (bytes > limit) {
            throw new RequestError(
              "tooLarge",
              `the request needs ${bytes} bytes; ${limit} are the most that all may have`,
            );
          }
          while (held - entry.bytes + bytes > limit) if (!giveUpLargest(entry, bytes)) throw busy();
          set(entry, bytes);
        },
        keep(bytes) {
          if (entries.has(entry)) set(entry, bytes);
        },
        markArrived() {
          entry.mayGiveUp = false;
        },
        waits(end) {
          entry.giveUp = end;
          entry.mayGiveUp = true;
        },
        release: () => drop(entry),
      };
    },
  };
}
