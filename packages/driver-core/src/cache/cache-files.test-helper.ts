/**
 * The two files of a cache in a folder of their own, and descriptors of them.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CompilationCache } from "@nnhal/types";

/** Which file. */
export type CacheFile = "model" | "data";

export interface TestCache {
  /** Opens both files, read and written unless flags say otherwise. `token`: every byte of it. */
  open(flags?: Partial<Record<CacheFile, string>>, token?: number): CompilationCache;
  read(file: CacheFile): Uint8Array;
  write(file: CacheFile, bytes: Uint8Array): void;
  /** Closes all opened files and removes the folder. */
  remove(): void;
}

/** Makes two empty files. */
export function createTestCache(): TestCache {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-cache-test-"));
  const pathOf = (file: CacheFile) => join(folder, file);
  const opened: number[] = [];
  const open = (file: CacheFile, flags = "r+") => {
    const fd = openSync(pathOf(file), flags);
    opened.push(fd);
    return [{ fds: [fd] }];
  };
  for (const file of ["model", "data"] as const) writeFileSync(pathOf(file), "");
  return {
    open: (flags = {}, token = 7) => ({
      modelCache: open("model", flags.model),
      dataCache: open("data", flags.data),
      token: new Uint8Array(32).fill(token),
    }),
    read: (file) => new Uint8Array(readFileSync(pathOf(file))),
    write: (file, bytes) => writeFileSync(pathOf(file), bytes),
    remove() {
      opened.forEach(closeSync);
      rmSync(folder, { recursive: true });
    },
  };
}
