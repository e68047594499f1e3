/** The caches of a device's prepared models. The caching itself is in cache.ts, which is loaded when there is a cache. */
import type { SealOwner } from "./seal.ts";

/** Options for keeping prepared models in caches. */
export interface CachingOptions {
  /**
   * A secret of at least 16 bytes: without it, a cache that the device accepts cannot be made. Default: a public key,
   * which detects damage but not forgery; loaded models are then validated again.
   */
  readonly key?: Uint8Array | undefined;
}

/** The device that caches are bound to, and whether only that device can have made them. */
export interface Caching extends SealOwner {
  readonly isSecret: boolean;
}

/** Shorter keys could be guessed. */
const leastKey = 16;

/** The caching of a device. Throws RangeError for a key that is too short. */
export function createCaching({ key }: CachingOptions, names: Omit<SealOwner, "key">): Caching {
  if (key !== undefined && key.length < leastKey) {
    throw new RangeError(`caching: expected a key of at least ${leastKey} bytes, got ${key.length}`);
  }
  const isSecret = key !== undefined;
  return { ...names, key: isSecret ? new Uint8Array(key) : new TextEncoder().encode("nnhal: no secret"), isSecret };
}

/** Files that a cache has. */
export const cacheFiles = { numModelCache: 1, numDataCache: 1 } as const;
