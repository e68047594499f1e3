/**
 * The way in which `nnhal diff` reaches the device: a version of the HAL, a burst, a compilation cache, relaxed arithmetic.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Suspect, Way } from "@nnhal/diff";
import { Burst, type Compilation } from "@nnhal/runtime";
import { canonicalHalVersion, type HalVersion } from "@nnhal/types";
import type { DeviceSelection } from "../devices.ts";
import { loadPackage, usageError } from "../failure.ts";
import type { DiffCommandOptions } from "./options.ts";

/** Devices reached in a way, and the end of what was made for it. */
export interface ReachedDevices {
  readonly suspect: Suspect;
  close(): Promise<void>;
}

/** Reaches devices in the way of the options. Rejects with a usage error if a device cannot be reached so. */
export async function reachDevices(
  { devices, cpu }: DeviceSelection,
  { hal, path, relaxed }: Pick<DiffCommandOptions, "hal" | "path" | "relaxed">,
): Promise<ReachedDevices> {
  if (path === "burst" && hal !== undefined && hal < "1.2")
    throw usageError(`--path burst: expected HAL 1.2 or later, which has bursts, got --hal ${hal}`);
  // Bursts of devices in this process have no queues; those of a driver do.
  const version = path === "burst" ? (hal ?? canonicalHalVersion) : hal;
  const reached = version === undefined ? devices : await devicesThrough(version, devices);
  const sides = { devices: reached, ...(cpu && { cpu }) };
  if (path === "sync" && relaxed !== true) return { suspect: sides, close: async () => {} };
  const cache = path === "cached" ? await cacheFor(reached) : undefined;
  const way: Way = {
    ...(relaxed && { isRelaxed: true }),
    ...(cache && { cache }),
    ...(path === "burst" && { burstOf: (compilation: Compilation) => Burst.create(compilation) }),
  };
  return {
    suspect: { ...sides, way },
    async close() {
      if (cache !== undefined) await rm(cache, { recursive: true, force: true });
    },
  };
}

async function devicesThrough(version: HalVersion, devices: DeviceSelection["devices"]) {
  const { deviceThrough } = await loadPackage(
    ["@nnhal/conformance"],
    "a device behind a version of the HAL",
    () => import("@nnhal/conformance"),
  );
  return devices.map((device) => deviceThrough(version, device));
}

async function cacheFor(devices: DeviceSelection["devices"]): Promise<string> {
  for (const device of devices) {
    const { numModelCache, numDataCache } = device.getNumberOfCacheFilesNeeded();
    if (numModelCache + numDataCache === 0)
      throw usageError(
        `--path cached: expected a device that keeps prepared models, got ${device.name}, which keeps none`,
      );
  }
  return mkdtemp(join(tmpdir(), "nnhal-diff-"));
}

/** Says in which way devices were reached; empty if it is the usual one. */
export function wayText({ hal, path, relaxed }: Pick<DiffCommandOptions, "hal" | "path" | "relaxed">): string {
  const texts = [
    ...(hal === undefined ? [] : [`through HAL ${hal}`]),
    ...(path === "burst" ? ["in a burst"] : path === "cached" ? ["from its cache"] : []),
    ...(relaxed ? ["relaxed"] : []),
  ];
  return texts.length === 0 ? "" : ` (${texts.join(", ")})`;
}
