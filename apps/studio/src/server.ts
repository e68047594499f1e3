/**
 * @nnhal/studio/server: serves the page on loopback, and lets it run models on the devices of the machine.
 *
 * The page itself is public. What it asks of the machine needs a cookie, which it gets once for the token in the address that the program
 * prints. Requests of other origins, and those that name another host, are refused.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { contentPolicy, readPage } from "./server/page-files.ts";
import { createSessions, type MachineDevices } from "./server/sessions.ts";
import { decodeMessage, encodeMessage, frame } from "./wire.ts";

export type { MachineDevice, MachineDevices } from "./server/sessions.ts";

/** Options of serving the page. */
export interface StudioOptions {
  /** The port; 0 is any that is free. */
  readonly port: number;
  /** The file that the page opens. Default: the page opens its own. */
  readonly model?: { readonly name: string; read(): Promise<Uint8Array> } | undefined;
  readonly devices: MachineDevices;
  /** The folder with the built page. Default: that of this package. */
  readonly folder?: string | undefined;
}

/** A page that is served. */
export interface StudioServer {
  /** The address to open, with the token. It can be used once. */
  readonly url: string;
  readonly port: number;
  /** Ends all connections, and frees the models. */
  close(): Promise<void>;
}

/** Most bytes of a request: a model. */
const MOST_BYTES = 2 ** 31 - 1;
const TOKEN_BYTES = 24;
const loopback = "127.0.0.1";

/** Serves the page. Rejects if the port is taken or the page has not been built. */
export async function serveStudio({
  port,
  model,
  devices,
  folder = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../dist/page" : "./page", import.meta.url)),
}: StudioOptions): Promise<StudioServer> {
  const page = await readPage(folder);
  const sessions = createSessions(devices);
  const cookie = randomBytes(TOKEN_BYTES).toString("base64url");
  let token: string | undefined = randomBytes(TOKEN_BYTES).toString("base64url");
  let hosts: readonly string[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) refuse(response, 400, error instanceof Error ? error.message : String(error));
      else response.destroy();
    });
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, headers } = request;
    const { pathname } = new URL(request.url ?? "/", `http://${loopback}`);
    if (!hosts.includes(headers.host ?? "")) return refuse(response, 403, "the request names another host");
    if (method === "GET" || method === "HEAD") return page.send(pathname, response);
    if (method !== "POST") return refuse(response, 405, `${method} is not one of GET, HEAD and POST`);
    if (headers.origin !== `http://${headers.host}`) return refuse(response, 403, "the request is of another origin");
    if (pathname === "/api/enter") {
      const given = new TextDecoder().decode(await bodyOf(request, 200));
      if (token === undefined || !isSame(given, token))
        return refuse(response, 401, "the token is wrong, or was used: start nnhal studio again");
      token = undefined;
      const value = `${cookieName(headers.host)}=${cookie}; HttpOnly; SameSite=Strict; Path=/api`;
      response.writeHead(204, { "set-cookie": value }).end();
      return;
    }
    if (!isSame(cookieIn(headers), cookie))
      return refuse(response, 401, "the token is missing: open the address that nnhal studio printed");
    if (pathname === "/api/start") return send(response, { model: model?.name, devices: await devices.list() });
    if (pathname === "/api/model") {
      if (model === undefined) return refuse(response, 404, "the page was opened without a model");
      response.writeHead(200, { "content-type": "application/octet-stream" }).end(await model.read());
      return;
    }
    const [, session] = /^\/api\/session\/([\w-]{1,40})$/.exec(pathname) ?? [];
    if (session === undefined) return refuse(response, 404, `there is nothing at ${pathname}`);
    const message = decodeMessage(await bodyOf(request, MOST_BYTES));
    // A message that is refused gets a status of its own, so nothing is sent before the first reply.
    await sessions.ask(session, message, (reply) => {
      if (!response.headersSent)
        response.writeHead(200, { "content-type": "application/octet-stream", "cache-control": "no-store" });
      response.write(frame(encodeMessage(reply)));
    });
    response.end();
  };
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, loopback, resolve);
  });
  const address = server.address();
  const at = typeof address === "object" && address !== null ? address.port : port;
  hosts = [`${loopback}:${at}`, `localhost:${at}`];
  return {
    url: `http://${loopback}:${at}/#token=${token}`,
    port: at,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await sessions.close();
    },
  };
}

/** Cookies of all ports of a host are sent to each. */
function cookieName(host: string | undefined): string {
  return `nnhal-studio-${host?.split(":")[1]}`;
}

function cookieIn({ cookie = "", host }: IncomingMessage["headers"]): string {
  const start = `${cookieName(host)}=`;
  const found = cookie.split(/;\s*/).find((each) => each.startsWith(start));
  return found?.slice(start.length) ?? "";
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function send(response: ServerResponse, value: unknown): void {
  response
    .writeHead(200, { "content-type": "application/json", "cache-control": "no-store" })
    .end(JSON.stringify(value));
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response
    .writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "content-security-policy": contentPolicy,
      connection: "close",
    })
    .end(`${message}\n`);
}

async function bodyOf(request: IncomingMessage, most: number): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > most) throw new RangeError(`expected a request of at most ${most} bytes, got more`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
