/** Bytes of copied memories in frames. */
import type { Connection } from "../protocol/connection.ts";
import { notices } from "../protocol/methods.ts";

/** Bytes of one frame of a copied memory: small enough for calls of others in between. */
export const pieceLength = 2 ** 20;

/** A range of a memory. */
export interface Range {
  readonly offset: number;
  readonly length: number;
}

/** Sends a range of a memory's bytes to the other side. Waits while the other side has not read what was sent before. */
export async function sendRange(
  { send, channel }: Connection,
  memory: number,
  bytes: Uint8Array,
  { offset, length }: Range,
): Promise<void> {
  const end = Math.min(offset + length, bytes.length);
  for (let at = offset; at < end; at += pieceLength) {
    await channel.waitUntilDrained();
    send(notices.writeMemory, { memory, offset: at, content: bytes.subarray(at, Math.min(at + pieceLength, end)) });
  }
}
