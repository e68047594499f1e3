/** The devices of `--driver`: services of a daemon, in a runtime directory, by the path of a socket, or by name in the default directory. */
import type { RemoteEngine } from "./backend-module.ts";
import { usageError } from "./failure.ts";

/** The services of a directory, the one of a name, or the one of a socket. Rejects with a usage error if there are none. */
export async function servicesAt(driver: string, cwd: string, owner?: number): Promise<readonly RemoteEngine[]> {
  const { findServices } = await import("@nnhal/service");
  const found = await findServices(driver, cwd, owner);
  if ("none" in found) throw usageError(`--driver ${driver}: ${found.none}`);
  return found.names.map((name) => serviceOf(name, found.directory, owner));
}

function serviceOf(name: string, directory: string, owner: number | undefined): RemoteEngine {
  return {
    device: name,
    module: directory,
    async connect() {
      const { connectService } = await import("@nnhal/service");
      const device = await connectService(name, { directory, owner });
      if ("unavailable" in device) return device;
      const { memoryWay: way } = device;
      return { device, memory: way.kind === "shared" ? "shared" : `copied: ${way.reason}` };
    },
  };
}
