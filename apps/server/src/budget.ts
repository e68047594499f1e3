/**
 * The memory that requests hold together, from their first byte until their answer is taken. Without it, each request would be within its own
 * limit, and all of them together beyond what the machine has.
 */
import { RequestError } from "./errors.ts";

/** What one request holds. */
export interface Holding {
  /**
   * Sets how many bytes it holds. Throws a RequestError if it cannot have as many. Of requests that arrive, and of answers that wait, the largest
   * is given up for a smaller one: who sends little is not refused because others send much.
   */
  hold(bytes: number): void;
  /** Sets how many bytes it holds, which are there already, even if they are too many. */
  keep(bytes: number): void;
  /** All of the request is here: it is not given up for another any more. */
  arrived(): void;
  /** The client has let its answer wait: it is given up for others, by `giveUp`. */
  waits(giveUp: (error: RequestError) => void): void;
  /** Gives back all of it. */
  release(): void;
}

export interface Budget {
  /** `giveUp` ends the request, which still arrives, with an error. */
  open(giveUp: (error: RequestError) => void): Holding;
  /** Bytes that are held. */
  readonly held: number;
}

interface Entry {
  bytes: number;
  mayGiveUp: boolean;
  giveUp(error: RequestError): void;
}

/** `limit`: the most bytes. */
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
  /** Gives up the largest request that waits for its client and is larger than `bytes`. Returns whether there was one. */
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
          // It was given up, or has ended: what it still asks for is not counted, and must not be had.
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
        arrived() {
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
