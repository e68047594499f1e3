/**
 * Reads the data of a packet in order, from the words of a ring's slots. A packet from the other end can contain anything: each word that is
 * read is checked. Faults throw MalformedPacket.
 */
import { MalformedPacket } from "./malformed.ts";
import { wordsPerSlot } from "./ring.ts";
import { makeMalformed, signedWord } from "./slot.ts";

/** The kinds of data of a packet, with their number in a slot. */
export type Kinds<Name extends string> = Readonly<Record<Name, number>>;

export interface PacketCursor<Name extends string> {
  readonly slots: DataView;
  /** Goes beyond the next datum, which must be of a kind. Returns the word at which it begins. */
  take(kind: Name): number;
  /** Checks that at least `count` data are left, before memory is allocated for them. */
  need(count: number, what: string): void;
  /** Checks that the packet has the length that it declares. */
  expectSize(packetSize: number): void;
  /** Checks that no datum is left. */
  end(): void;
}

/** A cursor at the start of a packet. Throws for a part of a slot. */
export function packetCursor<Name extends string>(words: Int32Array, kinds: Kinds<Name>): PacketCursor<Name> {
  const { buffer, byteOffset, byteLength, length } = words;
  if (length % wordsPerSlot !== 0)
    throw new MalformedPacket(`the packet has ${length} words, which are not whole slots`);
  const slots = new DataView(buffer, byteOffset, byteLength);
  const data = length / wordsPerSlot;
  let index = 0;
  return {
    slots,
    take(kind) {
      if (index === data) throw new MalformedPacket(`datum ${index}: expected ${kind}, got the end of the packet`);
      const at = index * wordsPerSlot;
      const found = signedWord(slots, at);
      if (found !== kinds[kind]) throw makeMalformed(at, `expected ${kind}, got ${kindText(found, kinds)}`);
      index++;
      return at;
    },
    need(count, what) {
      const left = data - index;
      if (count > left) throw new MalformedPacket(`datum ${index - 1}: ${count} ${what} where ${left} data are left`);
    },
    expectSize(packetSize) {
      if (packetSize === data) return;
      throw new MalformedPacket(`packetSize is ${packetSize} where the packet has ${data} data`);
    },
    end() {
      if (index < data) throw new MalformedPacket(`datum ${index}: the packet has ${data - index} too many`);
    },
  };
}

function kindText<Name extends string>(found: number, kinds: Kinds<Name>): string {
  const name = Object.keys(kinds).find((_, place) => place === found - 1);
  return name ?? `the kind ${found}, which does not exist`;
}

/** Calls `take` `count` times. */
export function repeat<T>(count: number, take: () => T): T[] {
  const taken: T[] = [];
  while (taken.length < count) taken.push(take());
  return taken;
}
