/** The default store: models in the Redis of the queue. */
import type { Store } from "../store.ts";
import { BatchError } from "../task.ts";
import type { Connection } from "./connection.ts";

/** Maximum length of a Redis value. */
const mostBytes = 2 ** 29;

export const modelKey = (queue: string, digest: string) => `nnhal:${queue}:model:${digest}`;

/** Creates a store in the Redis of a queue. */
export function createRedisStore({ redis, name, place }: Pick<Connection, "redis" | "name" | "place">): Store {
  return {
    name: place,
    async get(digest) {
      const bytes = await redis.getBuffer(modelKey(name, digest));
      return bytes === null ? undefined : new Uint8Array(bytes);
    },
    has: async (digest) => (await redis.exists(modelKey(name, digest))) === 1,
    async put(digest, bytes) {
      if (bytes.length > mostBytes)
        throw new BatchError(`a model of ${bytes.length} bytes is too large for Redis: give a store with --store`);
      await redis.set(modelKey(name, digest), Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    },
  };
}
