/**
 * Frames between a client's socket and the thread of its device. Pings are answered here, since the thread may be computing. A side that
 * does not read stops the other.
 */
import type { Channel } from "@nnhal/transport/channels";
import { ping } from "@nnhal/transport/protocol";
import { ErrorStatus } from "@nnhal/types";
import { encode } from "@nnhal/utils/codec";

/** Bytes that wait for a side, above which nothing more is taken from the other; and from a client that does not read its answers. */
const mostWaiting = 4 * 2 ** 20;
const mostUnread = 2 ** 20;

/** Frames of the protocol, which the main thread reads no further than this. */
const callKind = 2;
const answerKind = 3;
const pingLength = 13;

/** Relays until either side is gone; then the other is closed too. Resolves with the reason. */
export function relay(client: Channel, device: Channel): Promise<string> {
  const pass = (from: Channel, to: Channel, bytes: Uint8Array) => {
    to.send(bytes);
    if (to.waiting > mostWaiting) hold(from, to);
  };
  /** Takes nothing from a side until the other has read. */
  const hold = (from: Channel, to: Channel) => {
    from.pause();
    void to.waitUntilDrained().then(() => from.resume());
  };
  return new Promise((resolve) => {
    client.start({
      frame({ bytes }) {
        const id = pingIn(bytes);
        if (id === undefined) return pass(client, device, bytes);
        client.send(pingAnswer(id));
        if (client.waiting > mostUnread) hold(client, client);
      },
      onClose(reason) {
        device.close(reason);
        resolve(reason);
      },
    });
    device.start({
      frame: ({ bytes }) => pass(device, client, bytes),
      onClose(reason) {
        client.close(reason);
        resolve(reason);
      },
    });
  });
}

/** The number of the call, if a frame is a ping; undefined else. */
function pingIn(bytes: Uint8Array): number | undefined {
  if (bytes.length !== pingLength || bytes[0] !== callKind) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return view.getUint32(5, true) === ping.code ? view.getUint32(1, true) : undefined;
}

const alive = encode(ping.result, { outcome: { status: ErrorStatus.NONE } });

function pingAnswer(id: number): Uint8Array {
  const frame = new Uint8Array(5 + alive.length);
  frame[0] = answerKind;
  new DataView(frame.buffer).setUint32(1, id, true);
  frame.set(alive, 5);
  return frame;
}
