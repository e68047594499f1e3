/** A client of bytes: frames as they lie on a socket of a daemon. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";

/** A frame on a socket: its length, then its bytes. `length`: another one than its own. */
export function frame(bytes: Uint8Array, length = bytes.length): Uint8Array {
  const whole = new Uint8Array(4 + bytes.length);
  new DataView(whole.buffer).setUint32(0, length, true);
  whole.set(bytes, 4);
  return whole;
}

/** First message of a client: its memories are copied. */
export const greeting = frame(Uint8Array.of(...new TextEncoder().encode("nnhal-service"), 1, 0));

/** A call that a daemon answers at once. */
export const ping = frame(Uint8Array.of(2, 1, 0, 0, 0, 70, 0, 0, 0, 0, 0, 0, 0));

/** A connection of such a client. `closed`: resolves when it is. */
export interface RawClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
}

/** A socket of nnapi-sample_all without a greeting. Errors, such as those of writing to a daemon that has closed it, are expected. */
export async function openSocket(directory: string): Promise<RawClient> {
  const socket = connect(join(directory, "nnapi-sample_all"));
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  return { socket, closed };
}

/** A socket whose greeting is accepted. */
export async function openGreeted(directory: string): Promise<RawClient> {
  const opened = await openSocket(directory);
  opened.socket.write(greeting);
  await once(opened.socket, "data");
  return opened;
}

/** Pings once. Returns whether the daemon has answered; false if the connection is closed. */
export function pingOnce({ socket, closed }: RawClient): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once("data", () => resolve(true));
    void closed.then(() => resolve(false));
    socket.write(ping);
  });
}
