/**
 * Sockets for descriptors: a server listens at a second path next to that of its main connection. A client names on its main
 * connection the secret that it greets with there.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { makeGreeting, receiveGreeting, secretLength } from "./descriptor-channel.ts";
import { type Linux, linux } from "./linux.ts";
import { descriptorOf, peerCredentials } from "./peer-credentials.ts";

/** A connected socket for descriptors. */
export interface DescriptorSocket {
  /** Its descriptor, for `descriptorChannel` in any thread of this process. */
  readonly fd: number;
  /** Closes the socket. Channels over it must not be used afterwards. */
  close(): void;
}

/** Why there is no socket. */
export interface NoSocket {
  readonly noSocket: string;
}

/** A server of sockets for descriptors. */
export interface DescriptorServer {
  /**
   * The socket of the client that greets with a secret, and has the same process as `client`, its main connection, if that is
   * given. A socket is returned once. Waits for at most `limit` milliseconds (default 2000).
   */
  accept(secret: Uint8Array, client: Socket | undefined, limit?: number): Promise<DescriptorSocket | NoSocket>;
  /** Stops listening, and closes sockets that were not accepted. */
  close(): void;
}

/** Most sockets that wait to be accepted, and milliseconds that they may wait. */
const mostPending = 64;
const longestPending = 5000;
/** Milliseconds between looks for a greeting. */
const lookInterval = 2;

/** Where the sockets for descriptors of a server at `path` are. */
export function descriptorPath(path: string): string {
  return `${path}.descriptors`;
}

/** Listens for sockets for descriptors next to the server at `path`. The folder's permissions decide who may connect. */
export async function serveDescriptors(path: string): Promise<DescriptorServer | NoSocket> {
  const found = linux();
  if ("missing" in found) return { noSocket: found.missing };
  const system: Linux = found;
  const pending = new Set<Pending>();
  const drop = (one: Pending) => {
    pending.delete(one);
    clearTimeout(one.timeout);
    one.socket.destroy();
  };
  // The sockets are paused from the start: if Node.js read them, descriptors would be lost.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on("error", () => {});
    const fd = descriptorOf(socket);
    if (fd === undefined || pending.size >= mostPending) return void socket.destroy();
    const one: Pending = { socket, fd, timeout: setTimeout(() => drop(one), longestPending) };
    one.timeout.unref();
    pending.add(one);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(descriptorPath(path), resolve);
  });
  /** Receives greetings, and returns the socket with the secret. */
  const look = (secret: Uint8Array): Pending | undefined => {
    for (const one of pending) {
      if (one.secret === undefined) {
        const greeting = receiveGreeting(system, one.fd);
        if (greeting === "none") continue;
        if (greeting === "closed") drop(one);
        else one.secret = greeting;
      }
      if (one.secret !== undefined && timingSafeEqual(one.secret, secret)) return one;
    }
    return undefined;
  };
  return {
    async accept(secret, client, limit = 2000) {
      if (secret.length !== secretLength)
        return { noSocket: `the secret has ${secret.length} bytes, not ${secretLength}` };
      const end = performance.now() + limit;
      for (;;) {
        const one = look(secret);
        if (one !== undefined) {
          pending.delete(one);
          clearTimeout(one.timeout);
          if (client === undefined || isSameProcess(one.socket, client)) return socketOf(one);
          one.socket.destroy();
          return { noSocket: "the socket for descriptors is not of the process that asks for it" };
        }
        if (performance.now() >= end) return { noSocket: `received no socket for descriptors within ${limit} ms` };
        await new Promise((resolve) => setTimeout(resolve, lookInterval));
      }
    },
    close() {
      for (const one of pending) drop(one);
      server.close();
    },
  };
}

function isSameProcess(one: Socket, other: Socket): boolean {
  const [first, second] = [peerCredentials(one), peerCredentials(other)];
  return "pid" in first && "pid" in second && first.pid === second.pid && first.uid === second.uid;
}

interface Pending {
  readonly socket: Socket;
  readonly fd: number;
  readonly timeout: NodeJS.Timeout;
  secret?: Uint8Array;
}

/** A client's socket for descriptors, and the secret that the server must be told on the main connection. */
export interface ClientSocket extends DescriptorSocket {
  readonly secret: Uint8Array;
}

/** Connects to the server of sockets for descriptors next to `path`. Neither keeps the process alive. */
export async function connectDescriptors(path: string): Promise<ClientSocket | NoSocket> {
  const found = linux();
  if ("missing" in found) return { noSocket: found.missing };
  const socket = connect(descriptorPath(path));
  // It is never read: see above.
  socket.pause();
  try {
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    socket.on("error", () => {}).unref();
    const fd = descriptorOf(socket);
    if (fd === undefined) throw new Error("this version of Node.js does not say what descriptor a socket has");
    const secret = new Uint8Array(randomBytes(secretLength));
    if (!found.send(fd, makeGreeting(secret), undefined)) throw new Error("the greeting cannot be sent");
    return { ...socketOf({ socket, fd }), secret };
  } catch (error) {
    socket.destroy();
    return { noSocket: `the socket for descriptors: ${error instanceof Error ? error.message : error}` };
  }
}

function socketOf({ socket, fd }: Pick<Pending, "socket" | "fd">): DescriptorSocket {
  return { fd, close: () => void socket.destroy() };
}
