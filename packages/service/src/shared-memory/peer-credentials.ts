/** Who is at the other end of a unix socket. */
import type { Socket } from "node:net";
import { type Credentials, linux } from "./linux.ts";

/** Why a peer is not known. */
export interface NoCredentials {
  readonly unknown: string;
}

/**
 * The process at the other end of a connected unix socket, as the system knew it when it connected (SO_PEERCRED). The process
 * can have ended since, and its number can be another's.
 */
export function peerCredentials(socket: Socket): Credentials | NoCredentials {
  const system = linux();
  if ("missing" in system) return { unknown: system.missing };
  const fd = descriptorOf(socket);
  if (fd === undefined) return { unknown: "the socket is not connected" };
  try {
    const credentials = system.credentials(fd);
    // Sockets that are not of this machine have process 0.
    return credentials.pid > 0 ? credentials : { unknown: "the socket is not a unix socket" };
  } catch (error) {
    return { unknown: error instanceof Error ? error.message : String(error) };
  }
}

/** The descriptor of a socket: Node.js has it, but does not document it. */
export function descriptorOf(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, "_handle");
  const fd = typeof handle === "object" && handle !== null ? Reflect.get(handle, "fd") : undefined;
  return typeof fd === "number" && fd >= 0 ? fd : undefined;
}
