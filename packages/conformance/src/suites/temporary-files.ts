/**
 * Files that cases make: each is gone when its case is over.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench } from "./bench.ts";

/** A file of a case. */
export interface TemporaryFile {
  readonly path: string;
  /** A descriptor, closed when the case is over. */
  open(flags: "r" | "r+" | "w" | "a"): number;
}

/** A folder that is removed when the case is over. */
export function temporaryFolder(bench: Pick<Bench, "after">): string {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-conformance-"));
  bench.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a file with some content, in a new folder unless one is given. */
export function temporaryFile(
  bench: Pick<Bench, "after">,
  content: Uint8Array = new Uint8Array(0),
  path = join(temporaryFolder(bench), "file"),
): TemporaryFile {
  writeFileSync(path, content);
  return {
    path,
    open(flags) {
      const fd = openSync(path, flags);
      bench.after(() => closeSync(fd));
      return fd;
    },
  };
}
