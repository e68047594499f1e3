/**
 * Which execution of a device goes next. At most so many run at once; of those that wait, clients take turns, and the
 * work of one client goes by priority. Waiting counts as priority does: each `ageing` nanoseconds lift work by one level,
 * so nothing waits behind work that came later than that. The places to wait are counted: work that finds none is refused.
 */
import type { Priority } from "@nnhal/types";
import type { Breather } from "./breather.ts";
import { createHeap, type Heap } from "./heap.ts";
import { callAt, systemTimer, type Timer } from "./timer.ts";

/** How much may wait. */
export interface WaitingLimits {
  /** Most work of all clients together that waits. Default: 4096. */
  readonly waiting?: number | undefined;
  /** Most work of one client that waits, so that there are places for the others. Default: 1024. */
  readonly waitingPerClient?: number | undefined;
}

/** How to schedule. */
export interface SchedulerOptions extends WaitingLimits {
  /** Most work under way at once. */
  readonly concurrency: number;
  /** A monotonic clock in nanoseconds. */
  readonly now: () => bigint;
  /** Default: the system's. */
  readonly timer?: Timer;
  /** Nanoseconds that weigh as much as one level of priority. Default: 100 ms. */
  readonly ageing?: bigint;
  /** Work that would make a turn of the event loop longer than it may be starts in the next one. Default: turns have no end. */
  readonly breather?: Breather;
}

/** What wants to run. */
export interface Work {
  /** Whose it is: work of different clients takes turns, whatever its priority. */
  readonly client: object;
  readonly priority: Priority;
  /** When it is too late to start, on the scheduler's clock. */
  readonly deadline?: bigint;
}

/** What came of wanting to run. `full`: all places to wait, or the client's share of them, are taken. */
export type Entry = "started" | "late" | "dismissed" | "full";

/** See `createScheduler`. */
export interface Scheduler {
  /**
   * Starts work at once if there is room, nothing waits, and the event loop has time. If it returns true, `leave` has to follow.
   * `time`: now.
   */
  tryEnter(time: bigint): boolean;
  /** Resolves when the work may start, after which `leave` has to follow, or when it will not start. */
  enter(work: Work): Promise<Entry>;
  /** Work that had entered has ended. */
  leave(): void;
  /** Takes a place to wait for something that is not in a queue. Returns what gives it back; undefined if there is none. */
  hold(client: object): (() => void) | undefined;
  /** Whether a client's next work would find no place to wait. */
  isFull(client: object): boolean;
  /** What waits of a client's work will not start any more. */
  dismiss(client: object): void;
  /** How much work waits in queues. */
  readonly waiting: number;
}

interface Waiting {
  /** When it would have come if it were of priority 0: what comes before goes before. */
  readonly rank: bigint;
  /** Order of arrival, between equals. */
  readonly order: number;
  settled: boolean;
  settle(entry: Entry): void;
  cancel(): void;
}

/** The work of one client that waits. */
interface Line {
  readonly queue: Heap<Waiting>;
  /** How much of the queue has been told that it is too late, and only takes up room. */
  stale: number;
}

/** So few items that have been told may stay in a queue. */
const fewStale = 32;

/** A scheduler with nothing to do. Throws RangeError for a limit below 1. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { concurrency, now, timer = systemTimer, ageing = 100_000_000n } = options;
  const { waiting: mostWaiting = 4096, waitingPerClient = 1024, breather } = options;
  for (const [what, limit] of Object.entries({ concurrency, waiting: mostWaiting, waitingPerClient })) {
    if (!(limit >= 1)) throw new RangeError(`a scheduler needs ${what} of at least 1, not ${limit}`);
  }
  /** What waits, by client, the client whose turn it is first. Clients that wait for nothing are not in it. */
  const lines = new Map<object, Line>();
  /** The places that each client has taken, in queues and beside them. */
  const places = new Map<object, number>();
  let taken = 0;
  let running = 0;
  let waiting = 0;
  let arrivals = 0;

  const isFull = (client: object) => taken >= mostWaiting || (places.get(client) ?? 0) >= waitingPerClient;
  const take = (client: object) => {
    taken++;
    places.set(client, (places.get(client) ?? 0) + 1);
  };
  const giveBack = (client: object) => {
    taken--;
    const left = (places.get(client) ?? 1) - 1;
    if (left > 0) places.set(client, left);
    else places.delete(client);
  };

  const next = (): Waiting | undefined => {
    for (const [client, line] of lines) {
      lines.delete(client);
      let item = line.queue.take();
      for (; item?.settled; line.stale--) item = line.queue.take();
      if (item === undefined) continue;
      // To the end of the line.
      if (line.queue.size > 0) lines.set(client, line);
      return item;
    }
    return undefined;
  };

  let isDeferred = false;
  const fillLater = () => {
    if (isDeferred) return;
    isDeferred = true;
    setImmediate(() => {
      isDeferred = false;
      fill();
    });
  };
  const fill = () => {
    while (running < concurrency && waiting > 0) {
      if (breather?.isSpent(now())) {
        fillLater();
        return;
      }
      const item = next();
      if (item === undefined) return;
      running++;
      item.settle("started");
    }
  };

  /** Work whose deadline has come stays in its heap; it is cleared away when it is more than the rest. */
  const noteStale = (line: Line) => {
    line.stale++;
    if (line.stale <= fewStale || 2 * line.stale <= line.queue.size) return;
    line.queue.keep((item) => !item.settled);
    line.stale = 0;
  };

  return {
    get waiting() {
      return waiting;
    },
    isFull,
    tryEnter(time) {
      if (running >= concurrency || waiting > 0 || breather?.isSpent(time)) return false;
      running++;
      return true;
    },
    hold(client) {
      if (isFull(client)) return undefined;
      take(client);
      let isHeld = true;
      return () => {
        if (isHeld) giveBack(client);
        isHeld = false;
      };
    },
    enter({ client, priority, deadline }) {
      return new Promise((resolve) => {
        const time = now();
        const refusal = deadline !== undefined && time >= deadline ? "late" : isFull(client) ? "full" : undefined;
        if (refusal !== undefined) {
          // A client that asks again at once must not hold the event loop either.
          if (breather?.isSpent(time)) setImmediate(() => resolve(refusal));
          else resolve(refusal);
          return;
        }
        const item: Waiting = {
          rank: time - BigInt(priority) * ageing,
          order: arrivals++,
          settled: false,
          cancel: () => {},
          settle(entry) {
            item.settled = true;
            waiting--;
            giveBack(client);
            item.cancel();
            resolve(entry);
          },
        };
        waiting++;
        take(client);
        let line = lines.get(client);
        if (line === undefined) {
          line = { queue: createHeap(isBefore), stale: 0 };
          lines.set(client, line);
        }
        line.queue.add(item);
        fill();
        if (item.settled || deadline === undefined) return;
        const queued = line;
        item.cancel = callAt(deadline, now, timer, () => {
          item.settle("late");
          noteStale(queued);
        });
      });
    },
    dismiss(client) {
      const queue = lines.get(client)?.queue;
      lines.delete(client);
      for (let item = queue?.take(); item !== undefined; item = queue?.take()) {
        if (!item.settled) item.settle("dismissed");
      }
    },
    leave() {
      running--;
      if (waiting > 0) fill();
      // What is left came too late and has been told so.
      else if (lines.size > 0) lines.clear();
    },
  };
}

function isBefore(a: Waiting, b: Waiting): boolean {
  return a.rank === b.rank ? a.order < b.order : a.rank < b.rank;
}
