/**
 * The ways to prepare a model: the plain call, a launch with a callback, and from a cache that the plain call has written before.
 */
import { asV1_3, liftDevice } from "@nnhal/driver-core/versions";
import {
  BYTE_SIZE_OF_CACHE_TOKEN,
  type CompilationCache,
  type Device,
  ErrorStatus,
  type Model,
  type PrepareResult,
} from "@nnhal/types";
import { type CacheFiles, createCacheFiles } from "../cache-files.ts";
import type { ExecutionPath } from "./path.ts";

/** The answer to a preparation, or why the device has no such one. */
export type PreparePathResult = PrepareResult | { readonly unsupported: string };

/** Prepares models, one after the other. */
export interface Preparer {
  prepare(model: Model): Promise<PreparePathResult>;
  /** Removes the cache files that the preparation needed. */
  close(): void;
}

/** Prepares models as a path wants it. */
export function createPreparer(path: ExecutionPath, device: Device): Preparer {
  if (path === "async") return makePreparer(liftDevice(device.name, asV1_3(device), { synchronous: false }));
  if (path !== "cached") return makePreparer(device);
  const { prepareModelFromCache } = device;
  let files: CacheFiles | undefined;
  let prepared = 0;
  return {
    async prepare(model) {
      const counts = device.getNumberOfCacheFilesNeeded();
      if (prepareModelFromCache === undefined || counts.numModelCache + counts.numDataCache === 0) {
        return { unsupported: "the device keeps no prepared models" };
      }
      // All models have the same files, and each a separate token.
      files ??= createCacheFiles(counts);
      const token = new Uint8Array(BYTE_SIZE_OF_CACHE_TOKEN);
      new DataView(token.buffer).setUint32(0, prepared++);
      const { modelCache, dataCache } = files;
      return throughCache(device, model, { modelCache, dataCache, token });
    },
    close: () => files?.remove(),
  };
}

function makePreparer(device: Device): Preparer {
  return { prepare: (model) => device.prepareModel(model), close() {} };
}

async function throughCache(device: Device, model: Model, cache: CompilationCache): Promise<PreparePathResult> {
  const saved = await device.prepareModel(model, { cache });
  if (saved.preparedModel === null) return saved;
  saved.preparedModel.close();
  const loaded = await device.prepareModelFromCache?.(cache);
  // A driver may choose not to keep a model.
  if (loaded === undefined || loaded.status === ErrorStatus.GENERAL_FAILURE) {
    return { unsupported: `the device did not keep the model: ${loaded?.message ?? "no reason is given"}` };
  }
  return loaded;
}
