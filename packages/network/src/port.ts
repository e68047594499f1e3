/**
 * Types that both platforms share: the end of a connection to a worker, and the limits of a reader of files.
 */

/** Options of reading a file. */
export interface LocalReadOptions {
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Receives the first bytes before the others are read. What it throws ends the reading. */
  readonly onStart?: ((start: Uint8Array) => Promise<void>) | undefined;
  /** Receives the open file with its first bytes. What it returns is the result; undefined: the bytes of the file are read. */
  readonly onFile?: ((file: LocalFile, start: Uint8Array) => Promise<Uint8Array | undefined>) | undefined;
}

/** Most bytes of a FlatBuffer, whose offsets have 31 bits. */
export const MOST_FLATBUFFER = 2 ** 31;

/** Bytes that tell what a file is. */
export const START_BYTES = 4096;

/** Bytes of which parts are read. */
export interface FileParts {
  readonly size: number;
  /** Fills all of `into` with the bytes from `from` on. */
  fill(into: Uint8Array, from: number, signal: AbortSignal | undefined): Promise<void>;
}

/** A file of which parts are read. */
export interface LocalFile extends FileParts {
  all(signal: AbortSignal | undefined): Promise<Uint8Array>;
  close(): Promise<void>;
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
