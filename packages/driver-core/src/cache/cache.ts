/**
 * Compilation caching for a device over any backend (HAL 1.2 IDevice.prepareModel_1_2, prepareModelFromCache): a failed
 * save does not fail the preparation, and loading accepts only files that the device has sealed.
 */
import type { CacheBlobs, CompileOptions, GraphSource } from "@nnhal/backend";
import { BYTE_SIZE_OF_CACHE_TOKEN, type CompilationCache, type Handle } from "@nnhal/types";
import { hasFields, show } from "@nnhal/validation";
import { failure, invalid, messageOf, type Refusal } from "../guard/refusal.ts";
import { cacheFiles } from "./caching.ts";
import { emptyFile, fillFile, isWritable, readFile, sizeOf } from "./descriptors.ts";
import { type CachedModel, imageOf, isDataOf, modelOf, partOf, readModelPart, structureLength } from "./image.ts";
import { type SealOwner, seal, unseal } from "./seal.ts";

/** The descriptors of a cache. */
interface Files {
  readonly model: number;
  readonly data: number;
}

/** A cache's descriptors and token. */
interface Opened extends Files {
  readonly token: Uint8Array;
}

/** Copies the arguments of a cache, or returns the fault in them. They can be any values. */
function openCache(cache: CompilationCache): Opened | Refusal {
  try {
    if (!hasFields(cache)) {
      return invalid(`the cache: expected an object, got ${show(cache)}`);
    }
    return takeCache(cache);
  } catch (error) {
    return invalid(`the arguments of the cache cannot be read: ${messageOf(error)}`);
  }
}

function takeCache({ modelCache, dataCache, token }: CompilationCache): Opened | Refusal {
  const { numModelCache, numDataCache } = cacheFiles;
  const model = descriptorOf("model cache", modelCache, numModelCache);
  if (typeof model !== "number") return model;
  const data = descriptorOf("data cache", dataCache, numDataCache);
  if (typeof data !== "number") return data;
  if (!(token instanceof Uint8Array) || token.length !== BYTE_SIZE_OF_CACHE_TOKEN) {
    const what = token instanceof Uint8Array ? `${token.length} bytes` : show(token);
    return invalid(`the cache token: expected ${BYTE_SIZE_OF_CACHE_TOKEN} bytes, got ${what}`);
  }
  // A read reports by itself that a descriptor is not open for reading.
  for (const [what, fd] of Object.entries({ "model cache": model, "data cache": data })) {
    if (!isWritable(fd)) return failure(`the ${what}: the file descriptor ${fd} is not open for reading and writing`);
  }
  return { model, data, token: new Uint8Array(token) };
}

function descriptorOf(what: string, handles: readonly Handle[], count: number): number | Refusal {
  if (!Array.isArray(handles) || handles.length !== count) {
    const there = Array.isArray(handles) ? handles.length : show(handles);
    return invalid(`number of handles in the ${what}: expected ${count}, got ${there}`);
  }
  const fds = handles[0]?.fds;
  if (!Array.isArray(fds) || fds.length !== 1) {
    const there = Array.isArray(fds) ? fds.length : show(fds);
    return invalid(`number of file descriptors in ${what}[0]: expected 1, got ${there}`);
  }
  const fd: unknown = fds[0];
  const isDescriptor = typeof fd === "number" && Number.isInteger(fd) && fd >= 0;
  return isDescriptor ? fd : invalid(`${what}[0] has ${show(fd)}, which is not a file descriptor`);
}

/** Saves a prepared model in a cache. Resolves with the reason if it is not saved; never rejects. */
export async function saveToCache(
  cache: CompilationCache,
  source: GraphSource,
  options: CompileOptions,
  serialize: () => Promise<CacheBlobs | Refusal | undefined>,
  owner: SealOwner,
): Promise<string | undefined> {
  try {
    const files = openCache(cache);
    if ("status" in files) return files.message;
    const { token } = files;
    const blobs = await serialize();
    if (blobs !== undefined && "status" in blobs) return blobs.message;
    // A graph from the cache would be compiled without them.
    if (blobs === undefined && options.hints !== undefined)
      return "the model is compiled with hints, which a cache has not";
    const image = imageOf(source, options, blobs);
    const sealed = seal(image.model, token, owner);
    for (const fd of [files.model, files.data]) emptyFile(fd);
    fillFile(files.data, image.data);
    fillFile(files.model, sealed);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Loads the prepared model from a cache, or returns why that is impossible. Never throws. `expected`: the model that the cache should
 * hold, checked. A cache of a model of another structure is refused. If the backend has no data in the cache, only its part is read.
 */
export function loadFromCache(
  cache: CompilationCache,
  owner: SealOwner,
  expected?: GraphSource,
): CachedModel | Refusal {
  try {
    const files = openCache(cache);
    if ("status" in files) return files;
    const file = readAs("model cache", files.model);
    const content = unseal(file, files.token, owner);
    if (content === undefined) {
      const { device, version } = owner;
      return failure(`the model cache is not as ${device}, version ${version}, wrote it for this token`);
    }
    if (expected !== undefined) {
      const structure = structureLength(expected, content);
      if (structure === undefined)
        return failure("the model cache holds a model of another structure than the given one");
      const own = partOf(expected, content, structure);
      if (own !== undefined) return own;
    }
    const part = readModelPart(content);
    const length = sizeOf(files.data);
    if (length !== part.dataLength) {
      return failure(
        `the data cache: expected the ${part.dataLength} bytes that its model cache states, got ${length}`,
      );
    }
    const data = readAs("data cache", files.data);
    return isDataOf(part, data) ? modelOf(part, data) : failure("the data cache is not as it was written");
  } catch (error) {
    return failure(`preparing from a cache: ${messageOf(error)}`);
  }
}

function readAs(what: string, fd: number): Uint8Array {
  try {
    return readFile(fd);
  } catch (error) {
    throw new Error(`${what}: ${messageOf(error)}`);
  }
}
