import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defaultDirectory, listSockets, openDirectory, removeStale, socketPath } from "./runtime-directory.ts";

let folder: string;
const servers: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-dir-"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function listen(path: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  servers.push(server);
  server.listen(path);
  await once(server, "listening");
}

/** A socket whose process was killed. */
async function deadSocket(path: string): Promise<void> {
  const script = `require("node:net").createServer().listen(process.argv[1], () => process.stdout.write("x"))`;
  const child = spawn(process.execPath, ["-e", script, path], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(lstatSync(path).isSocket()).toBe(true);
}

describe("the default directory", () => {
  it("is in XDG_RUNTIME_DIR if that is set", () => {
    expect(defaultDirectory({ XDG_RUNTIME_DIR: "/run/user/7" })).toBe("/run/user/7/nnhal");
    expect(defaultDirectory({ XDG_RUNTIME_DIR: "" })).toBe(join(tmpdir(), `nnhal-${process.getuid?.()}`));
    expect(defaultDirectory({})).toBe(join(tmpdir(), `nnhal-${process.getuid?.()}`));
  });
});

describe("openDirectory", () => {
  it("makes it for the owner alone, and takes it again", async () => {
    const path = join(folder, "a", "b");
    expect(await openDirectory(path)).toBe(path);
    expect(lstatSync(path).mode & 0o777).toBe(0o700);
    expect(await openDirectory(path)).toBe(path);
  });

  it.each([0o750, 0o705, 0o701])("refuses one that others can open: mode %o", async (mode) => {
    const path = join(folder, "open");
    mkdirSync(path);
    chmodSync(path, mode);
    await expect(openDirectory(path)).rejects.toThrow(
      `has mode 0${mode.toString(8)}: others can open it; expected 0700`,
    );
  });

  it("refuses a symbolic link and a file", async () => {
    mkdirSync(join(folder, "real"), { mode: 0o700 });
    symlinkSync(join(folder, "real"), join(folder, "link"));
    await expect(openDirectory(join(folder, "link"))).rejects.toThrow("is a symbolic link");
    writeFileSync(join(folder, "file"), "");
    await expect(openDirectory(join(folder, "file"))).rejects.toThrow("cannot be made");
  });
});

describe("socketPath", () => {
  it("is the name in the directory", () => {
    expect(socketPath("/run/nnhal", "nnapi-sample_all")).toBe("/run/nnhal/nnapi-sample_all");
    expect(socketPath("/r", "a".repeat(64))).toBe(`/r/${"a".repeat(64)}`);
  });

  it.each(["", "a/b", "..", ".hidden", "a b", "-a", "a".repeat(65)])("refuses the name %j", (name) => {
    expect(() => socketPath("/run/nnhal", name)).toThrow("is not a valid name of a service");
  });

  it("refuses a path that is too long for a socket", () => {
    const room = 107 - "/".length - "service".length;
    if (process.platform === "linux") {
      expect(socketPath(`/${"d".repeat(room - 1)}`, "service")).toHaveLength(107);
    }
    expect(() => socketPath(`/${"d".repeat(room)}`, "service")).toThrow("has a path of 108 bytes");
  });
});

describe("removeStale", () => {
  it("does nothing if there is no socket", async () => {
    await removeStale(join(folder, "none"));
    expect(await listSockets(folder)).toEqual([]);
  });

  it("removes the socket of a daemon that was killed", async () => {
    const path = join(folder, "dead");
    await deadSocket(path);
    await removeStale(path);
    expect(existsSync(path)).toBe(false);
    await listen(path);
    expect(await listSockets(folder)).toEqual(["dead"]);
  });

  it("leaves a socket that is served", async () => {
    const path = join(folder, "alive");
    await listen(path);
    await expect(removeStale(path)).rejects.toThrow(`the socket ${path} is served by another process`);
    expect(lstatSync(path).isSocket()).toBe(true);
  });

  it("leaves what is not a socket, and what a symbolic link leads to", async () => {
    writeFileSync(join(folder, "file"), "");
    await expect(removeStale(join(folder, "file"))).rejects.toThrow("exists and is not a socket");
    await deadSocket(join(folder, "dead"));
    symlinkSync(join(folder, "dead"), join(folder, "link"));
    await expect(removeStale(join(folder, "link"))).rejects.toThrow("exists and is not a socket");
    expect(existsSync(join(folder, "file"))).toBe(true);
    expect(lstatSync(join(folder, "dead")).isSocket()).toBe(true);
  });
});

it("lists sockets of services, not those for descriptors nor other files", async () => {
  await listen(join(folder, "b"));
  await listen(join(folder, "a"));
  await listen(join(folder, "a.descriptors"));
  writeFileSync(join(folder, "c"), "");
  expect(await listSockets(folder)).toEqual(["a", "b"]);
  expect(await listSockets(join(folder, "none"))).toEqual([]);
});
