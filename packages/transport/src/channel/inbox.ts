/**
 * Frames that have arrived and wait for their receiver. They are delivered one in each microtask, so that a receiver that
 * pauses after one does not receive the next.
 */
import type { Frame, Receiver } from "../protocol/channel.ts";

/** See the file's head. */
export interface Inbox {
  /** Begins to deliver. */
  start(receiver: Receiver): void;
  push(frame: Frame): void;
  pause(): void;
  resume(): void;
  /** Ends the inbox. The receiver is told after the queued frames; later calls are ignored. */
  end(reason: string): void;
  /** Drops the queued frames. */
  drop(): void;
}

/** `onTaken`: called with the bytes of each frame that is delivered. */
export function createInbox(onTaken: (count: number) => void = () => {}): Inbox {
  let frames: Frame[] = [];
  let next = 0;
  let receiver: Receiver | undefined;
  let isPaused = false;
  let isPumping = false;
  let reason: string | undefined;
  let isOver = false;

  const pump = () => {
    if (isPumping || isPaused || isOver || receiver === undefined) return;
    if (next === frames.length && reason === undefined) return;
    isPumping = true;
    queueMicrotask(deliver);
  };
  const deliver = () => {
    isPumping = false;
    if (isPaused || isOver || receiver === undefined) return;
    const frame = frames[next];
    if (frame === undefined) {
      if (reason === undefined) return;
      isOver = true;
      return receiver.onClose(reason);
    }
    next++;
    if (next === frames.length) [frames, next] = [[], 0];
    onTaken(frame.bytes.length);
    receiver.frame(frame);
    pump();
  };
  return {
    start(given) {
      receiver = given;
      pump();
    },
    push(frame) {
      if (reason !== undefined) return;
      frames.push(frame);
      pump();
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      pump();
    },
    end(why) {
      reason ??= why;
      pump();
    },
    drop() {
      [frames, next] = [[], 0];
      // A paused receiver is told of the end all the same.
      isPaused = false;
      pump();
    },
  };
}
