/**
 * One of the clients of a device: what it holds ends with it.
 */

/** See the file's head. */
export interface Client {
  /** Whether it is gone. It gets nothing any more. */
  readonly isClosed: boolean;
  /** Calls back when the client goes, and waits for what that gives. Gives what forgets it. Not for clients that have gone. */
  onClose(callback: () => Promise<void> | void): () => void;
  /** Some work for the client, which `close` waits for. It must not reject. */
  during<Result>(work: Promise<Result>): Promise<Result>;
  /** Ends it. Resolves when all that it held is free. */
  close(): Promise<void>;
}

/** A client that holds nothing, and that nobody has closed. */
export function createClient(): Client {
  const callbacks = new Set<() => Promise<void> | void>();
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;
  let closed: Promise<void> | undefined;
  const close = async () => {
    isClosed = true;
    const ends = [...callbacks].map((callback) => callback());
    callbacks.clear();
    await Promise.all([...ends, ...underWay]);
  };
  return {
    get isClosed() {
      return isClosed;
    },
    onClose(callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    during(work) {
      underWay.add(work);
      void work.then(() => underWay.delete(work));
      return work;
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}
