/**
 * The runtime directory: one unix socket for each service, named as the device. The directory belongs to one user alone, since who can
 * connect to a socket in it can use the devices. Sockets of daemons that are dead are removed; nothing else is.
 */
import { randomUUID } from "node:crypto";
import { chmod, link, lstat, mkdir, readdir, rename, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { directoryProblem, ownUser, statusOf } from "./ownership.ts";

/** Why a directory or a socket cannot be used. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
}

/** Where the default directory is looked for. */
export interface RuntimeEnvironment {
  readonly XDG_RUNTIME_DIR?: string | undefined;
}

/** Most bytes of the path of a unix socket on Linux, without the closing zero. macOS has 103. */
const longestSocketPath = process.platform === "darwin" ? 103 : 107;

/** Valid names of services. The name becomes that of a file. */
const serviceName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** `$XDG_RUNTIME_DIR/nnhal`, else a directory of the user under the temporary directory. */
export function defaultDirectory({ XDG_RUNTIME_DIR: runtime }: RuntimeEnvironment = process.env): string {
  if (runtime !== undefined && runtime !== "") return join(runtime, "nnhal");
  return join(tmpdir(), `nnhal-${ownUser() ?? "user"}`);
}

/**
 * Makes the directory, for its owner alone, or checks one that exists. `isShared`: other users may connect, so that they must be able to open
 * it. Rejects with a RegistryError if it is a symbolic link, belongs to another user, or others can open it; a shared one: can change it.
 */
export async function openDirectory(directory: string, { isShared = false } = {}): Promise<string> {
  const path = resolve(directory);
  try {
    const made = await mkdir(path, { recursive: true, mode: isShared ? 0o755 : 0o700 });
    // Whatever the process lets others do with new files.
    if (isShared && made !== undefined) await chmod(path, 0o755);
  } catch (error) {
    throw new RegistryError(`the runtime directory ${path} cannot be made: ${messageOf(error)}`);
  }
  const found = await lstat(path);
  const problem = directoryProblem(found, isShared ? ownUser() : undefined);
  if (problem !== undefined) throw new RegistryError(`the runtime directory ${path} ${problem}`);
  return path;
}

/** The path of the socket of a service. Throws a RegistryError for a name that is not valid. */
export function socketPath(directory: string, name: string): string {
  if (!serviceName.test(name)) {
    const rule = "letters, digits, _, . and -, at most 64, the first a letter or a digit";
    throw new RegistryError(`${JSON.stringify(name)} is not a valid name of a service: ${rule}`);
  }
  const path = join(directory, name);
  const length = Buffer.byteLength(path);
  if (length > longestSocketPath) {
    throw new RegistryError(`the socket ${path} has a path of ${length} bytes; ${longestSocketPath} are the most`);
  }
  return path;
}

/**
 * Makes room for a socket: removes one whose daemon is dead. Rejects with a RegistryError if a daemon serves it, or the file is
 * not a socket of this user.
 */
export async function removeStale(path: string): Promise<void> {
  const found = await statusOf(path);
  if (found === undefined) return;
  if (!found.isSocket()) throw new RegistryError(`${path} exists and is not a socket`);
  const user = ownUser();
  if (user !== undefined && found.uid !== user) {
    throw new RegistryError(`the socket ${path} belongs to user ${found.uid}, not to user ${user}`);
  }
  if (await isServed(path)) throw new RegistryError(`the socket ${path} is served by another process`);
  // Another daemon can have replaced it since: the moved socket is tried again, and put back if it is alive.
  const aside = join(path, "..", `.${randomUUID().slice(0, 8)}`);
  await rename(path, aside).catch(ignoreMissing);
  if ((await statusOf(aside)) === undefined) return;
  try {
    if (!(await isServed(aside))) return;
    await link(aside, path);
  } finally {
    await unlink(aside).catch(ignoreMissing);
  }
  throw new RegistryError(`the socket ${path} is served by another process`);
}

/** Lets only the owner connect, or all users, on systems that look at the mode of a socket. */
export async function protectSocket(path: string, { isShared = false } = {}): Promise<void> {
  if (ownUser() !== undefined) await chmod(path, isShared ? 0o666 : 0o600);
}

/** The names of sockets in a directory, in order; none if it does not exist. */
export async function listSockets(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    ignoreMissing(error);
    return [];
  });
  const names = entries.filter((entry) => entry.isSocket() && isService(entry.name)).map(({ name }) => name);
  return names.sort();
}

/** Sockets for descriptors are next to those of services. */
function isService(name: string): boolean {
  return serviceName.test(name) && !name.endsWith(".descriptors");
}

/** Returns whether a process listens at a socket. */
export function isServed(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" || error.code === "ENOENT") resolve(false);
      // A full queue of connections is of a process that is alive.
      else if (error.code === "EAGAIN") resolve(true);
      else reject(new RegistryError(`the socket ${path} cannot be asked: ${error.message}`));
    });
  });
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
