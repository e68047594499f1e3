/** The error of the packet decoders. It does not leave them: `decoded` turns it into a result. */

/** A packet that breaks the grammar or is incomplete. */
export class MalformedPacket extends Error {
  override readonly name = "MalformedPacket";
}

/** Why a packet could not be read. */
export interface Malformed {
  readonly malformed: string;
}

/** The decoded packet, or the first fault in it. */
export function tryDecode<Packet, T>(decode: (packet: Packet) => T, packet: Packet): T | Malformed {
  try {
    return decode(packet);
  } catch (error) {
    if (error instanceof MalformedPacket) return { malformed: error.message };
    throw error;
  }
}
