/**
 * What decoders of packets throw among themselves. It does not leave them: `decoded` turns it into an answer.
 */

/** A packet that breaks the grammar, or is cut short. */
export class MalformedPacket extends Error {
  override readonly name = "MalformedPacket";
}

/** Why a packet could not be read. */
export interface Malformed {
  readonly malformed: string;
}

/** What a decoder makes of a packet, or where the packet is wrong. */
export function decoded<Packet, T>(decode: (packet: Packet) => T, packet: Packet): T | Malformed {
  try {
    return decode(packet);
  } catch (error) {
    if (error instanceof MalformedPacket) return { malformed: error.message };
    throw error;
  }
}

/** Walks over the data of a packet: each is asked for by its kind, and whatever else is there is malformed. */
export interface PacketCursor<Datum extends { readonly kind: string }> {
  take<Kind extends Datum["kind"]>(kind: Kind): Extract<Datum, { readonly kind: Kind }>;
  /** Makes sure that at least so many data are left, before anything is made ready for them. */
  need(count: number, what: string): void;
  /** Makes sure that the packet is as long as it says. */
  expectSize(packetSize: number): void;
  /** Makes sure that none is left. */
  end(): void;
}

/** Walks over a packet from its start. */
export function packetCursor<Datum extends { readonly kind: string }>(data: readonly Datum[]): PacketCursor<Datum> {
  let index = 0;
  const isOf = <Kind extends Datum["kind"]>(
    datum: Datum,
    kind: Kind,
  ): datum is Extract<Datum, { readonly kind: Kind }> => datum.kind === kind;
  return {
    take(kind) {
      const datum = data[index];
      if (datum === undefined) throw new MalformedPacket(`datum ${index}: the packet ends where ${kind} is needed`);
      if (!isOf(datum, kind)) throw new MalformedPacket(`datum ${index}: ${datum.kind} where ${kind} is needed`);
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

/** As many values as a count says. */
export function repeat<T>(count: number, take: () => T): T[] {
  const taken: T[] = [];
  while (taken.length < count) taken.push(take());
  return taken;
}
