/** The connection to Redis. It reconnects; pending commands wait for it and are sent again. */

import { expectKnownOptions, type OptionNames } from "@nnhal/operations";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { BatchError, messageOf } from "../task.ts";

/** Address of a queue. */
export interface QueueAddress {
  /** `redis://USER:PASSWORD@HOST:PORT/DATABASE`, `rediss://` for TLS, or the path of a unix socket. */
  readonly url: string;
  /** Name of the queue in that Redis. */
  readonly name: string;
}

/** Options for connecting. */
export interface ConnectOptions {
  /** If true, waits for a Redis that is not available yet. Default: false. */
  readonly isPatient?: boolean;
  /**
   * When it aborts, connecting rejects, and later the commands that wait for an unavailable Redis; not those of a patient
   * connection.
   */
  readonly signal?: AbortSignal | undefined;
  /** Called with errors after which the connection is tried again. */
  readonly onTrouble?: ((message: string) => void) | undefined;
}

const connectOptions: OptionNames<ConnectOptions> = { isPatient: true, signal: true, onTrouble: true };

/** An open connection. */
export interface Connection {
  readonly redis: Redis;
  readonly queue: Queue<ChunkData>;
  readonly name: string;
  /** Address for messages, without the password. */
  readonly place: string;
  /** Reason why this Redis may remove waiting data when its memory is full; undefined: it does not. */
  readonly eviction: string | undefined;
  close(): Promise<void>;
}

/**
 * Data of a job of the queue: some inputs of a batch, each with its name, its digest, and its bytes in base64 if they travel in
 * the job.
 */
export interface ChunkData {
  readonly batch: string;
  readonly inputs: readonly (readonly [name: string, digest: string, bytes?: string])[];
}

/** Connects. Rejects with a BatchError if the first attempt fails, and with a RangeError for an unknown option. */
export async function connect({ url, name }: QueueAddress, options: ConnectOptions = {}): Promise<Connection> {
  expectKnownOptions("openQueue", options, connectOptions);
  const { isPatient = false, signal, onTrouble = () => {} } = options;
  const place = placeOf(url);
  const isAddress = !url.includes("://") || (/^rediss?:/.test(url) && URL.canParse(url));
  if (!isAddress)
    throw new BatchError(
      `a queue is at redis://HOST:PORT, rediss://HOST:PORT or the path of a socket; it is not ${place}`,
    );
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new BatchError(`the name of a queue has letters, digits, ".", "_" and "-", at most 64; it is not "${name}"`);
  let isOpen = false;
  let trouble = "";
  /** Returns true if an unavailable Redis is tried again. A patient user with work in progress decides itself when it ends. */
  const isTried = () => (isOpen && isPatient) || ((isOpen || isPatient) && signal?.aborted !== true);
  const redis = new Redis(url, {
    lazyConnect: true,
    // BullMQ needs it: a wait for a job must not fail because Redis is unavailable for a while.
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (isTried() ? Math.min(100 * times, 2000) : null),
  });
  redis.on("error", (error) => {
    const message = error.message === "" ? String("code" in error ? error.code : error) : error.message;
    // An error that ends the connecting is the reason of the rejection, so it is not reported here.
    if (message !== trouble && (isOpen || isPatient)) onTrouble(`the queue at ${place}: ${message}; it is tried again`);
    trouble = message;
  });
  redis.on("ready", () => {
    isOpen = true;
    trouble = "";
  });
  /** Between two tries ioredis rejects no waiting command: the next try does, since it is the last. */
  const leave = () => {
    if (!isTried() && redis.status !== "ready" && redis.status !== "reconnecting") redis.disconnect();
  };
  signal?.addEventListener("abort", leave, { once: true });
  let eviction: string | undefined;
  try {
    signal?.throwIfAborted();
    if (isPatient) {
      void redis.connect().catch(() => {});
      await redis.ping();
    } else await redis.connect();
    // ioredis continues in database 0 if the selected one does not exist.
    if (redis.options.db) await redis.select(redis.options.db);
    // A user without permission for INFO must check the settings.
    const info = await redis.info().catch((error: unknown) => {
      if (isReply(error)) return "";
      throw error;
    });
    expectNewEnough(info);
    eviction = evictionOf(info);
    if (eviction !== undefined) onTrouble(`the queue at ${place}: ${eviction}`);
  } catch (error) {
    signal?.removeEventListener("abort", leave);
    redis.disconnect();
    const reason = error instanceof BatchError || isReply(error) ? messageOf(error) : trouble || messageOf(error);
    const remedy = reason.startsWith("NOAUTH")
      ? " (the password belongs in the address: redis://:PASSWORD@HOST:PORT)"
      : "";
    throw new BatchError(`cannot connect to the queue at ${place}: ${reason}${remedy}`);
  }
  const queue = new Queue<ChunkData>(name, { connection: redis });
  queue.on("error", () => {});
  return {
    ...{ redis, queue, name, place, eviction },
    async close() {
      signal?.removeEventListener("abort", leave);
      // Closing waits for an unavailable Redis.
      if (redis.status === "ready") await queue.close();
      redis.disconnect();
    },
  };
}

/** Returns true if Redis has answered with an error. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}

/** Returns true if a command was not sent, because its connection was ended while Redis was unavailable. */
export function isLeft(error: unknown): boolean {
  return error instanceof Error && error.message === "Connection is closed.";
}

/** Describes an error that Redis has answered, without the position in a script that the user does not know. */
export function replyText(place: string, { message }: Error): string {
  return `the queue at ${place} answers: ${message.replace(/ script: [0-9a-f]{40}, on @user_script:\d+\.?/, "")}`;
}

/** Throws a BatchError if a Redis is too old, by its own version information. */
function expectNewEnough(info: string): void {
  const version = fieldOf(info, "redis_version");
  const [major = 0, minor = 0] = version?.split(".").map(Number) ?? [];
  if (version === undefined || major > 6 || (major === 6 && minor >= 2)) return;
  throw new BatchError(`it is Redis ${version}; batches need 6.2 or newer`);
}

/** Keys with an expiry are only locks: work under a lost lock comes again. */
function evictionOf(info: string): string | undefined {
  const policy = fieldOf(info, "maxmemory_policy") ?? "";
  const memory = fieldOf(info, "maxmemory") ?? "0";
  if (!policy.startsWith("allkeys") || memory === "0") return undefined;
  return `it removes what waits and what is done when its memory is full (maxmemory-policy ${policy}, maxmemory ${memory}); set maxmemory-policy noeviction`;
}

function fieldOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1];
}

function placeOf(url: string): string {
  if (!URL.canParse(url)) return url.replace(/\/\/[^/]*@/, "//").replace(/\?.*$/, "");
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
