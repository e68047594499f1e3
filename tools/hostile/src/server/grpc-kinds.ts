/** Hostile clients of gRPC. */
import { setTimeout as wait } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import type { Kind } from "../surface.ts";
import {
  endOf,
  field,
  frameMessage,
  gzipOf,
  methods,
  openCall,
  openSession,
  openSocket,
  type ServerAddress,
  statusOf,
  varint,
} from "./peers.ts";

const mebibyte = 2 ** 20;
/** Statuses of gRPC that refuse. */
const ok = 0;

/** Names that are long, cut in the middle of a character, or not text. */
function names(address: ServerAddress): Kind {
  const { token } = address;
  const texts = [
    `${"a".repeat(199)}\u{1f600}`,
    "\u{1f600}".repeat(100),
    "%".repeat(1000),
    "a".repeat(3000),
    "a".repeat(100_000),
    "\u0000\r\ngrpc-status: 0",
    "é".repeat(50_000),
  ];
  return {
    name: "grpc-names",
    async send() {
      const session = openSession(address);
      try {
        for (const text of texts) {
          const input = Buffer.concat([field(1, text), field(2, text)]);
          const calls = [
            openCall(session, methods.check).end(frameMessage(field(1, text))),
            openCall(session, methods.ready, { authorization: `Bearer ${token}` }).end(frameMessage(field(1, text))),
            openCall(session, methods.load, { authorization: `Bearer ${token}` }).end(frameMessage(field(2, text))),
            openCall(session, methods.infer, { authorization: `Bearer ${token}` }).end(frameMessage(field(1, text))),
            openCall(session, methods.infer, { authorization: `Bearer ${token}` }).end(
              frameMessage(Buffer.concat([field(1, "numbers"), field(5, input)])),
            ),
          ];
          const statuses = await Promise.all(calls.map((call) => statusOf(call, 20_000)));
          const wrong = statuses.find((status) => status === undefined || status === ok);
          if (statuses.includes(undefined) || wrong !== undefined) {
            throw new Error(`a name of ${text.length} characters got the statuses ${statuses}`);
          }
        }
      } finally {
        session.destroy();
      }
    },
  };
}

/** Messages of many empty members, plain and compressed, with and without the token. */
function members(address: ServerAddress): Kind {
  const { token } = address;
  const plain = (size: number, tag: number[]) => Buffer.alloc(size, Buffer.from(tag));
  const bodies = [
    { message: plain(mebibyte, [0x2a, 0]), encoding: "identity" },
    { message: plain(60 * mebibyte, [0x2a, 0]), encoding: "identity" },
    { message: plain(8 * mebibyte, [0x3a, 0]), encoding: "identity" },
    { message: field(5, field(5, field(8, "").toString().repeat(100_000))), encoding: "identity" },
    { message: field(5, field(5, field(2, Buffer.alloc(16 * mebibyte, 1)))), encoding: "identity" },
    { message: gzipOf(plain(9 * mebibyte, [0x2a, 0]), 7), encoding: "gzip" },
    { message: deflateSync(plain(63 * mebibyte, [0x32, 0])), encoding: "deflate" },
    { message: gzipOf(Buffer.alloc(10 * mebibyte), 50), encoding: "gzip" },
  ];
  return {
    name: "grpc-members",
    async send(_, signal) {
      const session = openSession(address);
      try {
        for (const { message, encoding } of bodies) {
          for (const authorization of [undefined, `Bearer ${token}`]) {
            if (signal.aborted) return;
            const headers = { "grpc-encoding": encoding, ...(authorization && { authorization }) };
            const frame = frameMessage(message, { compressed: encoding !== "identity" });
            const call = openCall(session, methods.infer, headers);
            call.end(frame);
            if ((await statusOf(call, 50_000)) === ok) throw new Error(`${message.length} bytes were computed`);
          }
        }
      } finally {
        session.destroy();
      }
    },
  };
}

/** Messages that do not end, on many streams. */
function partial(address: ServerAddress): Kind {
  const { token, arrival } = address;
  const start = frameMessage(Buffer.alloc(mebibyte), { length: 60 * mebibyte });
  return {
    name: "grpc-partial",
    async send() {
      const sessions = Array.from({ length: 4 }, () => openSession(address));
      try {
        for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
          const calls = sessions.flatMap((session) =>
            Array.from({ length: 50 }, () => {
              const call = openCall(session, methods.infer, headers);
              call.write(start);
              return call;
            }),
          );
          await Promise.all(calls.map((call) => statusOf(call, 5 * arrival + 20_000)));
        }
      } finally {
        for (const session of sessions) session.destroy();
      }
    },
  };
}

/** Calls of the open services that do not end. */
function watches(address: ServerAddress): Kind {
  return {
    name: "grpc-watches",
    async send(random) {
      const sessions = Array.from({ length: 20 }, () => openSession(address));
      for (const session of sessions) {
        for (let count = 0; count < 100; count++) {
          const path = random() < 0.8 ? methods.watch : methods.reflect;
          openCall(session, path).write(frameMessage(field(1, `model ${count}`)));
        }
      }
      await wait(1000);
      for (const session of sessions) session.destroy();
    },
  };
}

/** Random messages, and random bytes on the connection. */
function garbage(address: ServerAddress): Kind {
  const { token } = address;
  return {
    name: "grpc-garbage",
    async send(random) {
      const session = openSession(address);
      const bytes = (length: number) => Uint8Array.from({ length }, () => Math.floor(256 * random()));
      try {
        const calls = Array.from({ length: 50 }, () => {
          // A watch of a message that happens to be valid goes on for as long as its client wants.
          const paths = Object.values(methods).filter((each) => each !== methods.watch);
          const path = paths[Math.floor(random() * paths.length)] ?? methods.infer;
          const call = openCall(session, path, { authorization: `Bearer ${token}` });
          const message =
            random() < 0.5 ? bytes(random() * 300) : Buffer.concat([varint(random() * 2 ** 20), bytes(20)]);
          call.end(random() < 0.8 ? frameMessage(message) : message);
          return call;
        });
        await Promise.all(calls.map((call) => statusOf(call, 20_000)));
        const socket = openSocket(address.grpc);
        socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        for (let count = 0; count < 20; count++) socket.write(bytes(100));
        await endOf(socket, 20_000, "a connection of random bytes");
      } finally {
        session.destroy();
      }
    },
  };
}

export function grpcKinds(address: ServerAddress): readonly Kind[] {
  return [names(address), members(address), partial(address), watches(address), garbage(address)];
}
