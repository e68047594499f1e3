/**
 * The buffers of a device by token. The table does not keep them alive: a token is released when its buffer is closed
 * or garbage-collected. The token released last is used next.
 */

/** Buffers by token. */
export interface BufferTracker<Buffer extends object> {
  /**
   * Assigns a token to a buffer: greater than 0 and not used by another living buffer. `onCollected`: called if the
   * buffer is garbage-collected without being closed.
   */
  add(buffer: Buffer, onCollected?: () => void): number;
  /** Returns the living buffer with a token. */
  get(token: number): Buffer | undefined;
  /** The living buffers. */
  listLiving(): Buffer[];
  /** Releases a buffer's token. A buffer without a token is not an error. */
  remove(buffer: Buffer): void;
}

/** A tracker without buffers. */
export function createBufferTracker<Buffer extends object>(): BufferTracker<Buffer> {
  // Token 0 is never used.
  const table: (WeakRef<Buffer> | undefined)[] = [undefined];
  const free: number[] = [];
  const tokens = new WeakMap<Buffer, number>();
  const giveBack = (token: number) => {
    table[token] = undefined;
    free.push(token);
  };
  const collected = new FinalizationRegistry<{ token: number; onCollected: () => void }>(({ token, onCollected }) => {
    giveBack(token);
    onCollected();
  });
  return {
    add(buffer, onCollected = () => {}) {
      const token = free.pop() ?? table.length;
      table[token] = new WeakRef(buffer);
      tokens.set(buffer, token);
      collected.register(buffer, { token, onCollected }, buffer);
      return token;
    },
    get: (token) => table[token]?.deref(),
    listLiving: () => table.flatMap((entry) => entry?.deref() ?? []),
    remove(buffer) {
      const token = tokens.get(buffer);
      if (token === undefined) return;
      tokens.delete(buffer);
      collected.unregister(buffer);
      giveBack(token);
    },
  };
}
