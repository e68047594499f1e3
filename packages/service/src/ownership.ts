/**
 * Whose a runtime directory and its sockets are. A daemon serves, and its clients use, only what belongs to their own user: the owner of the
 * directory can put another service in the place of each, which would see all models and inputs.
 */
import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { peerCredentials } from "./shared-memory/peer-credentials.ts";

/** The user of this process; undefined on systems without users of this kind. */
export const ownUser = () => process.getuid?.();

/** The system's own user: it can read and change what any other has. */
const root = 0;

/**
 * Why a runtime directory must not be used; undefined: it may be. `owner`: the user that it is to belong to. Default: the user of this process.
 * If an owner is given, others may open the directory, but not change it, and it may belong to root.
 */
export function directoryProblem(found: Stats, owner?: number): string | undefined {
  if (found.isSymbolicLink()) return "is a symbolic link";
  if (!found.isDirectory()) return "is not a directory";
  // Windows has neither users nor modes of this kind.
  if (ownUser() === undefined) return undefined;
  return ownerProblem(found, owner) ?? modeProblem(found, owner);
}

function ownerProblem({ uid }: Stats, owner: number | undefined): string | undefined {
  return isTrusted(uid, owner) ? undefined : `belongs to user ${uid}, not to user ${owner ?? ownUser()}`;
}

function isTrusted(uid: number, owner: number | undefined): boolean {
  return uid === (owner ?? ownUser()) || (owner !== undefined && uid === root);
}

function modeProblem({ mode }: Stats, owner: number | undefined): string | undefined {
  const text = `has mode 0${(mode & 0o777).toString(8)}: others can`;
  if (owner === undefined) return (mode & 0o077) === 0 ? undefined : `${text} open it; expected 0700`;
  return (mode & 0o022) === 0 ? undefined : `${text} change it; expected 0755 or less`;
}

/** The remedy for a client that means the daemon of another user. */
const remedy = (found: Stats) =>
  `; to use a daemon of user ${found.uid}, name that user as its owner (--driver-owner ${found.uid})`;

/** Why a client must not use a runtime directory; undefined: it may, or there is none. `owner`: see `directoryProblem`. */
export async function clientDirectoryProblem(directory: string, owner?: number): Promise<string | undefined> {
  const found = await statusOf(directory);
  const problem = found && directoryProblem(found, owner);
  if (found === undefined || problem === undefined) return undefined;
  const isOther = found.isDirectory() && ownerProblem(found, owner) !== undefined;
  return `the runtime directory ${directory} ${problem}${isOther ? remedy(found) : ""}`;
}

/** Why a client must not connect to a socket, of its directory or of itself; undefined: it may, or there is none. */
export async function clientSocketProblem(path: string, owner?: number): Promise<string | undefined> {
  const problem = await clientDirectoryProblem(dirname(path), owner);
  if (problem !== undefined) return problem;
  const found = await statusOf(path);
  if (found === undefined) return undefined;
  if (!found.isSocket()) return `${path} is ${found.isSymbolicLink() ? "a symbolic link" : "not a socket"}`;
  const ofAnother = ownUser() === undefined ? undefined : ownerProblem(found, owner);
  return ofAnother === undefined ? undefined : `the socket ${path} ${ofAnother}`;
}

/** Why a client must not say anything to the process at the other end; undefined: it may, or the system does not say who it is. */
export function peerProblem(socket: Socket, owner?: number): string | undefined {
  const peer = peerCredentials(socket);
  if (!("uid" in peer) || isTrusted(peer.uid, owner)) return undefined;
  return `its process belongs to user ${peer.uid}, not to user ${owner ?? ownUser()}`;
}

/** The status of a file, not of what a symbolic link leads to; undefined: there is none. Rejects with the system's error. */
export async function statusOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
