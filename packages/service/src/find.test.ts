import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findServices } from "./find.ts";
import { socketPath } from "./runtime-directory.ts";

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

it("what is not there is named, with what is", async () => {
  expect(await findServices(join(folder, "empty"), "/")).toEqual({
    none: `there is no such service in ${join(folder, "empty")}: it has none; nnhal-sample-driver starts some`,
  });
  expect(await findServices("no-such-service", folder)).toMatchObject({
    none: expect.stringContaining("no such service"),
  });
});
