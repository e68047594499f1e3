/** Regular files up to a number of bytes, and nothing else. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readRegularFile } from "./read-regular-file.ts";

const folder = mkdtempSync(join(tmpdir(), "nnhal-read-"));
afterAll(() => rmSync(folder, { recursive: true }));

const isPosix = process.platform !== "win32";
const read = (path: string, most = 100) => readRegularFile(path, most, "a test");

it.each([0, 1, 99, 100])("reads %i bytes of 100 at most", (length) => {
  const path = join(folder, "file");
  const bytes = Uint8Array.from({ length }, (_, place) => place);
  writeFileSync(path, bytes);
  expect(read(path)).toEqual(bytes);
});

it("reads more than it has room for at first", () => {
  const path = join(folder, "large");
  writeFileSync(path, new Uint8Array(100_000).fill(7));
  expect(read(path, 100_000)).toEqual(new Uint8Array(100_000).fill(7));
});

it("refuses a file that is too large, absent, or a folder", () => {
  const path = join(folder, "file");
  writeFileSync(path, new Uint8Array(101));
  expect(() => read(path)).toThrow("it has 101 bytes; 100 are the most");
  expect(() => read(join(folder, "absent"))).toThrow("ENOENT");
  // Windows does not open folders.
  expect(() => read(folder)).toThrow(/it is a folder|EISDIR|EPERM|EACCES/);
});

it.runIf(isPosix)("refuses devices and pipes, and does not wait for them", () => {
  expect(() => read("/dev/zero")).toThrow("it is not a regular file, but a device, pipe or socket");
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  expect(() => read(pipe)).toThrow("it is not a regular file, but a device, pipe or socket");
});

it.runIf(process.platform === "linux")("bounds files that do not say how large they are", () => {
  const text = Buffer.from(read("/proc/self/status", 2 ** 20)).toString();
  expect(text).toMatch(/^Name:[\s\S]*VmRSS:/);
  expect(() => read("/proc/self/status", 100)).toThrow("it has more than 100 bytes; 100 are the most");
});
