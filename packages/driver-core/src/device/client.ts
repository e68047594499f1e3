/**
 * One of the clients of a device: what it holds ends with it.
 */
import { ErrorStatus } from "@nnhal/types";
import { systemTimer, type Timer } from "../schedule/timer.ts";
import type { Refusal } from "./refusal.ts";

/** Something that waits for an engine. */
export interface Waiter {
  /** Nothing is to be waited for any longer. */
  giveUp(reason: Refusal): void;
}

/** The part of a client that those who wait for an engine need. */
export interface Halting {
  /**
   * Tells a waiter when the engine is lost, or has not ended its work in time when the client closed; at once if that has been
   * already.
   */
  onHalt(waiter: Waiter): void;
  /** Does not tell it any more. */
  forgetHalt(waiter: Waiter): void;
}

/** See the file's head. */
export interface Client extends Halting {
  /** Why it gets nothing any more: it is closed, or the engine is lost. Undefined: it is at work. */
  readonly gone: Refusal | undefined;
  /** Calls back when the client closes, and waits for the result. Returns what forgets it. Not for clients that have closed. */
  onClose(callback: () => Promise<void> | void): () => void;
  /** Some work for the client, which `close` waits for. It must not reject. */
  during<Result>(work: Promise<Result>): Promise<Result>;
  /** The engine is gone: ends all that is under way, and closes the client. */
  lose(reason: string): void;
  /** Ends it. Resolves when all that it held is free, or the time for that is over. */
  close(): Promise<void>;
}

/** How a client ends. */
export interface ClientOptions {
  /** Nanoseconds that closing waits for work under way. Default: 5 s. */
  readonly closeTimeout?: bigint | undefined;
  /** Default: the system's. */
  readonly timer?: Timer | undefined;
}

/** Why a client that is closed gets nothing. */
const closedClient: Refusal = { status: ErrorStatus.DEVICE_UNAVAILABLE, message: "the client is closed" };

/** A client that is at work and holds nothing. */
export function createClient({ closeTimeout = 5_000_000_000n, timer = systemTimer }: ClientOptions = {}): Client {
  const callbacks = new Set<() => Promise<void> | void>();
  const waiters = new Set<Waiter>();
  const underWay = new Set<Promise<unknown>>();
  let gone: Refusal | undefined;
  let halted: Refusal | undefined;
  let closed: Promise<void> | undefined;
  const halt = (reason: Refusal) => {
    halted ??= reason;
    for (const waiter of waiters) waiter.giveUp(reason);
    waiters.clear();
  };
  const close = async () => {
    gone ??= closedClient;
    const ends = [...callbacks].map(async (callback) => callback());
    callbacks.clear();
    const all = Promise.allSettled([...ends, ...underWay]);
    if (await endsWithin(all, closeTimeout, timer)) return;
    halt({ ...gone, message: `${gone.message}, and the engine had not ended its work` });
    await endsWithin(all, closeTimeout, timer);
  };
  const client: Client = {
    get gone() {
      return gone;
    },
    onClose(callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    onHalt(waiter) {
      if (halted === undefined) waiters.add(waiter);
      else waiter.giveUp(halted);
    },
    forgetHalt(waiter) {
      waiters.delete(waiter);
    },
    during(work) {
      underWay.add(work);
      void work.then(() => underWay.delete(work));
      return work;
    },
    lose(reason) {
      if (halted !== undefined) return;
      const lost = { status: ErrorStatus.DEVICE_UNAVAILABLE, message: `the engine is lost: ${reason}` };
      gone ??= lost;
      halt(lost);
      void client.close();
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
  return client;
}

/** Waits for the end of something, but not longer than some nanoseconds. Resolves with whether it has ended; never rejects. */
export async function endsWithin(work: Promise<unknown>, nanoseconds: bigint, timer: Timer): Promise<boolean> {
  let cancel = () => {};
  const over = new Promise<boolean>((resolve) => {
    cancel = timer(nanoseconds, () => resolve(false));
  });
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, over]);
  } finally {
    cancel();
  }
}
