/**
 * The buffers of a device by token. The table does not keep them alive: a token is given back when its buffer is closed,
 * or has been collected. The token given back last is the next one given out.
 */

/** Buffers by token. */
export interface BufferTracker<Buffer extends object> {
  /** Gives a buffer a token: > 0, and no other living buffer's. `onCollected`: called should nobody have the buffer any more. */
  add(buffer: Buffer, onCollected?: () => void): number;
  /** The living buffer with a token. */
  get(token: number): Buffer | undefined;
  /** The living buffers. */
  living(): Buffer[];
  /** Gives a buffer's token back. A buffer that has none is no error. */
  remove(buffer: Buffer): void;
}

/** A tracker without buffers. */
export function createBufferTracker<Buffer extends object>(): BufferTracker<Buffer> {
  // Token 0 is no buffer's.
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
    living: () => table.flatMap((entry) => entry?.deref() ?? []),
    remove(buffer) {
      const token = tokens.get(buffer);
      if (token === undefined) return;
      tokens.delete(buffer);
      collected.unregister(buffer);
      giveBack(token);
    },
  };
}
