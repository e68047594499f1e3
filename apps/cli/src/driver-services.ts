/** The devices of `--driver`: services of a daemon, in a runtime directory, by the path of a socket, or by name in the default directory. */
import { statSync } from "node:fs";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import type { RemoteEngine } from "./backend-module.ts";
import { usageError } from "./failure.ts";

/** The services of a directory, the one of a name, or the one of a socket. Rejects with a usage error if there are none. */
export async function servicesAt(driver: string, cwd: string): Promise<readonly RemoteEngine[]> {
  const { defaultDirectory, listSockets } = await import("@nnhal/service");
  const path = resolve(cwd, driver);
  const found = statSync(path, { throwIfNoEntry: false });
  const isPath = isAbsolute(driver) || /[/\\]/.test(driver) || found?.isDirectory() === true;
  if (isPath && found?.isSocket() === true) return [serviceOf(basename(path), dirname(path))];
  if (isPath && found?.isDirectory() === false) {
    throw usageError(`--driver ${driver}: ${path} is neither a runtime directory of a daemon nor a socket in one`);
  }
  const directory = isPath ? path : defaultDirectory();
  const names = await listSockets(directory);
  const wanted = isPath ? names : names.filter((name) => name === driver);
  if (wanted.length > 0) return wanted.map((name) => serviceOf(name, directory));
  const there = isPath
    ? `no daemon has its sockets in ${directory}: nnhal-sample-driver --dir ${directory} starts one`
    : names.length > 0
      ? `there is no such service in ${directory}: it has ${names.join(", ")}`
      : `no daemon has its sockets in ${directory}: nnhal-sample-driver starts one; for another directory, name its path`;
  throw usageError(`--driver ${driver}: ${there}`);
}

function serviceOf(name: string, directory: string): RemoteEngine {
  return {
    device: name,
    module: directory,
    async connect() {
      const { connectService } = await import("@nnhal/service");
      const device = await connectService(name, { directory });
      if ("unavailable" in device) return device;
      const { memoryWay: way } = device;
      return { device, memory: way.kind === "shared" ? "shared" : `copied: ${way.reason}` };
    },
  };
}
