/**
 * Counts the users of a resource. The resource is freed once, after it has been closed and its last use has ended.
 */

/** See the file's head. */
export interface Usage {
  /** True once it has been closed: no use may begin. */
  readonly isClosed: boolean;
  /** True while a use is active. */
  readonly isInUse: boolean;
  /** A use begins; `end` must follow. */
  begin(): void;
  end(): void;
  /** Closing again does nothing. */
  close(): void;
  /** Resolves when it has been freed. */
  readonly freed: Promise<void>;
}

/**
 * Counts the users of a resource. `free`: called once, when it is closed or when its last use ends, whichever is
 * later.
 */
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
