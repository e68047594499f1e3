/** A carrier whose first frame is taken before its receiver is known. */
import type { Carrier, Frame, Receiver } from "@nnhal/transport/carriers";

/** The first frame, and the carrier of the rest; or why none came. */
export type FirstFrame = { readonly bytes: Uint8Array; readonly carrier: Carrier } | { readonly closed: string };

/** Waits for the first frame of a carrier. Closes the carrier if none comes within some milliseconds. */
export function takeFirst(whole: Carrier, limit: number): Promise<FirstFrame> {
  const held: Frame[] = [];
  let receiver: Receiver | undefined;
  let over: string | undefined;
  let isTaken = false;
  const carrier: Carrier = {
    name: whole.name,
    start(given) {
      receiver = given;
      for (const frame of held.splice(0)) given.frame(frame);
      if (over !== undefined) given.closed(over);
      else whole.resume();
    },
    send: (bytes, attachments) => whole.send(bytes, attachments),
    get waiting() {
      return whole.waiting;
    },
    drained: () => whole.drained(),
    pause: () => whole.pause(),
    resume: () => whole.resume(),
    close: (reason) => whole.close(reason),
  };
  return new Promise((resolve) => {
    const cancel = setTimeout(() => whole.close(`nothing has come within ${limit} ms`), limit);
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
        resolve({ bytes: frame.bytes, carrier });
      },
      closed(reason) {
        clearTimeout(cancel);
        over = reason;
        receiver?.closed(reason);
        resolve({ closed: reason });
      },
    });
  });
}
