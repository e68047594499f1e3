import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { findServices } from "./find.ts";
import { defaultDirectory, socketPath } from "./runtime-directory.ts";

let folder: string;
const servers: Server[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-find-"));
  mkdirSync(join(folder, "run"), { mode: 0o700 });
  mkdirSync(join(folder, "empty"), { mode: 0o700 });
  for (const name of ["one", "two"]) {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(socketPath(join(folder, "run"), name), resolve));
  }
});
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

it("a directory has all its services", async () => {
  const directory = join(folder, "run");
  const names = expect.arrayContaining(["one", "two"]);
  expect(await findServices(directory, "/")).toEqual({ directory, names });
  expect(await findServices("./run", folder)).toEqual({ directory, names });
  expect(await findServices("run", folder)).toEqual({ directory, names });
});

it("a socket is its service", async () => {
  const directory = join(folder, "run");
  expect(await findServices(socketPath(directory, "two"), "/")).toEqual({ directory, names: ["two"] });
});

it("what is not there is named, with what would help", async () => {
  const empty = join(folder, "empty");
  expect(await findServices(empty, "/")).toEqual({
    none: `no daemon has its sockets in ${empty}: nnhal-sample-driver --dir ${empty} starts one`,
  });
  const file = fileURLToPath(import.meta.url);
  expect(await findServices(file, "/")).toEqual({
    none: `${file} is neither a runtime directory of a daemon nor a socket in one`,
  });
});

it("a name is looked up in the default directory", async () => {
  vi.stubEnv("XDG_RUNTIME_DIR", folder);
  const directory = defaultDirectory();
  expect(await findServices("three", "/")).toEqual({
    none: `no daemon has its sockets in ${directory}: nnhal-sample-driver starts one; for another directory, name its path`,
  });
  renameSync(join(folder, "run"), directory);
  expect(await findServices("two", "/")).toEqual({ directory, names: ["two"] });
  expect(await findServices("three", "/")).toEqual({
    none: expect.stringMatching(/^there is no such service in .*: it has (one, two|two, one)$/),
  });
  vi.unstubAllEnvs();
});
