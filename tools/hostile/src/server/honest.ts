/** Honest clients of the server: each has a separate connection, sends one request after the other, and checks each answer. */

import { Agent, request } from "node:http";
import type { ClientHttp2Session } from "node:http2";
import { setTimeout as wait } from "node:timers/promises";
import { field, frameMessage, methods, openCall, openSession, type ServerAddress, varint } from "./peers.ts";

/** Observations of honest clients. */
export interface Seen {
  /** Milliseconds of each request that was computed. */
  readonly times: number[];
  /** Requests that were told to come back later. */
  busy: number;
  /** Answers that were wrong, and requests without one. */
  readonly wrong: string[];
}

/** A request for the model `numbers` with these values. Resolves with whether it was computed; rejects if the answer is wrong. */
type Ask = (values: Float32Array) => Promise<"computed" | "busy">;

interface Client {
  readonly ask: Ask;
  close(): void;
}

/** Milliseconds before a client comes back. */
const patience = 50;
/** Milliseconds in which each request must be answered. */
const mostTime = 45_000;
/** Rows of each request. */
const rows = 16;

const input = { name: "given", datatype: "FP32", shape: [rows, 1] };

/** Clients of each kind in turn. */
const kinds: readonly ((address: ServerAddress) => Client)[] = [bytesClient, jsonClient, grpcClient];

/** Lets clients ask until `signal` aborts. */
export async function askHonestly(
  address: ServerAddress,
  count: number,
  random: () => number,
  signal: AbortSignal,
): Promise<Seen> {
  const seen: Seen = { times: [], busy: 0, wrong: [] };
  const one = async (client: Client, place: number) => {
    while (!signal.aborted) {
      const values = Float32Array.from({ length: rows }, () => Math.fround(random()));
      const began = performance.now();
      try {
        if ((await within(client.ask(values), place)) === "computed") seen.times.push(performance.now() - began);
        else {
          seen.busy++;
          await wait(patience);
        }
      } catch (error) {
        seen.wrong.push(String(error));
        return;
      }
    }
  };
  const clients = Array.from({ length: count }, (_, place) => kinds[place % kinds.length]?.(address));
  await Promise.all(
    clients.map(async (client, place) => {
      if (client === undefined) return;
      await one(client, place);
      client.close();
    }),
  );
  return seen;
}

/** Rejects if an answer takes longer than any limit of the server. */
async function within<Result>(answer: Promise<Result>, place: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const client = kinds[place % kinds.length]?.name;
    timer = setTimeout(() => reject(new Error(`${client} ${place}: no answer in ${mostTime} ms`)), mostTime);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A share of times, sorted, such as 0.99. */
export function quantileOf(times: readonly number[], share: number): number {
  const sorted = [...times].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function expectSame(what: string, given: Float32Array, found: Uint8Array): void {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (!bytes.equals(found)) throw new Error(`${what}: the output is not the input`);
}

/** Posts on a connection that is kept. */
function poster({ rest, token }: ServerAddress) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const [host, port] = rest.split(":");
  const about = { host, port, path: "/v2/models/numbers/infer", method: "POST", agent };
  const post = (body: Uint8Array, headers: Readonly<Record<string, string>>) =>
    new Promise<{ status: number | undefined; body: Buffer }>((resolve, reject) => {
      const all = { authorization: `Bearer ${token}`, "content-length": String(body.length), ...headers };
      const sent = request({ ...about, headers: all }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("end", () => resolve({ status: response.statusCode, body: Buffer.concat(chunks) }));
        response.once("error", reject);
      });
      sent.once("error", reject);
      sent.end(body);
    });
  return { post, close: () => agent.destroy() };
}

function bytesClient(address: ServerAddress): Client {
  const { post, close } = poster(address);
  const given = { ...input, parameters: { binary_data_size: 4 * rows } };
  const json = Buffer.from(JSON.stringify({ inputs: [given], parameters: { binary_data_output: true } }));
  const headers = { "inference-header-content-length": String(json.length) };
  return {
    async ask(values) {
      const { status, body } = await post(Buffer.concat([json, new Uint8Array(values.buffer)]), headers);
      if (status === 429) return "busy";
      if (status !== 200) throw new Error(`REST with bytes: the status is ${status}: ${body}`);
      expectSame("REST with bytes", values, body.subarray(-4 * rows));
      return "computed";
    },
    close,
  };
}

function jsonClient(address: ServerAddress): Client {
  const { post, close } = poster(address);
  return {
    async ask(values) {
      const { status, body } = await post(
        Buffer.from(JSON.stringify({ inputs: [{ ...input, data: [...values] }] })),
        {},
      );
      if (status === 429) return "busy";
      if (status !== 200) throw new Error(`REST with JSON: the status is ${status}: ${body}`);
      const found: { readonly outputs: readonly { readonly data: readonly number[] }[] } = JSON.parse(String(body));
      expectSame("REST with JSON", values, new Uint8Array(Float32Array.from(found.outputs[0]?.data ?? []).buffer));
      return "computed";
    },
    close,
  };
}

/** The status of gRPC for too much work. */
const exhausted = 8;

function grpcClient(address: ServerAddress): Client {
  let session: ClientHttp2Session | undefined;
  const shape = Buffer.concat([varint(rows), varint(1)]);
  const tensor = Buffer.concat([field(1, input.name), field(2, input.datatype), field(3, shape)]);
  return {
    ask(values) {
      session ??= openSession(address);
      const bytes = new Uint8Array(values.buffer);
      const call = openCall(session, methods.infer, { authorization: `Bearer ${address.token}` });
      call.end(frameMessage(Buffer.concat([field(1, "numbers"), field(5, tensor), field(7, bytes)])));
      return new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        let status: number | undefined;
        let details = "";
        const take = (headers: { readonly [name: string]: unknown }) => {
          if (headers["grpc-status"] === undefined) return;
          status = Number(headers["grpc-status"]);
          details = String(headers["grpc-message"]);
        };
        call.on("response", take);
        call.on("trailers", take);
        call.on("data", (chunk: Buffer) => chunks.push(chunk));
        call.once("close", () => {
          try {
            if (status === exhausted) return resolve("busy");
            if (status !== 0) throw new Error(`gRPC: the status is ${status}: ${details} (${call.rstCode})`);
            expectSame("gRPC", values, Buffer.concat(chunks).subarray(-bytes.length));
            resolve("computed");
          } catch (error) {
            reject(error);
          }
        });
      });
    },
    close: () => session?.close(),
  };
}
