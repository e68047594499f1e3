import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "./lock.mjs";

let folder = "";
let path = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-lock-"));
  path = join(folder, "deep", "lock");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("gives the result, and leaves nothing behind, also when the work fails", async () => {
  expect(await withLock(path, () => existsSync(path))).toBe(true);
  await expect(withLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(readdirSync(join(folder, "deep"))).toEqual([]);
});

test("the second of two waits for the first and says for whom, once", async () => {
  const order: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = withLock(path, async () => {
    await held;
    order.push("first");
  });
  const second = withLock(path, () => order.push("second"), {
    onWait: (holder) => {
      order.push(holder);
      setTimeout(release, 500);
    },
  });
  await Promise.all([first, second]);
  expect(order).toEqual([`process ${process.pid}`, "first", "second"]);
});

test("takes over from a dead process of this machine", async () => {
  await withLock(path, () => {});
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  writeFileSync(path, JSON.stringify({ pid: dead, host: hostname() }));
  expect(await withLock(path, () => "taken")).toBe("taken");
});

test("takes over a lock whose holder left no name, once it is old", async () => {
  await withLock(path, () => {});
  writeFileSync(path, "");
  utimesSync(path, new Date(0), new Date(0));
  expect(await withLock(path, () => "taken")).toBe("taken");
});

test("several processes at a dead holder's lock: one at a time", async () => {
  await withLock(path, () => {});
  writeFileSync(path, JSON.stringify({ pid: spawnSync(process.execPath, ["-e", ""]).pid, host: hostname() }));
  const inside = join(folder, "inside");
  const script = `
    import { rmSync, writeFileSync } from "node:fs";
    import { withLock } from ${JSON.stringify(new URL("./lock.mjs", import.meta.url).href)};
    for (let i = 0; i < 3; i++) {
      await withLock(${JSON.stringify(path)}, async () => {
        writeFileSync(${JSON.stringify(inside)}, "", { flag: "wx" });
        await new Promise((resolve) => setTimeout(resolve, 5));
        rmSync(${JSON.stringify(inside)});
      });
    }`;
  const ends = [1, 2, 3].map(
    () =>
      new Promise((resolve) => {
        spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" }).on("exit", resolve);
      }),
  );
  expect(await Promise.all(ends)).toEqual([0, 0, 0]);
  expect(existsSync(path)).toBe(false);
});
