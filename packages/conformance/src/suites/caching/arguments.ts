/**
 * Wrong cache arguments: they never keep a preparation from succeeding, and always keep one from a cache from it.
 */

import { elementAt } from "@nnhal/operations";
import { type CompilationCache, ErrorStatus, type Handle } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import type { Bench } from "../bench.ts";
import { constantModel } from "../constant-models.ts";
import { casesOf, type SuiteCase } from "../suite-case.ts";
import {
  type CacheFiles,
  type CacheList,
  cacheLists,
  constants,
  expectNotLoaded,
  handlesOn,
  keepModel,
  makeCacheFiles,
  save,
} from "./files.ts";

/** A way to spoil the list of a cache. */
interface Spoiling {
  readonly what: string;
  spoil(bench: Bench, handles: readonly Handle[], files: CacheFiles, list: CacheList): Handle[];
}

const spoilings: readonly Spoiling[] = [
  { what: "one file too few", spoil: (_, handles) => handles.slice(1) },
  {
    what: "one file too many",
    spoil: (bench, handles) => [...handles, ...handlesOn(makeCacheFiles(bench).modelCache.slice(0, 1))],
  },
  {
    what: "a handle of two descriptors",
    spoil: (_, handles, files, list) => [
      { fds: [...elementAt(handles, 0).fds, elementAt(files[list], 0).open("r+")] },
      ...handles.slice(1),
    ],
  },
  { what: "a handle without a descriptor", spoil: (_, [, ...others]) => [{ fds: [] }, ...others] },
  { what: "a descriptor that is not open", spoil: (_, [, ...others]) => [{ fds: [0x7fff_fff0] }, ...others] },
];

function withList(cache: CompilationCache, list: CacheList, handles: readonly Handle[]): CompilationCache {
  return { ...cache, [list]: handles };
}

function spoilFiles(bench: Bench, files: CacheFiles, list: CacheList, { spoil }: Spoiling): CompilationCache {
  const cache = files.open();
  return withList(cache, list, spoil(bench, cache[list], files, list));
}

/** Ends the case if the device wants no files in a list. */
function needFiles(files: CacheFiles, list: CacheList): void {
  if (files[list].length === 0) endAsUnsupported(list === "modelCache" ? "model cache files" : "data cache files");
}

const rows = cacheLists.flatMap((list) => spoilings.map((spoiling) => ({ list, spoiling })));

export const argumentCases: readonly SuiteCase[] = [
  ...casesOf(
    "arguments",
    "1.2",
    rows,
    ({ list, spoiling }) => `keeping with ${spoiling.what} in ${list}: the model is prepared, and nothing comes back`,
    async (bench, { list, spoiling }) => {
      const files = makeCacheFiles(bench);
      needFiles(files, list);
      await save(bench, await constantModel(bench, constants), spoilFiles(bench, files, list, spoiling));
      await expectNotLoaded(bench, "after nothing could be kept", spoilFiles(bench, files, list, spoiling));
      await expectNotLoaded(bench, "after nothing could be kept, with the right arguments", files.open());
    },
  ),
  ...casesOf(
    "arguments",
    "1.2",
    rows,
    ({ list, spoiling }) => `loading with ${spoiling.what} in ${list} is refused`,
    async (bench, { list, spoiling }) => {
      const { files } = await keepModel(bench);
      needFiles(files, list);
      await expectNotLoaded(bench, `with ${spoiling.what} in ${list}`, spoilFiles(bench, files, list, spoiling));
    },
  ),
  ...casesOf(
    "arguments",
    "1.2",
    cacheLists,
    (list) => `keeping with a read-only descriptor in ${list}: the model is prepared, and nothing comes back`,
    async (bench, list) => {
      const files = makeCacheFiles(bench);
      needFiles(files, list);
      const cache = withList(files.open(), list, handlesOn(files[list], "r"));
      await save(bench, await constantModel(bench, constants), cache);
      await expectNotLoaded(bench, "after nothing could be kept", files.open());
    },
  ),
  ...casesOf(
    "arguments",
    "1.2",
    cacheLists,
    (list) => `loading with a write-only descriptor in ${list} is GENERAL_FAILURE`,
    async (bench, list) => {
      const { files } = await keepModel(bench);
      needFiles(files, list);
      // "a" neither truncates nor reads.
      const handles = files[list].map((file, index) => ({ fds: [file.open(index === 0 ? "a" : "r+")] }));
      const cache = withList(files.open(), list, handles);
      await expectNotLoaded(bench, "with a write-only descriptor", cache, ErrorStatus.GENERAL_FAILURE);
    },
  ),
  ...casesOf(
    "arguments",
    "1.2",
    cacheLists,
    (list) => `loading with a read-only descriptor in ${list} is refused`,
    async (bench, list) => {
      const { files } = await keepModel(bench);
      needFiles(files, list);
      const cache = withList(files.open(), list, handlesOn(files[list], "r"));
      await expectNotLoaded(bench, `with a read-only descriptor in ${list}`, cache);
    },
  ),
  ...casesOf(
    "arguments",
    "1.2",
    [0, 31, 33],
    (length) => `loading with a token of ${length} bytes is refused`,
    async (bench, length) => {
      const { files } = await keepModel(bench);
      await expectNotLoaded(bench, `with a token of ${length} bytes`, {
        ...files.open(),
        token: new Uint8Array(length),
      });
    },
  ),
  ...casesOf(
    "arguments",
    "1.2",
    [0, 31, 33],
    (length) => `keeping with a token of ${length} bytes: the model is prepared`,
    async (bench, length) => {
      const files = makeCacheFiles(bench);
      await save(bench, await constantModel(bench, constants), { ...files.open(), token: new Uint8Array(length) });
    },
  ),
];
