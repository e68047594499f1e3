/**
 * The announcement that an end of a burst is gone: a flag in the ring, and a packetInformation of zeros to wake the reader,
 * which is malformed without the flag.
 */

import { requestWords } from "./data.ts";
import type { RingReader, RingWriter } from "./ring.ts";

/** The words are the same in both queues. */
export const teardownPacket: Int32Array = requestWords([
  {
    kind: "packetInformation",
    packetInformation: { packetSize: 0, numberOfInputOperands: 0, numberOfOutputOperands: 0, numberOfPools: 0 },
  },
]);

/** Returns true if a packet consists of one packetInformation of zeros. */
export function isTeardownPacket(packet: Int32Array): boolean {
  return packet.length === teardownPacket.length && packet.every((word, index) => word === teardownPacket[index]);
}

/** Announces that this end is gone. The flags come first: a teardown packet without them is malformed. */
export function sayGoodbye(reader: RingReader, writer: RingWriter): void {
  reader.close();
  writer.close();
  writer.write(teardownPacket);
}

/** A packet of an end that is gone, without a teardown packet that directly follows it. */
export function withoutTeardown(packet: Int32Array): Int32Array {
  const start = packet.length - teardownPacket.length;
  return start > 0 && isTeardownPacket(packet.subarray(start)) ? packet.subarray(0, start) : packet;
}
