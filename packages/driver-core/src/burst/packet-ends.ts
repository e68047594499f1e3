/**
 * Queues of a burst whose sides share no memory: packets are the same as in a ring, and cross as messages of a connection, in
 * order. Each side has a pair of ends.
 */
import { elementAt } from "@nnhal/operations";
import { defaultCapacity } from "./channel.ts";
import { type RingEnd, type RingReader, type RingWriter, wordsPerSlot } from "./ring.ts";
import { isTeardownPacket } from "./teardown.ts";

/** One side's ends. The connection calls `receive` and `disconnect`. */
export interface PacketEnds {
  readonly reader: RingReader;
  readonly writer: RingWriter;
  /** Most data of a packet that can be sent. */
  readonly capacity: number;
  /** Takes a packet of the other side. An empty one is a sign of life. */
  receive(packet: Int32Array): void;
  /** The connection has ended: no packet comes any more. */
  disconnect(): void;
}

/**
 * Makes a side's ends. `send` sends a packet to the other side's `receive`; it copies what it keeps, and must not throw.
 * `capacity`: number of data that may wait at this side; more from the other side ends the burst.
 */
export function packetEnds(send: (packet: Int32Array) => void, capacity: number = defaultCapacity): PacketEnds {
  const received: Int32Array[] = [];
  const sleepers = new Set<() => void>();
  let waiting = 0;
  let isPeerClosed = false;
  let isBroken = false;
  let pulse = 0;
  const wake = () => {
    for (const resolve of sleepers) resolve();
    sleepers.clear();
  };
  const end: RingEnd = {
    isPeerClosed: () => isPeerClosed,
    // The packet that says goodbye closes the other side.
    close: wake,
    wake,
    sleep(isReady) {
      if (isReady()) return;
      return new Promise((resolve) => sleepers.add(resolve));
    },
  };
  return {
    capacity,
    writer: {
      ...end,
      free: () => capacity,
      write(packet) {
        if (packet.length > capacity * wordsPerSlot) return false;
        if (!isPeerClosed) send(packet);
        return true;
      },
      beat: () => send(nothing),
    },
    reader: {
      ...end,
      pulse: () => pulse,
      read() {
        if (isBroken) return nothing;
        if (received.length === 0) return undefined;
        const packet = elementAt(received, 0);
        received.shift();
        waiting -= packet.length;
        return packet;
      },
    },
    receive(packet) {
      if (packet.length === 0) {
        pulse++;
        return;
      }
      if (isTeardownPacket(packet)) isPeerClosed = true;
      waiting += packet.length;
      if (waiting > capacity * wordsPerSlot) isBroken = true;
      else received.push(packet);
      wake();
    },
    disconnect() {
      isPeerClosed = true;
      wake();
    },
  };
}

const nothing = new Int32Array(0);
