import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkedGet, createFolderStore, ensureIn, openStore } from "./store.ts";
import { digestOf } from "./task.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nnhal-store-"));
});
afterAll(() => rm(folder, { recursive: true }));

const model = new TextEncoder().encode("a model");
const digest = digestOf(model);

/** A server on loopback that stores the received bodies. */
async function startServer() {
  const kept = new Map<string, Buffer>();
  const asked: { method: string | undefined; authorization: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    asked.push({ method: request.method, authorization: request.headers.authorization });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = request.url ?? "";
    if (path.includes("forbidden")) return void response.writeHead(403, "Forbidden").end();
    if (request.method === "PUT") kept.set(path, Buffer.concat(chunks));
    const body = kept.get(path);
    response.writeHead(body === undefined ? 404 : 200).end(request.method === "GET" ? body : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens at a port has an address.
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, kept, asked, close: () => server.close() };
}

describe("options that nothing knows", () => {
  it.each([
    [{ env: {}, limit: {} }, 'openStore: unknown option "limit": did you mean "limits"?'],
    [{ env: {}, limits: { bytes: 1, size: 1 } }, 'openStore: limits: unknown option "size"'],
  ])("are refused: %j", async (options, message) => {
    await expect(openStore(folder, options)).rejects.toThrow(message);
  });
});

describe("a store", () => {
  it("keeps bytes by digest in a folder, and leaves no other files", async () => {
    const store = createFolderStore(join(folder, "models"));
    expect([await store.get(digest), await store.has(digest)]).toEqual([undefined, false]);
    await ensureIn(store, digest, model);
    await ensureIn(store, digest, model);
    expect(await checkedGet(store, digest)).toEqual(model);
    expect(await readdir(join(folder, "models"))).toEqual([digest]);
  });

  it("keeps them behind a server, and sends what is there only once", async () => {
    const server = await startServer();
    try {
      const store = await openStore(`${server.address}/models/`);
      expect([await store.get(digest), await store.has(digest)]).toEqual([undefined, false]);
      await ensureIn(store, digest, model);
      await ensureIn(store, digest, model);
      expect(await checkedGet(store, digest)).toEqual(model);
      expect([...server.kept.keys()]).toEqual([`/models/${digest}`]);
      expect(server.asked.filter(({ method }) => method === "PUT")).toHaveLength(1);
      await expect((await openStore(`${server.address}/forbidden`)).get(digest)).rejects.toThrow(
        `/forbidden cannot be used, at GET ${digest}: the answer is 403 Forbidden`,
      );
    } finally {
      server.close();
    }
    await expect((await openStore(server.address)).has(digest)).rejects.toThrow(
      /cannot be used, at HEAD .*: connect E/,
    );
  });

  it("signs requests to what speaks S3 with the keys of the environment", async () => {
    const server = await startServer();
    const keys = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "eu-north-1" };
    try {
      const store = await openStore(`s3+${server.address}/bucket`, { env: keys });
      await store.put(digest, model);
      expect(await checkedGet(store, digest)).toEqual(model);
      expect(server.asked[0]?.authorization).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKID\/\d+\/eu-north-1\/s3\/aws4_request/,
      );
    } finally {
      server.close();
    }
    await expect(openStore("s3+https://host/bucket", { env: {} })).rejects.toThrow("needs AWS_ACCESS_KEY_ID");
  });

  it("is not believed: what arrives must have the digest", async () => {
    const store = createFolderStore(folder);
    await expect(checkedGet(store, digest)).rejects.toThrow(`the model ${digest} is not in the store ${folder}`);
    await writeFile(join(folder, digest), "another model");
    await expect(checkedGet(store, digest)).rejects.toThrow(`has the SHA-256 ${digestOf("another model")}`);
  });

  it("says that a folder cannot be used", async () => {
    await writeFile(join(folder, "file"), "");
    const store = createFolderStore(join(folder, "file"));
    await expect(store.put(digest, model)).rejects.toThrow(/^the store .*file cannot be used: E/);
    await expect(store.get(digest)).rejects.toThrow("ENOTDIR");
  });
});
