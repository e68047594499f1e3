/**
 * Places that a queue names, as a worker handles them: folders, links out of them, addresses, redirections, and endless
 * answers.
 */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readInput } from "./inputs.ts";
import { createPlaces } from "./places.ts";
import { openStore, type StoreLimits } from "./store.ts";
import { digestOf } from "./task.ts";

let folder: string;
const servers: Server[] = [];
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "nnhal-places-")));
  for (const name of ["pictures", "pictures/.hidden", "other", "pictures-more"]) await mkdir(join(folder, name));
  for (const name of ["pictures/a", "pictures/.hidden/a", "other/secret", "pictures-more/a"])
    await writeFile(join(folder, name), name);
  await symlink(join(folder, "other/secret"), join(folder, "pictures/link"));
  await symlink(join(folder, "pictures/a"), join(folder, "pictures/inner"));
  await symlink(join(folder, "other"), join(folder, "pictures/folder"));
});
afterAll(async () => {
  for (const server of servers) server.close().closeAllConnections();
  await rm(folder, { recursive: true });
});

const model = new TextEncoder().encode("a model");
const digest = digestOf(model);

/** A server on loopback, and the requested paths. */
async function serve(listener: RequestListener) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens at a port has an address.
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, named: `http://localhost:${port}`, asked };
}

const get = async (address: string, allowed?: readonly string[], own?: readonly string[], limits?: StoreLimits) =>
  (await openStore(address, { places: createPlaces(allowed, own), limits })).get(digest);

describe.skipIf(process.platform === "win32")("folders", () => {
  const allow = (...names: string[]) => createPlaces(names.map((name) => join(folder, name)));

  it.each([
    "/",
    "/etc",
    "/etc/../etc/ssl",
    "/proc/self/cwd/../root/etc",
    "/dev",
    "/run/secrets",
    join(homedir(), ".ssh"),
  ])("without a list, %s is refused", async (path) => {
    await expect(createPlaces(undefined).folder(path, "the folder")).rejects.toThrow(
      /^the folder \S+ is (the whole of the disk|in a folder of the system|hidden) \(nnhal-worker --allow names/,
    );
    await expect(openStore(`file://${path}`, { places: createPlaces(undefined) })).rejects.toThrow("the store");
  });

  it("without a list, a folder of a user is used, also one that is still to be made, and what the worker's options name", async () => {
    const places = createPlaces(undefined, ["/etc/nnhal"]);
    expect(await places.folder(join(folder, "pictures"), "x")).toBe(join(folder, "pictures"));
    expect(await places.folder(join(folder, "new/results"), "x")).toBe(join(folder, "new/results"));
    expect(await places.folder("/dev/shm/results", "x")).toBe("/dev/shm/results");
    expect(await places.folder("/etc/nnhal/models", "x")).toBe("/etc/nnhal/models");
    await expect(places.folder("/etc/nnhal-2", "x")).rejects.toThrow("in a folder of the system");
  });

  it("with a list, only what is in it, wherever links lead", async () => {
    const places = allow("pictures");
    expect(await places.folder(join(folder, "pictures"), "x")).toBe(join(folder, "pictures"));
    expect(await places.folder(join(folder, "pictures/new"), "x")).toBe(join(folder, "pictures/new"));
    for (const name of ["other", "pictures-more", "pictures/../other", "pictures/folder", "pictures/folder/new", ""])
      await expect(places.folder(join(folder, name), "x"), name).rejects.toThrow("is in none of the allowed folders");
  });

  it("inputs are read from their folder, and from others that are allowed", async () => {
    const root = join(folder, "pictures");
    const read = async (name: string, places = createPlaces(undefined)) =>
      new TextDecoder().decode(await readInput(root, name, places));
    expect(await read("a")).toBe("pictures/a");
    expect(await read("inner")).toBe("pictures/a");
    expect(await read(join(root, "a"))).toBe("pictures/a");
    for (const name of ["link", "../other/secret", "folder/secret", "../pictures-more/a", "/etc/passwd"]) {
      await expect(read(name), name).rejects.toThrow("it lies outside of its folder (nnhal-worker --allow");
      await expect(read(name, allow("pictures")), name).rejects.toThrow("it lies outside of its folder");
    }
    await expect(read(".hidden/a")).rejects.toThrow("it is hidden");
    expect(await read(".hidden/a", allow("pictures"))).toBe("pictures/.hidden/a");
    expect(await read("link", allow("other"))).toBe("other/secret");
    await expect(read("gone")).rejects.toThrow("ENOENT");
  });

  it("a store does not follow a link, nor read what is not a file or too large", async () => {
    const store = (limits?: StoreLimits) => get(join(folder, "store"), undefined, undefined, limits);
    await mkdir(join(folder, "store"));
    await symlink(join(folder, "other/secret"), join(folder, "store", digest));
    await expect(store()).rejects.toThrow("ELOOP");
    await rm(join(folder, "store", digest));
    await mkdir(join(folder, "store", digest));
    await expect(store()).rejects.toThrow("is not a regular file");
    await rm(join(folder, "store", digest), { recursive: true });
    await writeFile(join(folder, "store", digest), model);
    expect(await store({ bytes: model.length })).toEqual(model);
    await expect(store({ bytes: model.length - 1 })).rejects.toThrow("has 7 bytes, and 6 are the most");
  });
});

describe("servers", () => {
  it.each([
    ["ftp://example.com/models", /expected a folder, http\(s\):\/\/ or s3\+https:\/\/ as a store, got ftp:/],
    ["http://example.com/models?x=", /expected the address of a store such as/],
    ["http://example.com/models#", /expected the address of a store such as/],
    ["http://[", /expected the address of a store such as/],
  ])("%j is not an address", async (address, problem) => {
    await expect(get(address, ["http://other.example"])).rejects.toThrow(problem);
  });

  it.each([
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "169.254.169.254",
    "10.0.0.1",
    "0.0.0.0",
  ])("without a list, %s is refused before a connection is made", async (host) => {
    await expect(get(`http://${host}:1/models`)).rejects.toThrow("expected a server of the public network, got");
  });

  it("without a list, a name is refused whose address is not public, and nothing is sent", async () => {
    const { address, named, asked } = await serve((_, response) => response.end(model));
    await expect(get(named)).rejects.toThrow(/got localhost \((127|::1)/);
    expect(asked).toEqual([]);
    // The worker's own store is permitted wherever its user put it.
    expect(await get(named, undefined, [named])).toEqual(model);
    expect(await get(`${address}/a/b`, [`${address}/a`])).toEqual(model);
    expect(asked).toEqual([`/${digest}`, `/a/b/${digest}`]);
  });

  it.each(["/b", "/a/../b", "/a/%2e%2e/b", "/ab", "//a", ""])("with a list, %j is not below /a", async (path) => {
    const { address, asked } = await serve((_, response) => response.end(model));
    await expect(get(`${address}${path}`, [`${address}/a/`])).rejects.toThrow("is below none of the allowed addresses");
    await expect(get(`${address}/a`, [address.replace("http:", "https:")])).rejects.toThrow("below none");
    expect(asked).toEqual([]);
  });

  it("a redirection leads only where a store may be", async () => {
    const inner = await serve((_, response) => response.end(model));
    let location = "";
    const outer = await serve((request, response) => {
      const isAgain = request.url?.startsWith("/again/") === true;
      response.writeHead(302, { location: isAgain ? `${request.url}x` : location }).end();
    });
    const ask = (to: string, ...allowed: string[]) => {
      location = to;
      return get(outer.address, allowed.length > 0 ? [outer.address, ...allowed] : undefined, [outer.address]);
    };
    await expect(ask(inner.address)).rejects.toThrow("expected a server of the public network, got 127.0.0.1");
    await expect(ask(inner.named)).rejects.toThrow("expected a server of the public network, got localhost");
    await expect(ask(inner.address, `${inner.address}/models`)).rejects.toThrow("below none of the allowed addresses");
    await expect(ask("file:///etc/passwd")).rejects.toThrow("expected a redirection to http:// or https://");
    await expect(ask("/again/")).rejects.toThrow("expected at most 5 redirections");
    expect(inner.asked).toEqual([]);
    expect(await ask(`${inner.address}/models`, `${inner.address}/models`)).toEqual(model);
    // A signature is not sent to another server.
    const env = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret" };
    const signed = await openStore(`s3+${outer.address}/bucket`, { env });
    await expect(signed.get(digest)).rejects.toThrow("expected an answer, got a redirection to");
    expect(inner.asked).toEqual(["/models"]);
  });

  it("a body that is endless, too large or slow is given up", async () => {
    const { address } = await serve((request, response) => {
      if (request.url?.startsWith("/large")) response.writeHead(200, { "content-length": "1001" });
      response.write("x");
      if (!request.url?.startsWith("/endless")) return;
      const more = () => {
        while (response.writable && response.write(Buffer.alloc(100)));
      };
      response.on("drain", more).on("error", () => {});
      more();
    });
    const ask = (path: string) => get(`${address}/${path}`, [address], [], { bytes: 1000 });
    await expect(ask("endless")).rejects.toThrow("expected at most 1000 bytes, got more");
    await expect(ask("large")).rejects.toThrow("expected at most 1000 bytes, got 1001");
    await expect(get(address, [address], [], { silence: 200 })).rejects.toThrow("cannot be used");
    await expect(get(address, [address], [], { silence: 60_000, time: 200 })).rejects.toThrow(
      "expected the whole answer within 0.2 s",
    );
  });
});
