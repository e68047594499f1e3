/** Two ends in one thread, for tests and for a server in the thread of its client. */
import {
  type Channel,
  type ChannelOptions,
  checkLength,
  createDrain,
  defaultMostFrame,
  lowWater,
} from "../protocol/channel.ts";
import { createInbox, type Inbox } from "./inbox.ts";

/** A pair of connected ends. */
export function memoryChannels({ mostFrame = defaultMostFrame }: ChannelOptions = {}): readonly [Channel, Channel] {
  const first: End = createEnd(() => second, mostFrame);
  const second: End = createEnd(() => first, mostFrame);
  return [first.channel, second.channel];
}

interface End {
  readonly channel: Channel;
  readonly inbox: Inbox;
  /** The other end has taken bytes of this one. */
  markTaken(count: number): void;
  end(reason: string): void;
}

function createEnd(other: () => End, mostFrame: number): End {
  let waiting = 0;
  let isClosed = false;
  const inbox = createInbox((count) => other().markTaken(count));
  const drain = createDrain(() => isClosed || waiting < lowWater);
  const end = (reason: string) => {
    isClosed = true;
    inbox.end(reason);
    drain.release();
  };
  return {
    inbox,
    end,
    markTaken(count) {
      waiting -= count;
      if (waiting < lowWater) drain.release();
    },
    channel: {
      name: "memory",
      start: (receiver) => inbox.start(receiver),
      send(bytes, attachments = []) {
        checkLength(bytes, mostFrame);
        if (isClosed) return;
        waiting += bytes.length;
        other().inbox.push({ bytes, attachments });
      },
      get waiting() {
        return waiting;
      },
      waitUntilDrained: () => drain.wait(),
      pause: () => inbox.pause(),
      resume: () => inbox.resume(),
      close(why = "this side has closed the connection") {
        if (isClosed) return;
        end(why);
        inbox.drop();
        other().end("the other side has closed the connection");
      },
    },
  };
}
