/** Hostile clients of REST. */
import { setTimeout as wait } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import type { Kind } from "../surface.ts";
import { endOf, gzipOf, openSocket, post, type ServerAddress } from "./peers.ts";

const infer = (model: string) => `/v2/models/${model}/infer`;
const mebibyte = 2 ** 20;

/** Bodies of JSON that cost much to parse, of about `size` bytes. */
const bombs: Readonly<Record<string, (size: number) => string>> = {
  nest: (size) => "[".repeat(size / 2) + "]".repeat(size / 2),
  "nested objects": (size) => `${'{"a":'.repeat(size / 6)}1${"}".repeat(size / 6)}`,
  objects: (size) => `[${"{},".repeat(size / 3)}1]`,
  lists: (size) => `[${"[],".repeat(size / 3)}1]`,
  keys: (size) => `{${Array.from({ length: size / 16 }, (_, key) => `"${key.toString(36)}":1`)}}`,
  numbers: (size) => `{"inputs":[{"name":"given","datatype":"FP32","shape":[1],"data":[${"1,".repeat(size / 2)}1]}]}`,
  texts: (size) => `{"inputs":[{"name":"given","datatype":"BYTES","shape":[1],"data":[${'"",'.repeat(size / 3)}""]}]}`,
  "long text": (size) => `{"id":"${"\\u0001".repeat(size / 6)}"}`,
};

function jsonBombs(address: ServerAddress): Kind {
  // Made once: making them takes longer than refusing them.
  const bodies = new Map<string, Buffer>();
  const bombOf = (name: string, size: number) => {
    const key = `${name} ${size}`;
    const body = bodies.get(key) ?? Buffer.from(bombs[name]?.(size) ?? "");
    if (size <= 4 * mebibyte) bodies.set(key, body);
    return body;
  };
  return {
    name: "rest-json",
    async send(random, signal) {
      for (const name of Object.keys(bombs)) {
        for (const size of [0.5, 3.9, random() < 0.1 ? 60 : 1]) {
          if (signal.aborted && size > 4) return;
          const status = await post(address, infer("numbers"), bombOf(name, size * mebibyte));
          if (status !== undefined && (status < 400 || status > 499)) {
            throw new Error(`${size} MiB of ${name} got the status ${status}`);
          }
        }
      }
    },
  };
}

function makeDripping(address: ServerAddress): Kind {
  const { rest, arrival, token } = address;
  return {
    name: "rest-drip",
    async send() {
      const sockets = Array.from({ length: 40 }, (_, place) => {
        const socket = openSocket(rest);
        const about = `POST ${infer("numbers")} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n`;
        socket.write(place % 2 === 0 ? `${about}content-length: 60000000\r\n\r\n{` : `${about}x-a: 1`);
        const dripping = setInterval(() => socket.write("1"), 100);
        socket.once("close", () => clearInterval(dripping));
        return socket;
      });
      try {
        const limit = 5 * arrival + 5000;
        await Promise.all(sockets.map((socket) => endOf(socket, limit, "a request that drips")));
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    },
  };
}

/** 100 clients that ask for answers of 4 MiB and read nothing. */
function silentReaders(address: ServerAddress): Kind {
  const { rest, arrival, token } = address;
  const count = mebibyte;
  const json = Buffer.from(
    `{"parameters":{"binary_data_output":true},"inputs":[{"name":"given","datatype":"FP32","shape":[${count},1],"parameters":{"binary_data_size":${4 * count}}}]}`,
  );
  const body = Buffer.concat([json, Buffer.alloc(4 * count)]);
  const head = `POST ${infer("numbers")} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\ninference-header-content-length: ${json.length}\r\ncontent-length: ${body.length}\r\n\r\n`;
  return {
    name: "rest-no-reader",
    async send() {
      const sockets = Array.from({ length: 100 }, () => {
        const socket = openSocket(rest);
        socket.pause();
        socket.write(head);
        socket.write(body);
        return socket;
      });
      await wait(arrival + 1000);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Forms of a body with strings: whole, in chunks, compressed, and compressed in chunks. */
const forms = [
  { isChunked: false, isPacked: false },
  { isChunked: true, isPacked: false },
  { isChunked: false, isPacked: true },
  { isChunked: true, isPacked: true },
] as const;

/** Strings whose rows would be as wide as the longest, and many short ones. */
function strings(address: ServerAddress): Kind {
  return {
    name: "rest-strings",
    async send() {
      const sendAs = async (body: Buffer, json: string, { isChunked, isPacked }: (typeof forms)[number]) => {
        const headers = {
          "inference-header-content-length": String(json.length),
          ...(isPacked && { "content-encoding": "deflate" }),
        };
        return post(address, infer("strings"), body, headers, isChunked);
      };
      const send = (count: number, width: number) => {
        const lengths = Buffer.alloc(4 * count + width);
        lengths.writeUInt32LE(width, 0);
        const json = `{"inputs":[{"name":"given","datatype":"BYTES","shape":[${count},1],"parameters":{"binary_data_size":${lengths.length}}}]}`;
        const body = Buffer.concat([Buffer.from(json), lengths]);
        const packed = deflateSync(body, { level: 1 });
        return Promise.all(forms.map((form) => sendAs(form.isPacked ? packed : body, json, form)));
      };
      for (const [place, status] of (await send(3, 5)).entries()) {
        // A busy server may refuse it.
        if (status !== undefined && status !== 200 && ![408, 429, 503].includes(status))
          throw new Error(`three strings (${JSON.stringify(forms[place])}) got the status ${status}`);
      }
      for (const [count, width] of [
        [64_000, 65_000],
        [20_000, 60_000],
        [400_000, 300_000],
        [10 * mebibyte, 0],
      ] as const) {
        const statuses = await send(count, width);
        const wrong = statuses.find((status) => status !== undefined && (status < 400 || status > 499));
        if (wrong !== undefined) throw new Error(`${count} strings, one of ${width} bytes, got the status ${wrong}`);
      }
    },
  };
}

function codingBombs(address: ServerAddress): Kind {
  const zeros = gzipOf(Buffer.alloc(10 * mebibyte, 32), 20);
  return {
    name: "rest-gzip",
    async send() {
      const headers = { "content-encoding": "gzip" };
      const statuses = await Promise.all(
        Array.from({ length: 10 }, () => post(address, infer("numbers"), zeros, headers)),
      );
      const wrong = statuses.find((status) => status !== undefined && (status < 400 || status > 499));
      if (wrong !== undefined) throw new Error(`a bomb got the status ${wrong}`);
    },
  };
}

/** Random bytes and broken heads, and connections that say nothing. */
function garbage({ rest }: ServerAddress): Kind {
  const heads = [
    "GET / HTTP/1.1\r\n",
    "POST /v2/models/numbers/infer HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
    "POST /v2/models/numbers/infer HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nfffffffff\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    `GET /${"a".repeat(100_000)} HTTP/1.1\r\n\r\n`,
    `GET /v2 HTTP/1.1\r\n${"a: b\r\n".repeat(20_000)}\r\n`,
    "",
  ];
  return {
    name: "rest-garbage",
    async send(random) {
      const sockets = Array.from({ length: 200 }, () => {
        const socket = openSocket(rest);
        socket.write(heads[Math.floor(random() * heads.length)] ?? "");
        socket.write(Uint8Array.from({ length: 200 }, () => Math.floor(256 * random())));
        return socket;
      });
      await wait(200);
      for (const socket of sockets) socket.destroy();
    },
  };
}

export function restKinds(address: ServerAddress): readonly Kind[] {
  return [
    jsonBombs(address),
    strings(address),
    codingBombs(address),
    garbage(address),
    silentReaders(address),
    makeDripping(address),
  ];
}
