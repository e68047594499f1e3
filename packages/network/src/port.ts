/**
 * What both platforms have in common: the end of a connection to a worker, and the limits of a reader of files.
 */

/** How a file is read. */
export interface LocalReadOptions {
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** One end of a connection to a worker. */
export interface Port {
  post(message: unknown, transfer: readonly ArrayBuffer[]): void;
  /** `onUnreadable`: a message has arrived that cannot be read, such as one with memory that had moved elsewhere. */
  listen(onMessage: (message: unknown) => void, onError: (error: Error) => void, onUnreadable?: () => void): void;
  /** Keeps the process alive. */
  hold(): void;
  /** Lets the process end. */
  letGo(): void;
  end(): Promise<void>;
}
