/**
 * Requests to the server of a store: only to permitted addresses, which are checked when the connection is made and at each
 * redirection, with limits on time and bytes.
 */
import { lookup } from "node:dns";
import { type ClientRequest, type IncomingMessage, request as requestPlainly } from "node:http";
import { request as requestSafely } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Places } from "./places.ts";
import { isPublicAddress } from "./public-address.ts";

/** Request to a server. */
export interface StoreRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** Answer of a server. */
export interface StoreAnswer {
  readonly status: number;
  readonly text: string;
  readonly body: Uint8Array;
}

/** Limits of a request. */
export interface RequestLimits {
  /** Maximum bytes of an answer's body. */
  readonly bytes: number;
  /** Milliseconds until something must arrive, and until everything must have arrived. */
  readonly silence: number;
  readonly time: number;
}

const mostRedirections = 5;

/** Sends a request. Rejects with an Error if it is not permitted or fails. */
export async function send(
  address: string,
  request: StoreRequest,
  { places, limits }: { readonly places: Places; readonly limits: RequestLimits },
): Promise<StoreAnswer> {
  const signal = AbortSignal.timeout(limits.time);
  const inTime = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      throw signal.aborted ? new Error(`expected the whole answer within ${limits.time / 1000} s`) : error;
    });
  let url = new URL(address);
  for (let hops = 0; ; hops++) {
    const isPublic = places.reach(url) === "public";
    const message = await inTime(answerTo(url, request, { isPublic, signal, silence: limits.silence }));
    const next = redirectionOf(message, url);
    if (next === undefined) {
      const isHead = request.method === "HEAD";
      const body = isHead ? new Uint8Array() : await inTime(bodyOf(message, limits.bytes));
      if (isHead) message.destroy();
      return { ...statusOf(message), body };
    }
    message.destroy();
    // Signatures and bytes are only for the server that was named.
    if (request.headers !== undefined || request.body !== undefined) {
      throw new Error(`expected an answer, got a redirection to ${next.origin}`);
    }
    if (hops === mostRedirections) throw new Error(`expected at most ${mostRedirections} redirections, got more`);
    url = next;
  }
}

/** Options of a connection. */
interface Way {
  readonly isPublic: boolean;
  readonly signal: AbortSignal;
  readonly silence: number;
}

function answerTo(url: URL, { method, headers, body }: StoreRequest, way: Way): Promise<IncomingMessage> {
  const { isPublic, signal, silence } = way;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.username !== "" || url.password !== "") throw new Error("expected an address without a password");
  // An IP address needs no look-up.
  if (isPublic && isIP(host) !== 0 && !isPublicAddress(host)) throw new Error(notPublic(host, host));
  const options = {
    ...{ method, headers: { ...headers, ...(body && { "content-length": String(body.length) }) }, signal },
    // A new connection, whose address was checked.
    agent: false as const,
    ...(isPublic && { lookup: lookupPublic }),
  };
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = (url.protocol === "https:" ? requestSafely : requestPlainly)(url, options, resolve);
    const late = () => sent.destroy(new Error(`expected an answer, got nothing for ${silence / 1000} s`));
    sent.setTimeout(silence, late);
    sent.once("error", reject);
    sent.end(body);
  });
}

const notPublic = (host: string, address: string) =>
  `expected a server of the public network, got ${host}${host === address ? "" : ` (${address})`}; nnhal-worker --allow ADDRESS allows others`;

/**
 * Finds the addresses of a host, if all are public. The connection uses the found addresses: the host cannot change them in
 * between.
 */
const lookupPublic: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, found) => {
    const [first] = found ?? [];
    const closed = found?.find(({ address }) => !isPublicAddress(address));
    if (error !== null) return callback(error, []);
    if (closed !== undefined || first === undefined) {
      return callback(new Error(notPublic(host, closed?.address ?? "no address")), []);
    }
    if (options.all) callback(null, found);
    else callback(null, first.address, first.family);
  });
};

function statusOf({ statusCode = 0, statusMessage = "" }: IncomingMessage): Omit<StoreAnswer, "body"> {
  return { status: statusCode, text: statusMessage };
}

function redirectionOf({ statusCode = 0, headers }: IncomingMessage, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return undefined;
  const next = URL.canParse(headers.location, from.href) ? new URL(headers.location, from) : undefined;
  if (next?.protocol === "http:" || next?.protocol === "https:") return next;
  throw new Error(`expected a redirection to http:// or https://, got ${headers.location.slice(0, 80)}`);
}

async function bodyOf(message: IncomingMessage, most: number): Promise<Uint8Array> {
  const tooLong = (bytes: number | string) => {
    message.destroy();
    return new Error(`expected at most ${most} bytes, got ${bytes} (nnhal-worker --model-bytes)`);
  };
  const announced = Number(message.headers["content-length"] ?? 0);
  if (announced > most) throw tooLong(announced);
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of message) {
    size += part.length;
    if (size > most) throw tooLong("more");
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
