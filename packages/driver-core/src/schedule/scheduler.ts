/**
 * The scheduler of a device's executions. At most `concurrency` run at once. Waiting clients take turns, and the work
 * of one client is ordered by priority. Each `ageing` nanoseconds of waiting raise work by one level, so that no work
 * waits for ever. Waiting places are limited: work that finds none is refused.
 */

import type { Priority } from "@nnhal/types";
import { callAt, callSoon, systemTimer, type Timer } from "@nnhal/utils/time";
import { createHeap, type Heap } from "./heap.ts";
import type { TurnLimit } from "./turn-limit.ts";
import { createWaitingPlaces, type WaitingLimits } from "./waiting-places.ts";

/** Options of a scheduler. */
export interface SchedulerOptions extends WaitingLimits {
  /** Maximum number of concurrent tasks. */
  readonly concurrency: number;
  /** A monotonic clock in nanoseconds. */
  readonly now: () => bigint;
  /** Default: the system's. */
  readonly timer?: Timer;
  /** Nanoseconds that weigh as much as one level of priority. Default: 100 ms. */
  readonly ageing?: bigint;
  /** Limits turns of the event loop: work beyond the limit starts in the next turn. Default: no limit. */
  readonly turnLimit?: TurnLimit;
}

/** A task. */
export interface Work {
  /** Its client. Clients take turns, regardless of priority. */
  readonly client: object;
  readonly priority: Priority;
  /** When it must have started, on the scheduler's clock. */
  readonly deadline?: bigint;
}

/** The result of `enter`. `full`: all waiting places, or the client's share of them, are taken. */
export type Entry = "started" | "late" | "dismissed" | "full";

/** See `createScheduler`. */
export interface Scheduler {
  /**
   * Starts work at once if there is room, nothing waits, and the event loop has time. If it returns true, `leave` must
   * follow. `time`: now.
   */
  tryEnter(time: bigint): boolean;
  /**
   * Resolves with `started` when the work may start, after which `leave` must follow, or with the reason why it will
   * not start.
   */
  enter(work: Work): Promise<Entry>;
  /** Call it when started work has ended. */
  leave(): void;
  /**
   * Takes a waiting place for work that is not in a queue. Returns a function that releases it; undefined if there is
   * none.
   */
  hold(client: object): (() => void) | undefined;
  /** Returns true if a client has no waiting place left. */
  isFull(client: object): boolean;
  /** Cancels the waiting work of a client. */
  dismiss(client: object): void;
  /** Amount of work that waits in queues. */
  readonly waiting: number;
}

interface Waiting {
  /** Time of arrival, shifted by its priority: lower values start first. */
  readonly rank: bigint;
  /** Order of arrival, between equals. */
  readonly order: number;
  settled: boolean;
  settle(entry: Entry): void;
  cancel(): void;
}

/** The waiting work of one client. */
interface Line {
  readonly queue: Heap<Waiting>;
  /** Number of items in the queue that were refused as late and only take up room. */
  stale: number;
}

/** Maximum number of refused items that stay in a queue. */
const fewStale = 32;

/** A scheduler without work. Throws RangeError for a limit below 1. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { concurrency, now, timer = systemTimer, ageing = 100_000_000n } = options;
  const { turnLimit } = options;
  if (!(concurrency >= 1)) throw new RangeError(`a scheduler needs concurrency of at least 1, not ${concurrency}`);
  const { isFull, take, giveBack } = createWaitingPlaces(options);
  /** Waiting work by client, the client with the next turn first. Only clients with waiting work are in it. */
  const lines = new Map<object, Line>();
  let running = 0;
  let waiting = 0;
  let arrivals = 0;

  let isDeferred = false;
  const fillLater = () => {
    if (isDeferred) return;
    isDeferred = true;
    callSoon(() => {
      isDeferred = false;
      fill();
    });
  };
  const fill = () => {
    while (running < concurrency && waiting > 0) {
      if (turnLimit?.isSpent(now())) {
        fillLater();
        return;
      }
      const item = takeNext(lines);
      if (item === undefined) return;
      running++;
      item.settle("started");
    }
  };

  /** Late work stays in its heap until there is more of it than of other work. */
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
      if (running >= concurrency || waiting > 0 || turnLimit?.isSpent(time)) return false;
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
          // A client that repeats a refused call at once must not block the event loop either.
          if (turnLimit?.isSpent(time)) callSoon(() => resolve(refusal));
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
        item.cancel = callAt(deadline, { now, timer }, () => {
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
      // The remaining items are late and have been refused.
      else if (lines.size > 0) lines.clear();
    },
  };
}

/** Takes the work whose turn it is: clients take turns. */
function takeNext(lines: Map<object, Line>): Waiting | undefined {
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
}

function isBefore(a: Waiting, b: Waiting): boolean {
  return a.rank === b.rank ? a.order < b.order : a.rank < b.rank;
}
