/**
 * The places where the batches of a queue may have inputs, results and models. Anyone who can write to the queue can name them,
 * so a worker checks before it reads or writes: the folder in which a file really lies, and the address to which a connection
 * really goes.
 */
import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { BatchError } from "./task.ts";

/** Permitted addresses of a connection to a store: all, or those of the public network. */
export type Reach = "any" | "public";

/** Checks of the places that may be used. */
export interface Places {
  /**
   * Resolves to the real path of a folder, which need not exist. Rejects with a BatchError if it is not permitted. `what`: for
   * messages.
   */
  folder(path: string, what: string): Promise<string>;
  /**
   * Resolves to the real path of the file of an input. Rejects with the system's error, or with a RangeError if reading it is
   * not permitted.
   */
  file(path: string, root: string): Promise<string>;
  /** Returns the permitted addresses of a URL's server. Throws a BatchError if the URL is not permitted. */
  reach(url: URL): Reach;
}

/** Permits all places: for those that the user of this process has named. */
export const anyPlace: Places = {
  folder: async (path) => resolve(path),
  file: async (path) => path,
  reach: () => "any",
};

/** Folders that the system or its services use, except those where users put files. */
const systemFolders = ["/boot", "/dev", "/etc", "/proc", "/run", "/sys"];
const filesOfUsers = ["/dev/shm", "/run/media"];

const remedy = "nnhal-worker --allow names what batches may use";

/**
 * Creates the checks of the places that a worker lets the batches of a queue use. `allowed`: folders and addresses (`http://`,
 * `https://`), with everything below them; undefined: folders that are neither the system's nor hidden, and servers of the
 * public network. `own`: places in the worker's options, which are permitted too. Throws a BatchError if an address is not
 * valid.
 */
export function createPlaces(allowed: readonly string[] | undefined, own: readonly string[] = []): Places {
  const listed = [...(allowed ?? []), ...own];
  const addresses = listed.filter(isAddress).map(addressOf);
  const folders = listed.filter((text) => !isAddress(text)).map(folderOf);
  const isListed = async (real: string) => {
    for (const folder of folders) if (isInside(real, await realOf(folder))) return true;
    return false;
  };
  /** Returns the reason why a real path is not permitted. */
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
  // A server of Windows, which would learn who asks.
  if (/^[\\/]{2}/.test(real)) return "is on another machine";
  const isIn = (folder: string) => isInside(real, folder);
  if (sep === "/" && systemFolders.some(isIn) && !filesOfUsers.some(isIn)) return "is in a folder of the system";
  if (real.split(sep).some((part) => part.startsWith("."))) return "is hidden";
  return undefined;
}

/** Returns the real path of the existing part of a path, with the rest. */
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

/** Returns the folder of a path or of a `file:` address. Throws a BatchError. */
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
