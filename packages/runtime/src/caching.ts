/**
 * Compilation caching: the files of a directory that hold prepared models, which are tried before a model is prepared again.
 * Names and tokens are derived as in Android, from the application's token and everything that the result depends on.
 */
import type { Plan } from "@nnhal/driver-core/partition";
import {
  type CompilationCache,
  ErrorStatus,
  ExecutionPreference,
  ExtensionTypeEncoding,
  type Handle,
  type Hints,
  type Model,
  type PrepareOptions,
  Priority,
} from "@nnhal/types";
import type { Logger } from "@nnhal/utils";
import { encode, modelStructure } from "@nnhal/utils/codec";
import { nodeModule, optionalNodeModule } from "@nnhal/utils/node";
import type { GuardedDevice, GuardedPrepareResult } from "./guard/device.ts";

const purpose = "a compilation cache";

/** Where an application keeps prepared models. */
export interface Caching {
  readonly directory: string;
  /** `BYTE_SIZE_OF_CACHE_TOKEN` bytes that identify the model within the application. */
  readonly token: Uint8Array;
}

/** The number of files in which a device keeps a prepared model. */
export interface CacheFiles {
  readonly numModelCache: number;
  readonly numDataCache: number;
}

/** The files that a device asks for; undefined if it asks for none, or fails to answer. */
export function cacheFilesOf(device: GuardedDevice): CacheFiles | undefined {
  const { numModelCache, numDataCache } = device.getNumberOfCacheFilesNeeded();
  return numModelCache + numDataCache === 0 ? undefined : { numModelCache, numDataCache };
}

/** By step model, the numbers that identify a device's part of a plan; none if the part is the whole model. */
export function partsOf(plan: Plan): Map<Model, readonly number[]> {
  const parts = new Map<Model, readonly number[]>();
  const [first, ...others] = plan.steps;
  if (first?.kind === "execution" && others.length === 0) return parts.set(first.model, []);
  const sources = new Map<Model, number>();
  const visit = ({ model, steps }: Plan) => {
    if (sources.has(model)) return;
    const source = sources.size;
    sources.set(model, source);
    for (const step of steps) {
      if (step.kind === "execution") {
        const part = step.operations.flatMap((operation) => [source, operation]);
        if (!parts.has(step.model)) parts.set(step.model, part);
      } else if (step.kind === "if") [step.thenPlan, step.elsePlan].forEach(visit);
      else [step.conditionPlan, step.bodyPlan].forEach(visit);
    }
  };
  visit(plan);
  return parts;
}

/** Everything that the prepared form of a device's part depends on, except the values of constants in pools. */
export interface CacheKey {
  /** Of the application: it stands for the values of constants in pools. */
  readonly token: Uint8Array;
  readonly part: readonly number[];
  readonly device: { readonly name: string; readonly version: string };
  readonly options: Pick<PrepareOptions, "preference" | "priority" | "hints">;
  /** The part itself: its operations, operands with their shapes, small constants and extensions. */
  readonly model: Model;
}

/** The token of a device's part: a digest of its key. Two models under one token of the application have different ones. */
export function cacheToken({ token, part, device, options, model }: CacheKey): Uint8Array {
  const { preference = ExecutionPreference.FAST_SINGLE_ANSWER, priority = Priority.MEDIUM, hints } = options;
  const { createHash } = nodeModule("node:crypto", purpose);
  const { name, version } = device;
  const structure = encode(modelStructure, model);
  const facts = [part, name, version, preference, priority, token.length, structure.length];
  const head = JSON.stringify(hints === undefined ? facts : [...facts, attributesOf(hints)]);
  const hash = createHash("sha256").update(`${head}\n`).update(token).update(structure).update(model.operandValues);
  return new Uint8Array(hash.digest());
}

/** Hints as texts that do not depend on the order in which they were added. */
function attributesOf({ pairs, extensionNameToPrefix }: Hints): string[] {
  const { LOW_BITS_TYPE } = ExtensionTypeEncoding;
  const names = new Map(extensionNameToPrefix.map(({ name, prefix }) => [prefix, name]));
  const texts = pairs.map(({ token, value }) =>
    JSON.stringify([names.get(token >>> LOW_BITS_TYPE), token % 2 ** LOW_BITS_TYPE, [...value]]),
  );
  return texts.sort();
}

/** The file names of a token: 64 letters, two for each byte, lower half first; then 1 for model or 2 for data; then a number. */
export function cacheFileNames(token: Uint8Array, { numModelCache, numDataCache }: CacheFiles) {
  const letters = Array.from(token, (byte) => String.fromCharCode(65 + (byte & 15), 65 + (byte >> 4))).join("");
  const names = (kind: 1 | 2, count: number) =>
    Array.from({ length: count }, (_, index) => `${letters}${kind}${index}`);
  return { modelCache: names(1, numModelCache), dataCache: names(2, numDataCache) };
}

/**
 * Prepares a model from its files. If that fails, prepares it without them and keeps it in the files. An unusable file or directory is
 * not a failure: the model is then not kept.
 */
export async function prepareCached(
  device: GuardedDevice,
  model: Model,
  options: PrepareOptions,
  { directory, token: given, part, log }: Caching & { readonly part: readonly number[]; readonly log: Logger },
): Promise<GuardedPrepareResult> {
  const files = cacheFilesOf(device);
  if (files === undefined) return device.prepareModel(model, options);
  if (optionalNodeModule("node:fs") === undefined) {
    log.VLOG("COMPILATION", `${device.name}: nothing is kept: there are no files here`);
    return device.prepareModel(model, options);
  }
  const { status: versionStatus, version } = device.getVersionString();
  // Without a version, the files of another version of the driver cannot be told apart from its own.
  if (versionStatus !== ErrorStatus.NONE) return device.prepareModel(model, options);
  const { constants } = nodeModule("node:fs", purpose);
  const token = cacheToken({ token: given, part, device: { name: device.name, version }, options, model });
  const withFiles = (flags: number, use: (cache: CompilationCache) => Promise<GuardedPrepareResult>) =>
    withCache(directory, cacheFileNames(token, files), flags, ({ modelCache, dataCache }) =>
      use({ modelCache, dataCache, token }),
    );
  const known = await withFiles(constants.O_RDWR, async (cache) => {
    const { status, message, preparedModel } = (await device.prepareModelFromCache?.(cache, options, model)) ?? {
      status: ErrorStatus.GENERAL_FAILURE,
      message: "it keeps no models",
      preparedModel: null,
    };
    log.VLOG("COMPILATION", () => `${device.name}: the cache is ${preparedModel ? "used" : `not used: ${message}`}`);
    return { status, preparedModel };
  });
  if (typeof known !== "string" && known.status === ErrorStatus.NONE && known.preparedModel !== null) return known;
  const prepared = await withFiles(constants.O_RDWR | constants.O_CREAT, (cache) =>
    device.prepareModel(model, { ...options, cache }),
  );
  if (typeof prepared !== "string") return prepared;
  log.VLOG("COMPILATION", `${device.name}: nothing is kept: ${prepared}`);
  return device.prepareModel(model, options);
}

/** Opens files, which may not be symbolic links, calls `use`, and closes them. Returns a text if one cannot be opened. */
async function withCache<Result>(
  directory: string,
  { modelCache, dataCache }: ReturnType<typeof cacheFileNames>,
  flags: number,
  use: (handles: Pick<CompilationCache, "modelCache" | "dataCache">) => Promise<Result>,
): Promise<Result | string> {
  const { closeSync, constants, openSync } = nodeModule("node:fs", purpose);
  const { join } = nodeModule("node:path", purpose);
  const opened: number[] = [];
  const open = (name: string): Handle => {
    const fd = openSync(join(directory, name), flags | (constants.O_NOFOLLOW ?? 0), 0o600);
    opened.push(fd);
    return { fds: [fd] };
  };
  try {
    let handles: Pick<CompilationCache, "modelCache" | "dataCache">;
    try {
      handles = { modelCache: modelCache.map(open), dataCache: dataCache.map(open) };
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    return await use(handles);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}
