/** The places where models compute: worker threads, or a daemon. */
import { availableParallelism } from "node:os";
import type { LoadOptions } from "@nnhal/network";
import { connectService, findServices } from "@nnhal/service";
import type { Opening } from "./open-model.ts";
import { openRunner, type Runner, zeroInputs } from "./runner.ts";

/** Opens models, each in a separate worker thread. `engines`, `extensions`: names of modules. */
export function openInWorkers(
  engines: readonly string[],
  extensions: readonly string[],
): (opening: Opening) => Promise<Runner> {
  return ({ file, signature, settings }) =>
    openRunner(file, {
      ...shapesOf(settings),
      devices: settings.devices,
      worker: true,
      threads: threadsOf(settings),
      extensions,
      ...(signature !== undefined && { signature }),
      ...(engines.length > 0 && { engines }),
    });
}

/**
 * Opens models on devices of a daemon, each with a separate connection. `owner`: user id of the daemon's owner (default: the
 * user of this process). `extensions`: names of modules; the daemon's devices compute their operations. Rejects if there is no such daemon.
 */
export async function openInDriver(
  driver: string,
  cwd: string,
  owner?: number,
  extensions: readonly string[] = [],
): Promise<(opening: Opening) => Promise<Runner>> {
  const found = await findServices(driver, cwd, owner);
  if ("none" in found) throw new Error(`--driver ${driver}: ${found.none}`);
  const { directory, names } = found;
  return async ({ file, signature, settings }) => {
    const wanted = settings.devices === "auto" ? names.slice(0, 1) : settings.devices.split(",");
    const connected = await Promise.all(
      wanted.map((name) => connectService(name, { directory, owner, keepAlive: true })),
    );
    const closeAll = () => {
      for (const device of connected) if (!("unavailable" in device)) device.close();
    };
    try {
      const devices = connected.map((device) => {
        if ("unavailable" in device) throw new Error(device.unavailable);
        return device;
      });
      const runner = await openRunner(file, {
        ...shapesOf(settings),
        devices,
        extensions,
        ...(signature !== undefined && { signature }),
      });
      return {
        ...runner,
        // A model that was prepared in a daemon ends with it, which only a run shows.
        isAlive: () =>
          runner.run(zeroInputs(runner.description), {}).then(
            () => true,
            () => false,
          ),
        async close() {
          await runner.close();
          closeAll();
        },
      };
    } catch (error) {
      closeAll();
      throw error;
    }
  };
}

/**
 * Returns the number of threads of an engine; undefined: its default. Several instances that each use all processors compute no
 * more than one does.
 */
export function threadsOf({ threads, instances }: Opening["settings"]): number | undefined {
  if (threads > 0) return threads;
  return instances === 1 ? undefined : Math.max(1, Math.floor(availableParallelism() / instances));
}

/** Returns the options for open extents. Requests are joined along extents that are open. */
function shapesOf({ maxBatch, dynamicShapes }: Opening["settings"]): Pick<LoadOptions, "dynamicShapes"> {
  return { dynamicShapes: dynamicShapes || maxBatch > 1 };
}
