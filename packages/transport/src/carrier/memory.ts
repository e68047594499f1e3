/** Two ends in one thread, for tests and for a server beside its client. Frames are delivered in later microtasks. */
import {
  type Carrier,
  type CarrierOptions,
  checkLength,
  createDrain,
  defaultMostFrame,
  type Frame,
  lowWater,
  type Receiver,
} from "./carrier.ts";

interface End {
  readonly carrier: Carrier;
  /** Takes over what the other end sends. */
  deliver(frame: Frame): void;
  end(reason: string): void;
}

/** A pair of connected ends. */
export function memoryCarriers({ mostFrame = defaultMostFrame }: CarrierOptions = {}): readonly [Carrier, Carrier] {
  const first: End = createEnd(() => second, mostFrame);
  const second: End = createEnd(() => first, mostFrame);
  return [first.carrier, second.carrier];
}

function createEnd(other: () => End, mostFrame: number): End {
  let inbox: Frame[] = [];
  let receiver: Receiver | undefined;
  let isPaused = false;
  let isPumping = false;
  let waiting = 0;
  /** Set once the carrier is closed; the receiver is told when the frames before it are delivered. */
  let reason: string | undefined;
  let isOver = false;
  const drain = createDrain(() => reason !== undefined || waiting < lowWater);

  const pump = () => {
    if (isPumping || receiver === undefined) return;
    isPumping = true;
    queueMicrotask(() => {
      isPumping = false;
      if (receiver === undefined || isPaused) return;
      const [frame] = inbox.splice(0, 1);
      if (frame !== undefined) {
        taken.get(other())?.(frame.bytes.length);
        receiver.frame(frame);
        pump();
      } else if (reason !== undefined && !isOver) {
        isOver = true;
        receiver.closed(reason);
      }
    });
  };
  const finish = (why: string) => {
    reason ??= why;
    drain.release();
    pump();
  };
  const end: End = {
    carrier: {
      name: "memory",
      start(given) {
        receiver = given;
        pump();
      },
      send(bytes, attachments = []) {
        checkLength(bytes, mostFrame);
        if (reason !== undefined) return;
        waiting += bytes.length;
        other().deliver({ bytes, attachments });
      },
      get waiting() {
        return waiting;
      },
      drained: () => drain.wait(),
      pause() {
        isPaused = true;
      },
      resume() {
        isPaused = false;
        pump();
      },
      close(why = "this side has closed the connection") {
        inbox = [];
        finish(why);
        other().end("the other side has closed the connection");
      },
    },
    deliver(frame) {
      if (reason !== undefined) return;
      inbox.push(frame);
      pump();
    },
    end: finish,
  };
  taken.set(end, (count) => {
    waiting -= count;
    if (waiting < lowWater) drain.release();
  });
  return end;
}

/** Tells an end that the other one has taken bytes. */
const taken = new WeakMap<End, (count: number) => void>();
