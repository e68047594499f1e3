/**
 * The channel for frames between a client and a server: one interface for two ends in one thread, two threads, and two
 * processes. Frames arrive in order, complete, and once.
 */

/** A frame that has arrived. */
export interface Frame {
  readonly bytes: Uint8Array;
  /** Buffers that came with it and that both sides share. A channel between processes has none. */
  readonly attachments: readonly SharedArrayBuffer[];
}

/** Receives the frames of a channel. */
export interface Receiver {
  /** A frame. The receiver owns it; the channel does not use its bytes again. */
  frame(frame: Frame): void;
  /** Called once when either side has closed the channel, or the other side is gone. No frame follows. */
  onClose(reason: string): void;
}

/** One end of a connection. */
export interface Channel {
  /** Kind of channel for messages, such as `unix socket`. */
  readonly name: string;
  /** Begins to receive. Called once; frames that arrive before wait. */
  start(receiver: Receiver): void;
  /**
   * Sends a frame; its bytes must not change afterwards. After the close it is dropped. Throws RangeError for a frame over
   * the limit.
   */
  send(bytes: Uint8Array, attachments?: readonly SharedArrayBuffer[]): void;
  /** Bytes that were sent and that the other side has not taken yet: the sender must not let them grow without limit. */
  readonly waiting: number;
  /** Resolves when fewer bytes wait than `lowWater`, or the channel is closed. */
  waitUntilDrained(): Promise<void>;
  /** Stops taking frames, so that the other side's `waiting` grows, until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the channel. Frames that were sent before reach the other side if it still reads. */
  close(reason?: string): void;
}

/** Limits of a channel. */
export interface ChannelOptions {
  /** Most bytes of one frame, in either direction. A longer one that arrives closes the channel. Default 64 MiB. */
  readonly mostFrame?: number | undefined;
}

/** See `ChannelOptions.mostFrame`. */
export const defaultMostFrame = 64 * 2 ** 20;

/** Below so many waiting bytes a sender goes on. */
export const lowWater = 2 ** 20;

/** Throws RangeError for a frame over the limit. */
export function checkLength({ length }: Uint8Array, mostFrame: number): void {
  if (length > mostFrame) throw new RangeError(`a frame of ${length} bytes cannot be sent: ${mostFrame} is the limit`);
}

/** Lets several callers wait for fewer waiting bytes. */
export interface Drain {
  wait(): Promise<void>;
  /** Resolves all waiters. */
  release(): void;
}

export function createDrain(isOver: () => boolean): Drain {
  let waiters: (() => void)[] = [];
  return {
    wait: () => (isOver() ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
    release() {
      const all = waiters;
      waiters = [];
      for (const resolve of all) resolve();
    },
  };
}
