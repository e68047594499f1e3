/** A channel whose first frame is taken before its receiver is known. */
import type { Channel, Frame, Receiver } from "@nnhal/transport/channels";

/** The first frame, and the channel of the rest; or why none came. */
export type FirstFrame = { readonly bytes: Uint8Array; readonly channel: Channel } | { readonly closed: string };

/** Waits for the first frame of a channel. Closes the channel if none comes within some milliseconds. */
export function takeFirst(whole: Channel, limit: number): Promise<FirstFrame> {
  const held: Frame[] = [];
  let receiver: Receiver | undefined;
  let over: string | undefined;
  let isTaken = false;
  const channel: Channel = {
    name: whole.name,
    start(given) {
      receiver = given;
      for (const frame of held.splice(0)) given.frame(frame);
      if (over !== undefined) given.onClose(over);
      else whole.resume();
    },
    send: (bytes, attachments) => whole.send(bytes, attachments),
    get waiting() {
      return whole.waiting;
    },
    waitUntilDrained: () => whole.waitUntilDrained(),
    pause: () => whole.pause(),
    resume: () => whole.resume(),
    close: (reason) => whole.close(reason),
  };
  return new Promise((resolve) => {
    const cancel = setTimeout(() => whole.close(`received nothing within ${limit} ms`), limit);
    whole.start({
      frame(frame) {
        if (receiver !== undefined) return receiver.frame(frame);
        if (isTaken) {
          held.push(frame);
          return;
        }
        isTaken = true;
        clearTimeout(cancel);
        // Further frames of the peer wait until there is a receiver.
        whole.pause();
        resolve({ bytes: frame.bytes, channel });
      },
      onClose(reason) {
        clearTimeout(cancel);
        over = reason;
        receiver?.onClose(reason);
        resolve({ closed: reason });
      },
    });
  });
}
