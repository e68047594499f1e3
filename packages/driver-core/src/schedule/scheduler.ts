/**
 * Which execution of a device goes next. At most so many run at once; of those that wait, clients take turns, and the
 * work of one client goes by priority. Waiting counts as priority does: each `ageing` nanoseconds lift work by one level,
 * so nothing waits behind work that came later than that.
 */
import type { Priority } from "@nnhal/types";
import { createHeap, type Heap } from "./heap.ts";
import { callAt, systemTimer, type Timer } from "./timer.ts";

/** How to schedule. */
export interface SchedulerOptions {
  /** Most work under way at once. */
  readonly concurrency: number;
  /** Nanoseconds of a clock that never goes back. */
  readonly now: () => bigint;
  /** Default: the system's. */
  readonly timer?: Timer;
  /** Nanoseconds that weigh as much as one level of priority. Default: 100 ms. */
  readonly ageing?: bigint;
}

/** What wants to run. */
export interface Work {
  /** Whose it is: work of different clients takes turns, whatever its priority. */
  readonly client: object;
  readonly priority: Priority;
  /** When it is too late to start, on the scheduler's clock. */
  readonly deadline?: bigint;
}

/** See `createScheduler`. */
export interface Scheduler {
  /** Starts work at once where there is room and nobody waits. Where it answers true, `leave` has to follow. */
  tryEnter(): boolean;
  /**
   * Resolves with true when the work may start, after which `leave` has to follow; with false when it is too late, or its
   * client is dismissed.
   */
  enter(work: Work): Promise<boolean>;
  /** Work that had entered has ended. */
  leave(): void;
  /** What waits of a client's work will not start any more. */
  dismiss(client: object): void;
  /** How much waits. */
  readonly waiting: number;
}

interface Waiting {
  /** When it would have come if it were of priority 0: what comes before goes before. */
  readonly rank: bigint;
  /** Order of arrival, between equals. */
  readonly order: number;
  settled: boolean;
  settle(started: boolean): void;
  cancel(): void;
}

/** A scheduler with nothing to do. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { concurrency, now, timer = systemTimer, ageing = 100_000_000n } = options;
  if (!(concurrency >= 1)) throw new RangeError(`a scheduler needs a concurrency of at least 1, not ${concurrency}`);
  /** What waits, by client, the client whose turn it is first. Clients that wait for nothing are not in it. */
  const queues = new Map<object, Heap<Waiting>>();
  let running = 0;
  let waiting = 0;
  let arrivals = 0;

  const next = (): Waiting | undefined => {
    for (const [client, queue] of queues) {
      queues.delete(client);
      let item = queue.take();
      while (item?.settled) item = queue.take();
      if (item === undefined) continue;
      // To the end of the line.
      if (queue.size > 0) queues.set(client, queue);
      return item;
    }
    return undefined;
  };

  const fill = () => {
    while (running < concurrency && waiting > 0) {
      const item = next();
      if (item === undefined) return;
      running++;
      item.settle(true);
    }
  };

  return {
    get waiting() {
      return waiting;
    },
    tryEnter() {
      if (running >= concurrency || waiting > 0) return false;
      running++;
      return true;
    },
    enter({ client, priority, deadline }) {
      return new Promise((resolve) => {
        const time = now();
        if (deadline !== undefined && time >= deadline) {
          resolve(false);
          return;
        }
        const item: Waiting = {
          rank: time - BigInt(priority) * ageing,
          order: arrivals++,
          settled: false,
          cancel: () => {},
          settle(started) {
            item.settled = true;
            waiting--;
            item.cancel();
            resolve(started);
          },
        };
        waiting++;
        let queue = queues.get(client);
        if (queue === undefined) {
          queue = createHeap(isBefore);
          queues.set(client, queue);
        }
        queue.add(item);
        fill();
        if (item.settled || deadline === undefined) return;
        item.cancel = callAt(deadline, now, timer, () => item.settle(false));
      });
    },
    dismiss(client) {
      const queue = queues.get(client);
      queues.delete(client);
      for (let item = queue?.take(); item !== undefined; item = queue?.take()) {
        if (!item.settled) item.settle(false);
      }
    },
    leave() {
      running--;
      if (waiting > 0) fill();
      // What is left came too late and has been told so.
      else if (queues.size > 0) queues.clear();
    },
  };
}

function isBefore(a: Waiting, b: Waiting): boolean {
  return a.rank === b.rank ? a.order < b.order : a.rank < b.rank;
}
