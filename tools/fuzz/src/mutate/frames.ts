/** Changes of sequences of frames. */
import { bytes, type Codec, list } from "@nnhal/utils/codec";
import { readAs, writeAs } from "../model-input.ts";
import type { Random } from "../random.ts";
import { mutateBytes } from "./bytes.ts";

/** Frames that one side sends, in order. */
export const frames: Codec<readonly Uint8Array[]> = list(bytes);

/** Frames changed, exchanged, repeated, left out, and taken from another input. */
export function mutateFrames(input: Uint8Array, random: Random, other: Uint8Array): Uint8Array | undefined {
  const read = readAs(frames, input);
  if (read === undefined || read.length === 0) return undefined;
  const all = [...read];
  const others = readAs(frames, other) ?? [];
  const steps = 1 + random.below(3);
  for (let step = 0; step < steps && all.length > 0; step++) {
    const at = random.below(all.length);
    const frame = all[at] ?? new Uint8Array(0);
    switch (random.below(8)) {
      case 0:
        all.splice(at, 1);
        break;
      case 1:
        all.splice(random.below(all.length + 1), 0, frame);
        break;
      case 2:
        all[at] = all[random.below(all.length)] ?? frame;
        break;
      case 3:
        if (others.length > 0) all.splice(at, 0, random.pick(others));
        break;
      default:
        all[at] = mutateBytes(frame, random, others.length > 0 ? random.pick(others) : other, 4096);
    }
  }
  return writeAs(frames, all.slice(0, 32));
}
