/** Packets as frames of a socket: their length in bytes, and the words. */
import type { Socket } from "node:net";

export function writeFrame(socket: Socket, packet: Int32Array): void {
  const frame = new Uint8Array(4 + packet.byteLength);
  new DataView(frame.buffer).setUint32(0, packet.byteLength, true);
  frame.set(new Uint8Array(packet.buffer, packet.byteOffset, packet.byteLength), 4);
  socket.write(frame);
}

export function readFrames(socket: Socket, receive: (frame: Uint8Array) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    while (rest.length >= 4) {
      const length = rest.readUInt32LE(0);
      if (rest.length < 4 + length) return;
      receive(rest.subarray(4, 4 + length));
      rest = rest.subarray(4 + length);
    }
  });
}

export function toWords(frame: Uint8Array): Int32Array {
  return new Int32Array(Uint8Array.from(frame).buffer);
}
