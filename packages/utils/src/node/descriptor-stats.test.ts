import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { descriptorStats } from "./descriptor-stats.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "nnhal-stats-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A package behind a symbolic link, as pnpm installs it, and a function that says where `require` finds it. */
function linkedPackage(): () => string {
  mkdirSync(join(folder, "store"));
  mkdirSync(join(folder, "node_modules"));
  writeFileSync(join(folder, "store/first.cjs"), "");
  writeFileSync(join(folder, "store/second.cjs"), "");
  symlinkSync(join(folder, "store"), join(folder, "node_modules/linked"), "junction");
  const { resolve } = createRequire(join(folder, "index.cjs"));
  // The first look-up caches facts about the folders, which the second one uses.
  expect(resolve("linked/first.cjs")).toBe(join(folder, "store/first.cjs"));
  return () => resolve("linked/second.cjs");
}

describe("descriptorStats", () => {
  it("returns the facts of a file", () => {
    const path = join(folder, "file");
    writeFileSync(path, "12345");
    const fd = openSync(path, "r");
    try {
      const { size, uid, mode } = descriptorStats(fd, "a test");
      expect(descriptorStats(fd, "a test").isFile()).toBe(true);
      expect({ size: Number(size), uid: Number(uid), mode: Number(mode) }).toMatchObject({
        size: 5,
        uid: fstatSync(fd).uid,
      });
    } finally {
      closeSync(fd);
    }
    expect(() => descriptorStats(fd, "a test")).toThrow("EBADF");
  });

  it.skipIf(process.platform === "win32")(
    "lets modules behind symbolic links be found after a look at a socket",
    async () => {
      const found = linkedPackage();
      const server = createServer();
      const path = join(folder, "socket");
      await new Promise<void>((resolve) => server.listen(path, resolve));
      const socket = await new Promise<Socket>((resolve) => {
        const connecting: Socket = connect(path, () => resolve(connecting));
      });
      try {
        const { fd } = Reflect.get(socket, "_handle") as { fd: number };
        expect(descriptorStats(fd, "a test").isSocket()).toBe(true);
        expect(found()).toBe(join(folder, "store/second.cjs"));
      } finally {
        socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  );
});
