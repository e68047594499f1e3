/** One end of a connection to a worker. */
export interface Port {
  post(message: unknown, transfer: readonly ArrayBuffer[]): void;
  listen(onMessage: (message: unknown) => void, onError: (error: Error) => void): void;
  /** Keeps the process alive. */
  hold(): void;
  /** Lets the process end. */
  letGo(): void;
  end(): Promise<void>;
}
