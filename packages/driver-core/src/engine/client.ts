/** A client of a device. It owns prepared models, buffers and bursts, which are freed when it closes. */

import { ErrorStatus } from "@nnhal/types";
import { endsWithin, systemTimer, type Timer } from "@nnhal/utils/time";
import type { Refusal } from "../guard/refusal.ts";

/** A wait for an engine. */
export interface Waiter {
  /** Ends the wait. */
  giveUp(reason: Refusal): void;
}

/** The part of a client that waits for an engine use. */
export interface Halting {
  /**
   * Registers a wait, which ends when the engine is lost, or when the client closes and the engine does not end its
   * work in time; at once if that has happened already.
   */
  onHalt(waiter: Waiter): void;
  /** Unregisters it. */
  forgetHalt(waiter: Waiter): void;
}

/** See the file's head. */
export interface Client extends Halting {
  /** Why calls are refused: the client is closed, or the engine is lost. Undefined while it is open. */
  readonly gone: Refusal | undefined;
  /**
   * Registers a close callback; `close` awaits the promise that it returns. Returns an unsubscribe function. Must not
   * be called after `close`.
   */
  onClose(callback: () => Promise<void> | void): () => void;
  /** Registers work that `close` waits for. It must not reject. */
  waitOnClose<Result>(work: Promise<Result>): Promise<Result>;
  /** The engine is lost: ends all waits and closes the client. */
  lose(reason: string): void;
  /** Closes the client. Resolves when everything is freed, or `closeTimeout` is over. */
  close(): Promise<void>;
}

/** Options for closing a client. */
export interface ClientOptions {
  /** Maximum nanoseconds that `close` waits for running work. Default: 5 s. */
  readonly closeTimeout?: bigint | undefined;
  /** Default: the system's. */
  readonly timer?: Timer | undefined;
}

/** The refusal of calls after `close`. */
const closedClient: Refusal = { status: ErrorStatus.DEVICE_UNAVAILABLE, message: "the client is closed" };

/** A new, open client. */
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
    waitOnClose(work) {
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
