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
export function decoded<Packet, T>(decode: (packet: Packet) => T, packet: Packet): T | Malformed {
  try {
    return decode(packet);
  } catch (error) {
    if (error instanceof MalformedPacket) return { malformed: error.message };
    throw error;
  }
}

/** Reads the data of a packet in order. A datum of another kind than the requested one is malformed. */
export interface PacketCursor<Datum extends { readonly kind: string }> {
  take<Kind extends Datum["kind"]>(kind: Kind): Extract<Datum, { readonly kind: Kind }>;
  /** Checks that at least `count` data are left, before memory is allocated for them. */
  need(count: number, what: string): void;
  /** Checks that the packet has the length that it declares. */
  expectSize(packetSize: number): void;
  /** Checks that no datum is left. */
  end(): void;
}

/** A cursor at the start of a packet. */
export function packetCursor<Datum extends { readonly kind: string }>(data: readonly Datum[]): PacketCursor<Datum> {
  let index = 0;
  const isOf = <Kind extends Datum["kind"]>(
    datum: Datum,
    kind: Kind,
  ): datum is Extract<Datum, { readonly kind: Kind }> => datum.kind === kind;
  return {
    take(kind) {
      const datum = data[index];
      if (datum === undefined) throw new MalformedPacket(`datum ${index}: expected ${kind}, got the end of the packet`);
      if (!isOf(datum, kind)) throw new MalformedPacket(`datum ${index}: expected ${kind}, got ${datum.kind}`);
      index++;
      return datum;
    },
    need(count, what) {
      const left = data.length - index;
      if (count > left) throw new MalformedPacket(`datum ${index - 1}: ${count} ${what} where ${left} data are left`);
    },
    expectSize(packetSize) {
      if (packetSize === data.length) return;
      throw new MalformedPacket(`packetSize is ${packetSize} where the packet has ${data.length} data`);
    },
    end() {
      if (index < data.length)
        throw new MalformedPacket(`datum ${index}: the packet has ${data.length - index} too many`);
    },
  };
}

/** Calls `take` `count` times. */
export function repeat<T>(count: number, take: () => T): T[] {
  const taken: T[] = [];
  while (taken.length < count) taken.push(take());
  return taken;
}
