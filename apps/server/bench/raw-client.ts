/** A client of minimum cost: a request that is made once, written to a socket, and an answer whose length alone is read. */
import { connect, type Socket } from "node:net";
import { basename } from "node:path";

/** One request and its answer. Rejects if the status is not 200. */
export type Exchange = () => Promise<void>;

interface Metadata {
  readonly inputs: readonly { readonly name: string; readonly datatype: string; readonly shape: readonly number[] }[];
}

/**
 * Makes requests for a network of one input, each over a separate connection. `describedBy`: the server that is asked for the
 * network's metadata.
 */
export async function exchanges(
  address: string,
  describedBy: string,
  file: string,
  connections: number,
): Promise<readonly Exchange[]> {
  const path = `/v2/models/${basename(file, ".tflite")}`;
  // The server answers with its metadata.
  const metadata = (await (await fetch(`http://${describedBy}${path}`)).json()) as Metadata;
  const [input] = metadata.inputs;
  if (input === undefined) throw new Error(`${file} has no input`);
  const { name, datatype, shape } = input;
  const count = shape.reduce((product, extent) => product * extent, 1);
  const elements = datatype === "UINT8" ? new Uint8Array(count).fill(100) : new Float32Array(count).fill(0.5);
  const bytes = new Uint8Array(elements.buffer);
  const json = JSON.stringify({
    inputs: [{ name, datatype, shape, parameters: { binary_data_size: bytes.length } }],
    parameters: { binary_data_output: true },
  });
  const head = [
    `POST ${path}/infer HTTP/1.1`,
    `Host: ${address}`,
    `Inference-Header-Content-Length: ${json.length}`,
    `Content-Length: ${json.length + bytes.length}`,
  ];
  const request = Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n${json}`), bytes]);
  const [host, port] = address.split(":");
  return Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host, port: Number(port), noDelay: true });
      await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
      return exchangeOver(socket, request);
    }),
  );
}

function exchangeOver(socket: Socket, request: Buffer): Exchange {
  let settle: { resolve(): void; reject(error: Error): void } | undefined;
  let received = 0;
  let whole = Number.POSITIVE_INFINITY;
  socket.on("data", (chunk) => {
    if (received === 0) {
      const text = chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      if (!text.startsWith("HTTP/1.1 200") || end < 0 || length === undefined) {
        return settle?.reject(new Error(`the server answered: ${text.slice(0, 500)}`));
      }
      whole = end + 4 + Number(length);
    }
    received += chunk.length;
    if (received < whole) return;
    received = 0;
    settle?.resolve();
  });
  socket.on("error", (error) => settle?.reject(error));
  let isClosed = false;
  socket.on("close", () => {
    isClosed = true;
    settle?.reject(new Error("the server has closed the connection"));
  });
  return () =>
    new Promise((resolve, reject) => {
      settle = { resolve, reject };
      if (isClosed) reject(new Error("the server has closed the connection"));
      socket.write(request);
    });
}
