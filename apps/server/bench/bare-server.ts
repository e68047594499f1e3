/**
 * The minimum of a Node.js server: it reads a body into memory, gives its tensor to the thread that computes, and answers with
 * the bytes of the outputs. It has no routes, JSON, checks, schedule or metrics. It tells its parent the address where it
 * listens.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { load } from "@nnhal/network";
import { type Entrant, inputOf } from "./contestant.ts";

const { file, device }: Entrant = JSON.parse(process.argv[2] ?? "{}");
const model = await load(file, { devices: device, worker: true });
const [input] = model.inputs;
if (input === undefined) throw new Error(`${file} has no input`);
const { name, type, shape } = input;
const elements = inputOf(type, shape);
const Elements = elements instanceof Uint8Array ? Uint8Array : Float32Array;

/** Reads the tensor at the end of a body, aligned for its elements. */
function read(request: IncomingMessage): Promise<Uint8Array | Float32Array> {
  return new Promise((resolve, reject) => {
    const before = Number(request.headers["content-length"]) - elements.byteLength;
    const first = (8 - (before % 8)) % 8;
    const memory = new Uint8Array(first + before + elements.byteLength);
    let received = first;
    request.on("data", (chunk: Buffer) => {
      memory.set(chunk, received);
      received += chunk.length;
    });
    request.once("error", reject);
    request.once("end", () => resolve(new Elements(memory.buffer, first + before, elements.length)));
  });
}

const server = createServer(async (request, response) => {
  const data = await read(request);
  const outputs = await model.run({ [name]: data }, { raw: true, transfer: true });
  const bytes = Object.values(outputs).map((output) => {
    const { buffer, byteOffset, byteLength } = output.data;
    return Buffer.from(buffer, byteOffset, byteLength);
  });
  response.writeHead(200, { "content-length": bytes.reduce((sum, { length }) => sum + length, 0) });
  for (const part of bytes.slice(0, -1)) response.write(part);
  response.end(bytes.at(-1));
});
// Others take their turns between two requests.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1");
await once(server, "listening");
// A server that listens at a port has such an address.
const { port } = server.address() as AddressInfo;
process.send?.(`127.0.0.1:${port}`);
