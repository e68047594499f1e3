/**
 * Where the batches of a queue may have inputs, results and models. All who can write to the queue name them, so that a worker looks before
 * it reads or writes: at the folder in which a file really lies, and at the address to which a connection really goes.
 */
import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { BatchError } from "./task.ts";

/** Which addresses a connection to a store may have: all, or those of the public network. */
export type Reach = "any" | "public";

/** What may be used. */
export interface Places {
  /** Resolves to the real path of a folder, which need not exist. Rejects with a BatchError if it may not be used. `what`: for messages. */
  folder(path: string, what: string): Promise<string>;
  /** Resolves to the real path of the file of an input. Rejects with the system's error, or with a RangeError if it may not be read. */
  file(path: string, root: string): Promise<string>;
  /** Which addresses the server of a URL may have. Throws a BatchError if it may not be used. */
  reach(url: URL): Reach;
}

/** For what the user of this process has named: all may be used. */
export const anyPlace: Places = {
  folder: async (path) => resolve(path),
  file: async (path) => path,
  reach: () => "any",
};

/** Folders that have what the system or its services keep to themselves, except those where users put files. */
const systemFolders = ["/boot", "/dev", "/etc", "/proc", "/run", "/sys"];
const filesOfUsers = ["/dev/shm", "/run/media"];

const remedy = "nnhal-worker --allow names what batches may use";

/**
 * What a worker lets the batches of a queue use. `allowed`: folders and addresses (`http://`, `https://`), with all below them; undefined:
 * folders that are neither the system's nor hidden, and servers of the public network. `own`: what the worker's own options name: it may be
 * used besides. Throws a BatchError if an address is not valid.
 */
export function createPlaces(allowed: readonly string[] | undefined, own: readonly string[] = []): Places {
  const listed = [...(allowed ?? []), ...own];
  const addresses = listed.filter(isAddress).map(addressOf);
  const folders = listed.filter((text) => !isAddress(text)).map(folderOf);
  const isListed = async (real: string) => {
    for (const folder of folders) if (isInside(real, await realOf(folder))) return true;
    return false;
  };
  /** Why a real path may not be used. */
  const problemOf = async (real: string): Promise<string | undefined> => {
    if (await isListed(real)) return undefined;
    if (allowed !== undefined) return `is in none of the allowed folders (${remedy}; ${listed.join(", ")})`;
    const problem = problemOfUnlisted(real);
    return problem && `${problem} (${remedy})`;
  };
  return {
    async folder(path, what) {
      const real = await realOf(resolve(path));
      const problem = await problemOf(real);
      if (problem !== undefined) throw new BatchError(`${what} ${path} ${problem}`);
      return real;
    },
    async file(path, root) {
      const real = await realpath(path);
      const problem =
        isInside(real, await realOf(resolve(root))) || (await isListed(real))
          ? undefined
          : "lies outside of its folder";
      if (problem !== undefined) throw new RangeError(`it ${problem} (${remedy})`);
      const hidden = await problemOf(real);
      if (hidden !== undefined) throw new RangeError(`it ${hidden}`);
      return real;
    },
    reach(url) {
      if (addresses.some((address) => isBelow(url, address))) return "any";
      if (allowed === undefined) return "public";
      throw new BatchError(
        `${url.origin}${url.pathname} is below none of the allowed addresses (${remedy}; ${listed.join(", ")})`,
      );
    },
  };
}

function problemOfUnlisted(real: string): string | undefined {
  if (real === parse(real).root) return "is the whole of the disk";
  // A server of Windows, which would be told who asks.
  if (/^[\\/]{2}/.test(real)) return "is on another machine";
  const isIn = (folder: string) => isInside(real, folder);
  if (sep === "/" && systemFolders.some(isIn) && !filesOfUsers.some(isIn)) return "is in a folder of the system";
  if (real.split(sep).some((part) => part.startsWith("."))) return "is hidden";
  return undefined;
}

/** The real path of what exists of a path, with the rest. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realOf(parent), relative(parent, path));
  }
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

const isAddress = (text: string) => /^(s3\+)?https?:/i.test(text);

function addressOf(text: string): URL {
  const plain = text.replace(/^s3\+/i, "");
  if (URL.canParse(plain)) return new URL(plain);
  throw new BatchError(`expected an address such as https://HOST/PATH, got ${text}`);
}

/** The folder of a path or of a `file:` address. Throws a BatchError. */
export function folderOf(text: string): string {
  try {
    return text.startsWith("file:") ? fileURLToPath(text) : resolve(text);
  } catch (error) {
    throw new BatchError(`expected a folder, got ${text}: ${error instanceof Error ? error.message : error}`);
  }
}

function isBelow(url: URL, address: URL): boolean {
  const base = address.pathname.replace(/\/*$/, "/");
  return url.origin === address.origin && `${url.pathname}/`.startsWith(base);
}
