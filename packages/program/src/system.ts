/** The interface of a daemon to systemd and similar programs: inherited sockets and status notifications. */
import { spawn } from "node:child_process";

/** The first descriptor that a process is started with for a socket. */
const firstDescriptor = 3;

/**
 * The listening sockets that the process was started with, by name. Throws RangeError if the variables are not valid. Empty if they are
 * for another process.
 */
export function inheritedSockets(
  { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES }: NodeJS.ProcessEnv,
  pid = process.pid,
): ReadonlyMap<string, number> {
  if (LISTEN_FDS === undefined || LISTEN_PID !== String(pid)) return new Map();
  const count = Number(LISTEN_FDS);
  if (!/^\d+$/.test(LISTEN_FDS) || count > 1024)
    throw new RangeError(`LISTEN_FDS is ${LISTEN_FDS}, not a number of sockets`);
  const names = (LISTEN_FDNAMES ?? "").split(":");
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const name = names[index];
      if (name === undefined || name === "") {
        throw new RangeError(
          `LISTEN_FDNAMES has no name for socket ${index}: set FileDescriptorName to the name of a device`,
        );
      }
      return [name, firstDescriptor + index] as const;
    }),
  );
}

/** Tells systemd a state, by its own program. Resolves when that is done; never rejects. */
export function notifySystem(state: "--ready" | "--stopping", { NOTIFY_SOCKET }: NodeJS.ProcessEnv): Promise<void> {
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === "") return Promise.resolve();
  return new Promise((resolve) => {
    const child = spawn("systemd-notify", [state], { stdio: "ignore" });
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
}
