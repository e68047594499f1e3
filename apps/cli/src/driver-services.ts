/** The devices of `--driver`: services of a daemon, in a runtime directory or by name in the default one. */
import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { RemoteEngine } from "./backend-module.ts";
import { usageError } from "./failure.ts";

/** The services of a directory, or the one of a name. Rejects with a usage error if there are none. */
export async function servicesAt(driver: string, cwd: string): Promise<readonly RemoteEngine[]> {
  const { defaultDirectory, listSockets } = await import("@nnhal/service");
  const path = resolve(cwd, driver);
  const isDirectory =
    isAbsolute(driver) || /[/\\]/.test(driver) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const directory = isDirectory ? path : defaultDirectory();
  const names = await listSockets(directory);
  const wanted = isDirectory ? names : names.filter((name) => name === driver);
  if (wanted.length > 0) return wanted.map((name) => serviceOf(name, directory));
  const there = names.length === 0 ? "it has none; nnhal-sample-driver starts some" : `it has ${names.join(", ")}`;
  throw usageError(`--driver ${driver}: there is no such service in ${directory}: ${there}`);
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
