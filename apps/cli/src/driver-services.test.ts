import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { servicesAt } from "./driver-services.ts";

let folder: string;
const servers: Server[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-driver-"));
  mkdirSync(join(folder, "run"), { mode: 0o700 });
  mkdirSync(join(folder, "empty"), { mode: 0o700 });
  writeFileSync(join(folder, "file"), "");
  for (const name of ["a", "b"]) {
    // A client that connects is sent away at once.
    const server = createServer((socket) => socket.destroy());
    servers.push(server);
    server.listen(join(folder, "run", name));
    await once(server, "listening");
  }
});
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(process.platform === "win32")("--driver", () => {
  it.each([
    ["run", ["a", "b"]],
    ["./run", ["a", "b"]],
    ["run/b", ["b"]],
  ])("%s names services", async (driver, names) => {
    const services = await servicesAt(driver, folder);
    expect(services.map(({ device, module }) => [device, module])).toEqual(
      names.map((name) => [name, join(folder, "run")]),
    );
  });

  it.each([
    ["./none", "no daemon has its sockets in FOLDER/none: nnhal-sample-driver --dir FOLDER/none starts one"],
    ["empty", "no daemon has its sockets in FOLDER/empty: nnhal-sample-driver --dir FOLDER/empty starts one"],
    ["./file", "FOLDER/file is neither a runtime directory of a daemon nor a socket in one"],
    ["run/c", "no daemon has its sockets in FOLDER/run/c"],
  ])("%s names none", async (driver, message) => {
    const text = `--driver ${driver}: ${message.replaceAll("FOLDER", folder)}`;
    await expect(servicesAt(driver, folder)).rejects.toThrow(text);
  });

  it("names a service in the default directory, and says which ones there are", async () => {
    const before = process.env.XDG_RUNTIME_DIR;
    try {
      process.env.XDG_RUNTIME_DIR = join(folder, "empty");
      const place = join(folder, "empty", "nnhal");
      await expect(servicesAt("a", folder)).rejects.toThrow(
        `no daemon has its sockets in ${place}: nnhal-sample-driver`,
      );
      mkdirSync(place, { mode: 0o700 });
      const server = createServer();
      servers.push(server);
      server.listen(join(place, "c"));
      await once(server, "listening");
      await expect(servicesAt("a", folder)).rejects.toThrow(`there is no such service in ${place}: it has c`);
      expect(await servicesAt("c", folder)).toHaveLength(1);
    } finally {
      if (before === undefined) delete process.env.XDG_RUNTIME_DIR;
      else process.env.XDG_RUNTIME_DIR = before;
    }
  });

  it("says why a service cannot be used", async () => {
    const [service] = await servicesAt("run/a", folder);
    const unavailable = expect.stringContaining(`connecting to a in ${join(folder, "run")}: `);
    expect(await service?.connect()).toEqual({ unavailable });
  });
});
