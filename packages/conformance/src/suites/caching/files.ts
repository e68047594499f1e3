/** Cache files of a case, and the operations on them. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  BYTE_SIZE_OF_CACHE_TOKEN,
  type CompilationCache,
  ErrorStatus,
  type Handle,
  type PreparedModel,
  type PrepareResult,
} from "@nnhal/types";
import { type ElementType, endAsUnsupported } from "../../needs.ts";
import { type Bench, prepare } from "../bench.ts";
import { expectStatus, expectThat } from "../check.ts";
import { type ConstantModel, constantModel } from "../constant-models.ts";
import { runOnce } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { type TemporaryFile, temporaryFile, temporaryFolder } from "../temporary-files.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

/** The two lists of a cache. */
export const cacheLists = ["modelCache", "dataCache"] as const;
export type CacheList = (typeof cacheLists)[number];

/** The files of one cache. */
export interface CacheFiles {
  readonly token: Uint8Array;
  readonly modelCache: readonly TemporaryFile[];
  readonly dataCache: readonly TemporaryFile[];
  /** Descriptors on all of them, new ones at each call. */
  open(): CompilationCache;
}

/** Numbers of cache files that the device needs. Ends the case if it needs none. */
export function fileCounts({ device }: Bench): Readonly<Record<CacheList, number>> {
  const { numModelCache, numDataCache, ...outcome } = device.getNumberOfCacheFilesNeeded();
  expectStatus("getNumberOfCacheFilesNeeded", outcome, NONE);
  if (numModelCache + numDataCache === 0) endAsUnsupported("kept models");
  return { modelCache: numModelCache, dataCache: numDataCache };
}

/** Files for a cache, with nothing or something in them. */
export function makeCacheFiles(bench: Bench, { seed = 0, content = new Uint8Array(0) } = {}): CacheFiles {
  const counts = fileCounts(bench);
  const folder = temporaryFolder(bench);
  const files = (list: CacheList) =>
    Array.from({ length: counts[list] }, (_, index) => temporaryFile(bench, content, join(folder, `${list}${index}`)));
  const [modelCache, dataCache] = [files("modelCache"), files("dataCache")];
  const token = new Uint8Array(BYTE_SIZE_OF_CACHE_TOKEN).fill(seed);
  return {
    token,
    modelCache,
    dataCache,
    open: () => ({ modelCache: handlesOn(modelCache), dataCache: handlesOn(dataCache), token }),
  };
}

/** A descriptor on each of some files. */
export function handlesOn(
  files: readonly TemporaryFile[],
  flags: Parameters<TemporaryFile["open"]>[0] = "r+",
): Handle[] {
  return files.map((file) => ({ fds: [file.open(flags)] }));
}

/** Constants of the models that cases keep. */
export const constants = [1, 2, 3, 4, 5, 6];

/** Prepares a model while keeping it, which has to succeed whatever is wrong with the cache; it has to compute, too. */
export async function save(
  bench: Bench,
  { model, type, compute }: ConstantModel,
  cache: CompilationCache,
): Promise<void> {
  await expectComputes(await prepare(bench, model, { cache }), type, compute);
}

/** Ends the case if the results of a prepared model are not the expected ones. */
export async function expectComputes(
  preparedModel: PreparedModel,
  type: ElementType,
  compute: ConstantModel["compute"],
): Promise<void> {
  const input = sampleValues(type, 6);
  await runOnce(preparedModel, type, [input], [compute(input)]);
}

/** Prepares from a cache; a model that comes is closed when the case is over. */
export async function load(bench: Bench, cache: CompilationCache): Promise<PrepareResult> {
  const { device } = bench;
  if (device.prepareModelFromCache === undefined) endAsUnsupported("kept models");
  const result = await device.prepareModelFromCache(cache);
  const { preparedModel, status } = result;
  bench.after(() => preparedModel?.close());
  expectThat((preparedModel === null) === (status !== NONE), () => {
    return `prepareModelFromCache: ${preparedModel === null ? "no" : "a"} prepared model beside status ${status}`;
  });
  return result;
}

/** Ends the case if a cache is not refused with one of some statuses. */
export async function expectNotLoaded(
  bench: Bench,
  what: string,
  cache: CompilationCache,
  ...allowed: readonly ErrorStatus[]
): Promise<void> {
  const { preparedModel: _, ...outcome } = await load(bench, cache);
  expectStatus(
    `prepareModelFromCache ${what}`,
    outcome,
    ...(allowed.length > 0 ? allowed : [GENERAL_FAILURE, INVALID_ARGUMENT]),
  );
}

/** Loads the kept model. It is not a mismatch if the device did not keep it. */
export async function loadKept(bench: Bench, cache: CompilationCache): Promise<PreparedModel> {
  const { preparedModel, ...outcome } = await load(bench, cache);
  expectStatus("prepareModelFromCache", outcome, NONE, GENERAL_FAILURE);
  return preparedModel ?? endAsUnsupported("kept models", outcome.message ?? "the device gives no reason");
}

/** Files that hold a model, which was loaded from them once. */
export async function keepModel(bench: Bench, type?: ElementType, given?: ConstantModel) {
  const model = given ?? (await constantModel(bench, constants, type));
  const files = makeCacheFiles(bench);
  await save(bench, model, files.open());
  await expectComputes(await loadKept(bench, files.open()), model.type, model.compute);
  return { files, model };
}

/** Changes the content of a file. */
export function change({ path }: TemporaryFile, to: (bytes: Uint8Array) => Uint8Array): void {
  writeFileSync(path, to(new Uint8Array(readFileSync(path))));
}
