import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { load } from "@nnhal/network";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { manyOperators } from "./files.test-helper.ts";
import { type StudioServer, serveStudio } from "./server.ts";
import { decodeMessage, encodeMessage, messagesIn } from "./wire.ts";

const folder = mkdtempSync(join(tmpdir(), "nnhal-studio-"));
writeFileSync(join(folder, "index.html"), '<meta name="nnhal-studio" content="static" />');
writeFileSync(join(folder, "main.js"), "export {};");
const bytes = manyOperators(3);
let server: StudioServer;
let device: Awaited<ReturnType<typeof openDevice>>;

beforeAll(async () => {
  device = await openDevice({ backend: referenceBackend });
  server = await start();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

function start(): Promise<StudioServer> {
  return serveStudio({
    port: 0,
    folder,
    model: { name: "three.tflite", read: async () => bytes },
    devices: {
      list: async () => [{ name: "nnhal-reference" }, { name: "nnhal-broken", problem: "it is not here" }],
      async select(names) {
        if (names !== "reference" || "unavailable" in device) throw new Error(`there is no device "${names}"`);
        return [device];
      },
    },
  });
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** Sends a request as a browser would, with whatever headers a test wants. */
function send(path: string, { method = "POST", headers = {}, body = "" }: Sent = {}, to = server) {
  const host = `127.0.0.1:${to.port}`;
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
    const all = { host, origin: `http://${host}`, ...headers };
    const sent = request({ host: "127.0.0.1", port: to.port, path, method, headers: all }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

const tokenOf = ({ url }: StudioServer) => url.split("#token=")[1] ?? "";

/** Enters with the token of a server of its own, so that tests do not take it from each other. */
async function enter() {
  const own = await start();
  const { headers } = await send("/api/enter", { body: tokenOf(own) }, own);
  const cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
  return { own, cookie };
}

describe("the page", () => {
  it("is sent with a policy that permits no other scripts, and says that it is served", async () => {
    const { status, headers, body } = await send("/", { method: "GET" });
    expect(status).toBe(200);
    expect(body.toString()).toContain('content="served"');
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval';");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe-inline");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect((await send("/main.js", { method: "GET" })).headers["content-type"]).toContain("text/javascript");
  });

  it.each(["/../package.json", "/%2e%2e/package.json", "/etc/passwd", "/main.ts"])("has no file %s", async (path) => {
    expect((await send(path, { method: "GET" })).status).toBe(404);
  });

  it("is refused where it has not been built", async () => {
    const missing = join(folder, "missing");
    const devices = { list: async () => [], select: async () => [] };
    await expect(serveStudio({ port: 0, folder: missing, devices })).rejects.toThrow(`the page is not in ${missing}`);
  });
});

describe("a request", () => {
  it("with the cookie gets what the page was started with", async () => {
    const { own, cookie } = await enter();
    const start = await send("/api/start", { headers: { cookie } }, own);
    expect(JSON.parse(start.body.toString())).toEqual({
      model: "three.tflite",
      devices: [{ name: "nnhal-reference" }, { name: "nnhal-broken", problem: "it is not here" }],
    });
    const model = await send("/api/model", { headers: { cookie } }, own);
    expect(new Uint8Array(model.body)).toEqual(bytes);
    await own.close();
  });

  it("without it, or with that of another server, is refused", async () => {
    const { own, cookie } = await enter();
    expect((await send("/api/start")).status).toBe(401);
    expect((await send("/api/start", { headers: { cookie } })).status).toBe(401);
    expect((await send("/api/start", { headers: { cookie: `${cookie}x` } }, own)).status).toBe(401);
    await own.close();
  });

  it("with a wrong token is refused, and a token works once", async () => {
    const own = await start();
    expect((await send("/api/enter", { body: "wrong" }, own)).status).toBe(401);
    expect((await send("/api/enter", { body: tokenOf(own) }, own)).status).toBe(204);
    const second = await send("/api/enter", { body: tokenOf(own) }, own);
    expect(second.status).toBe(401);
    expect(second.body.toString()).toContain("start nnhal studio again");
    await own.close();
  });

  it("of another origin, or for another host, is refused with the cookie, too", async () => {
    const { own, cookie } = await enter();
    const to = (headers: Readonly<Record<string, string>>) =>
      send("/api/start", { headers: { cookie, ...headers } }, own);
    expect((await to({})).status).toBe(200);
    expect((await to({ host: `localhost:${own.port}`, origin: `http://localhost:${own.port}` })).status).toBe(200);
    expect((await to({ host: `localhost:${own.port}` })).status).toBe(403);
    expect((await to({ origin: "http://evil.example" })).status).toBe(403);
    expect((await to({ origin: "null" })).status).toBe(403);
    expect((await to({ host: "evil.example", origin: "http://evil.example" })).status).toBe(403);
    expect((await to({ host: `127.0.0.1:${own.port + 1}` })).status).toBe(403);
    expect((await send("/", { method: "GET", headers: { host: "evil.example" } }, own)).status).toBe(403);
    await own.close();
  });

  it("of another method is refused", async () => {
    expect((await send("/api/start", { method: "PUT" })).status).toBe(405);
  });
});

describe("a model on a device of the machine", () => {
  it("is opened, runs as it does here, and is closed", async () => {
    const { own, cookie } = await enter();
    let id = 0;
    const ask = async (question: object) => {
      const body = encodeMessage({ ...question, id: id++ });
      const answer = await send("/api/session/one", { headers: { cookie }, body }, own);
      const replies: unknown[] = [];
      async function* stream() {
        yield answer.body;
      }
      for await (const message of messagesIn(stream())) replies.push(decodeMessage(message));
      return { status: answer.status, last: replies.at(-1), body: answer.body.toString() };
    };
    const opened = await ask({ ask: "open", bytes, options: { devices: "reference", cache: "/tmp" } });
    expect(opened.last).toMatchObject({ id: 0, result: { devices: ["nnhal-reference"] } });
    const input = Float32Array.from({ length: 8 }, (_, index) => index - 2.5);
    const value = { bytes: new Uint8Array(input.buffer), shape: [1, 8] };
    const ran = await ask({ ask: "compute", args: [[value], [], {}] });
    const model = await load(bytes, { devices: "reference" });
    const { output } = await model.run(input);
    await model.close();
    const expected = new Uint8Array(Float32Array.from(output?.data ?? []).buffer);
    expect(ran.last).toMatchObject({ id: 1, result: { values: [{ bytes: expected, shape: [1, 8] }] } });
    expect((await ask({ ask: "explain", args: [] })).last).toMatchObject({ result: { operations: { length: 3 } } });
    const compared = await ask({ ask: "diff", args: [{ random: 1, against: "reference" }] });
    expect(compared.last).toMatchObject({ result: { against: ["nnhal-reference"], operations: { length: 3 } } });
    expect((await ask({ ask: "diff", args: [{ random: 1, against: "/etc/x" }] })).last).toEqual({
      ...{ id: id - 1, code: "NO_DEVICE" },
      ...{ message: 'there is no device "/etc/x"', problems: [] },
    });
    expect((await ask({ ask: "diff", args: [] })).last).toMatchObject({ code: "NO_DEVICE" });
    expect((await ask({ ask: "close", args: [] })).status).toBe(200);
    expect((await ask({ ask: "explain", args: [] })).body).toContain("the session one does not exist, or has ended");
    await own.close();
  });

  it.each([
    ["an unknown method", { ask: "imported", args: [] }, "is not one of the page's"],
    ["a method of all objects", { ask: "constructor", args: [] }, "is not one of the page's"],
    [
      "a path instead of bytes",
      { ask: "open", bytes: "/etc/passwd", options: { devices: "reference" } },
      "is not one of the page's",
    ],
    ["an unknown device", { ask: "open", bytes, options: { devices: "x" } }, 'there is no device "x"'],
    ["a session that does not exist", { ask: "explain", args: [] }, "does not exist"],
  ])("refuses %s", async (_, question, reason) => {
    const { own, cookie } = await enter();
    const body = encodeMessage({ ...question, id: 0 });
    const answer = await send("/api/session/two", { headers: { cookie }, body }, own);
    expect(answer.body.toString()).toContain(reason);
    await own.close();
  });
});
