/** Peers that speak HTTP and gRPC byte by byte, so that they can do it wrong. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

/** A server under attack. */
export interface ServerAddress {
  readonly rest: string;
  readonly grpc: string;
  readonly token: string;
  /** Milliseconds in which a request must arrive. */
  readonly arrival: number;
  readonly bodyLimit: number;
}

/** Opens a connection for raw bytes, whose errors are of no interest. */
export function openSocket(address: string): Socket {
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host);
  socket.on("error", () => {});
  return socket;
}

/** Resolves when a connection has ended, or rejects after a time. */
export function endOf(socket: Socket, limit: number, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} was not ended in ${limit} ms`)), limit);
    socket.resume();
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    if (socket.destroyed) socket.emit("close");
  });
}

/** Posts a body to an address of REST. `isChunked`: in chunks, without its length. Resolves with the status; undefined if the connection ended without one. */
export async function post(
  { rest, token }: ServerAddress,
  path: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  isChunked = false,
): Promise<number | undefined> {
  try {
    const response = await fetch(`http://${rest}${path}`, {
      ...{ method: "POST", signal: AbortSignal.timeout(60_000) },
      ...(isChunked
        ? { body: new Blob([new Uint8Array(body)]).stream(), duplex: "half" }
        : { body: new Uint8Array(body) }),
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}

/** `count` times some bytes, compressed with gzip: members that follow each other, since compressing all takes seconds. */
export function gzipOf(bytes: Uint8Array, count: number): Buffer {
  const member = gzipSync(bytes);
  return Buffer.concat(Array.from({ length: count }, () => member));
}

/** Builds a message of gRPC with its prefix. `length`: length in the prefix. */
export function frameMessage(message: Uint8Array, { compressed = false, length = message.length } = {}): Buffer {
  const frame = Buffer.alloc(5 + message.length);
  frame[0] = compressed ? 1 : 0;
  frame.writeUInt32BE(length, 1);
  frame.set(message, 5);
  return frame;
}

/** A field of protobuf with bytes. */
export function field(number: number, bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes);
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  while (left >= 128) {
    bytes.push((left % 128) + 128);
    left = Math.floor(left / 128);
  }
  return Buffer.from([...bytes, left]);
}

export const methods = {
  infer: "/inference.GRPCInferenceService/ModelInfer",
  load: "/inference.GRPCInferenceService/RepositoryModelLoad",
  ready: "/inference.GRPCInferenceService/ModelReady",
  check: "/grpc.health.v1.Health/Check",
  watch: "/grpc.health.v1.Health/Watch",
  reflect: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
} as const;

/** Opens a connection of HTTP/2, whose errors are of no interest. */
export function openSession({ grpc }: ServerAddress): ClientHttp2Session {
  const session = connectHttp2(`http://${grpc}`, { maxSessionMemory: 1000 });
  session.on("error", () => {});
  return session;
}

/** Opens a call, whose errors are of no interest. */
export function openCall(
  session: ClientHttp2Session,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): ClientHttp2Stream {
  const all = { ":method": "POST", ":path": path, te: "trailers", "content-type": "application/grpc", ...headers };
  const stream = session.request(all);
  stream.on("error", () => {});
  return stream;
}

/** The status of a call; undefined if it ended without one. Rejects if it has not ended in time. */
export function statusOf(stream: ClientHttp2Stream, limit = 60_000): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    let status: number | undefined;
    const take = (headers: { readonly [name: string]: unknown }) => {
      if (headers["grpc-status"] !== undefined) status = Number(headers["grpc-status"]);
    };
    const timer = setTimeout(() => reject(new Error(`a call was not answered in ${limit} ms`)), limit);
    const end = () => {
      clearTimeout(timer);
      resolve(status);
    };
    stream.on("response", take);
    stream.on("trailers", take);
    stream.once("close", end);
    if (stream.closed) end();
    stream.resume();
  });
}
