/**
 * The connection to Redis. It comes back by itself; commands that are under way wait for it and are sent again.
 */
import { BatchError } from "@nnhal/batch";
import { Queue } from "bullmq";
import { Redis } from "ioredis";

/** Where a queue is. */
export interface QueueAddress {
  /** `redis://USER:PASSWORD@HOST:PORT/DATABASE`, `rediss://` for TLS, or the path of a unix socket. */
  readonly url: string;
  /** The name of the queue in that Redis. */
  readonly name: string;
}

/** How to connect. */
export interface ConnectOptions {
  /** Whether to wait for a Redis that is not there yet. Default: no. */
  readonly isPatient?: boolean;
  /** When it aborts, the connecting rejects. */
  readonly signal?: AbortSignal | undefined;
  /** Called with what goes wrong and is tried again. */
  readonly onTrouble?: ((message: string) => void) | undefined;
}

/** An open connection. */
export interface Connection {
  readonly redis: Redis;
  readonly queue: Queue<ChunkData>;
  readonly name: string;
  /** For messages: without the password. */
  readonly place: string;
  close(): Promise<void>;
}

/** What a job of the queue holds: some inputs of a batch, each with its name, its digest, and its bytes in base64 if they travel along. */
export interface ChunkData {
  readonly batch: string;
  readonly inputs: readonly (readonly [name: string, digest: string, bytes?: string])[];
}

/** Connects. Rejects with a BatchError if that fails at first. */
export async function connect(
  { url, name }: QueueAddress,
  { isPatient = false, signal, onTrouble = () => {} }: ConnectOptions = {},
): Promise<Connection> {
  const place = placeOf(url);
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new BatchError(`the name of a queue has letters, digits, ".", "_" and "-", at most 64; it is not "${name}"`);
  let isOpen = false;
  let trouble = "";
  const redis = new Redis(url, {
    lazyConnect: true,
    // BullMQ needs it: what waits for a job must not fail because Redis is away for a while.
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (isOpen || isPatient ? Math.min(100 * times, 2000) : null),
  });
  redis.on("error", (error) => {
    const message = error.message === "" ? String("code" in error ? error.code : error) : error.message;
    if (message !== trouble) onTrouble(`the queue at ${place}: ${message}`);
    trouble = message;
  });
  redis.on("ready", () => {
    isOpen = true;
    trouble = "";
  });
  const stop = () => redis.disconnect();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    signal?.throwIfAborted();
    if (isPatient) {
      void redis.connect().catch(() => {});
      await redis.ping();
    } else await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw new BatchError(`cannot connect to the queue at ${place}: ${trouble || String(error)}`);
  } finally {
    signal?.removeEventListener("abort", stop);
  }
  const queue = new Queue<ChunkData>(name, { connection: redis });
  queue.on("error", () => {});
  return {
    ...{ redis, queue, name, place },
    async close() {
      await queue.close();
      redis.disconnect();
    },
  };
}

function placeOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
