/** Folders of prepared models: files that are cut, changed, replaced by links, pipes and folders, or of another model. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { mutantOf, type Reader, readerSurface } from "../reader/reader.ts";
import { sumsOf } from "./import.ts";

const memory = 256 * 2 ** 20;

/** Does harm to a file of a cache. `other`: the file of another model. */
type Harm = (path: string, other: string, random: () => number) => void;

const replace =
  (make: (path: string) => void): Harm =>
  (path) => {
    rmSync(path);
    make(path);
  };

const harms: Readonly<Record<string, Harm>> = {
  changed: (path, _, random) => writeFileSync(path, mutantOf(new Uint8Array(readFileSync(path)), random)),
  empty: (path) => writeFileSync(path, ""),
  "of-another": (path, other) => copyFileSync(other, path),
  "dangling-link": replace((path) => symlinkSync("/nowhere/at/all", path)),
  "endless-link": replace((path) => symlinkSync("/dev/zero", path)),
  pipe: replace((path) => void execFileSync("mkfifo", [path])),
  folder: replace((path) => void mkdirSync(path)),
};

export const cachesSurface = readerSurface(
  { name: "caches", says: "folders of prepared models, used by a program", memory },
  (reader) =>
    Object.entries(harms).map(([name, harm]) => ({
      name: `cache-${name}`,
      send: (random) => attackCache(reader, harm, random),
    })),
);

async function attackCache({ folder, read }: Reader, harm: Harm, random: () => number): Promise<void> {
  const [path, otherPath] = [join(folder, "model.tflite"), join(folder, "other.tflite")];
  writeFileSync(path, sumsOf(1));
  writeFileSync(otherPath, sumsOf(2));
  const [cache, otherCache] = [mkdtempSync(join(folder, "cache-")), mkdtempSync(join(folder, "cache-"))];
  await read({ read: "model", path, cache });
  await read({ read: "model", path: otherPath, cache: otherCache });
  const filesIn = (parent: string) =>
    readdirSync(parent, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const [other] = filesIn(otherCache);
  if (other === undefined) throw new Error("nothing was kept in the cache");
  for (const file of filesIn(cache)) harm(join(file.parentPath, file.name), join(other.parentPath, other.name), random);
  const result = await read({ read: "model", path, cache });
  // 3 + 3: a cache may fail, and is never believed.
  if (String(result) !== "6") throw new Error(`3 + 3 is ${result}`);
  rmSync(cache, { recursive: true });
  rmSync(otherCache, { recursive: true });
}
