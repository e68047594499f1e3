/**
 * The files of compilation caches, in a folder of their own that is removed afterwards.
 */
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CompilationCache, Device, Handle } from "@nnhal/types";

/** Numbers of files that a device needs; as `Device.getNumberOfCacheFilesNeeded` says. */
export type CacheFileCounts = Pick<ReturnType<Device["getNumberOfCacheFilesNeeded"]>, "numModelCache" | "numDataCache">;

/** Files that are open for reading and writing, empty at first. */
export interface CacheFiles extends Omit<CompilationCache, "token"> {
  /** Closes and removes them. */
  remove(): void;
}

/** Makes the files of one cache. */
export function createCacheFiles({ numModelCache, numDataCache }: CacheFileCounts): CacheFiles {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-cache-"));
  const open = (kind: string, count: number): Handle[] =>
    Array.from({ length: count }, (_, index) => ({ fds: [openSync(join(folder, `${kind}${index}`), "w+")] }));
  const modelCache = open("model", numModelCache);
  const dataCache = open("data", numDataCache);
  return {
    modelCache,
    dataCache,
    remove() {
      for (const { fds } of [...modelCache, ...dataCache]) fds.forEach(closeSync);
      rmSync(folder, { recursive: true });
    },
  };
}
