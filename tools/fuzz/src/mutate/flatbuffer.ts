/**
 * Changes of a FlatBuffers file that keep it one: scalars, offsets and lengths are what lies at multiples of 4, and what looks like an
 * offset is led elsewhere in the file.
 */
import type { Random } from "../random.ts";
import { otherNumber } from "./bytes.ts";

/** Some changes of words. Undefined for a file that is too short to have any. */
export function mutateFlatbuffer(input: Uint8Array, random: Random, other: Uint8Array): Uint8Array | undefined {
  if (input.length < 16) return undefined;
  const bytes = input.slice();
  const view = new DataView(bytes.buffer);
  const words = Math.floor(bytes.length / 4);
  const steps = 1 + random.below(random.oneIn(2) ? 2 : 6);
  for (let step = 0; step < steps; step++) {
    const at = random.below(words) * 4;
    const value = view.getUint32(at, true);
    switch (random.below(6)) {
      // An offset that leads to another place; a soffset or a length changes with it.
      case 0:
        view.setUint32(at, random.below(words) * 4, true);
        break;
      // The target of another offset.
      case 1: {
        const from = random.below(words) * 4;
        view.setUint32(at, view.getUint32(from, true) + from - at, true);
        break;
      }
      // Fields of a vtable, and scalars of 16 bits.
      case 2:
        view.setUint16(at + 2 * random.below(2), random.oneIn(2) ? 0 : 4 + 2 * random.below(16), true);
        break;
      case 3:
        bytes[at + random.below(4)] = random.oneIn(4) ? random.below(256) : random.below(160);
        break;
      case 4:
        if (at + 4 <= other.length)
          view.setUint32(at, new DataView(other.buffer, other.byteOffset).getUint32(at, true), true);
        break;
      default:
        view.setUint32(at, otherNumber(value, random), true);
    }
  }
  return bytes;
}
