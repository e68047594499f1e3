/**
 * How many use something that has to be freed: it is freed once, when it has been closed and nobody uses it any more.
 */

/** See the file's head. */
export interface Usage {
  /** Whether it has been closed: nobody may begin to use it. */
  readonly isClosed: boolean;
  /** Whether somebody uses it. */
  readonly isInUse: boolean;
  /** Somebody uses it from now on; `end` has to follow. */
  begin(): void;
  end(): void;
  /** Closing again does nothing. */
  close(): void;
  /** Resolves when it has been freed. */
  readonly freed: Promise<void>;
}

/** Counts the users of something. `free`: called once, where closing it or the end of its last use allows it. */
export function createUsage(free: () => void): Usage {
  let users = 0;
  let isClosed = false;
  let resolve: () => void;
  const freed = new Promise<void>((settle) => {
    resolve = settle;
  });
  const freeUnused = () => {
    if (!isClosed || users > 0) return;
    try {
      free();
    } finally {
      resolve();
    }
  };
  return {
    freed,
    get isClosed() {
      return isClosed;
    },
    get isInUse() {
      return users > 0;
    },
    begin() {
      users++;
    },
    end() {
      users--;
      freeUnused();
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      freeUnused();
    },
  };
}
