/**
 * How an end of a burst says that it is gone: a flag in the ring, and a packetInformation of zeros, which on its own is
 * malformed, to wake whoever reads.
 */
import { encodeRequest } from "./request-slots.ts";

/** The words are the same in both queues. */
export const teardownPacket: Int32Array = encodeRequest([
  {
    kind: "packetInformation",
    packetInformation: { packetSize: 0, numberOfInputOperands: 0, numberOfOutputOperands: 0, numberOfPools: 0 },
  },
]);

/** Whether a packet is nothing but a packetInformation of zeros. */
export function isTeardownPacket(packet: Int32Array): boolean {
  return packet.length === teardownPacket.length && packet.every((word, index) => word === teardownPacket[index]);
}
