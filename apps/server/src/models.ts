/** The models of a server: loaded, unloaded, and found by name and version. */
import { dirname, sep } from "node:path";
import { systemClock } from "./clock.ts";
import { messageOf, RequestError, withoutFolders } from "./errors.ts";
import { type FoundModel, selectedVersions } from "./layout.ts";
import { type OpenOptions, openModel, type ReadyModel } from "./open-model.ts";
import { createTurns } from "./turns.ts";

/** State of a version of a model, in the words of the protocol. */
export type ModelState = "LOADING" | "READY" | "UNLOADING" | "UNAVAILABLE";

/** An entry of the index. */
export interface IndexEntry {
  readonly name: string;
  readonly version: string;
  readonly state: ModelState;
  /** Why it is in this state; empty if it is ready. */
  readonly reason: string;
}

export interface ModelsOptions extends Omit<OpenOptions, "clock">, Partial<Pick<OpenOptions, "clock">> {
  /** Reads the folder: all its models. */
  find(): Promise<readonly FoundModel[]>;
}

/** The models of a server. */
export interface Models {
  /** Loads all models, or those of some names. Does not reject for a model that cannot be loaded. */
  loadAll(names?: readonly string[]): Promise<void>;
  /** Loads a model, or loads it again. Rejects with a RequestError. */
  load(name: string): Promise<void>;
  /** Unloads a model when its requests are done. Rejects with a RequestError. */
  unload(name: string): Promise<void>;
  index(): Promise<readonly IndexEntry[]>;
  /** The version of a model that takes requests; without `version` the highest that is ready. Throws a RequestError. */
  find(name: string, version?: string): ReadyModel;
  /** Returns true if a version of a model takes requests; undefined if there is no such model. */
  hasReady(name: string): boolean | undefined;
  /** The versions of a model that take requests. */
  versionsOf(name: string): readonly string[];
  readonly ready: readonly ReadyModel[];
  /** Entries without those of models that were never loaded. */
  readonly entries: readonly IndexEntry[];
  /** Unloads all models. */
  close(): Promise<void>;
}

/** A model of the folder, or a signature of one as `NAME:SIGNATURE`; by version. */
interface Entry extends IndexEntry {
  /** Name of the folder. */
  readonly owner: string;
  readonly loaded: ReadyModel | undefined;
}

export function createModels({ find, open, onEvent, clock = systemClock }: ModelsOptions): Models {
  let entries: readonly Entry[] = [];
  const turns = createTurns();
  const put = (entry: Entry) => {
    entries = [...entries.filter(({ name, version }) => name !== entry.name || version !== entry.version), entry];
  };
  const drop = (gone: readonly Entry[]) => {
    entries = entries.filter((entry) => !gone.includes(entry));
  };
  const entryOf = (name: string, version: string) =>
    entries.find((entry) => entry.name === name && entry.version === version);

  /** Adds a version, with a name for each signature. Resolves with its fault. */
  const loadVersion = async ({ name, settings }: FoundModel, version: string, file: string): Promise<string[]> => {
    const problems: string[] = [];
    const loadOne = async (served: string, signature: string | undefined): Promise<readonly string[]> => {
      const before = entryOf(served, version);
      const base = { owner: name, name: served, version };
      if (before?.loaded === undefined) put({ ...base, state: "LOADING", reason: "", loaded: undefined });
      try {
        const loaded = await openModel(served, version, { file, signature, settings }, { open, onEvent, clock });
        put({ ...base, state: "READY", reason: "", loaded });
        onEvent("info", `version ${version} is ready on ${loaded.description.devices.join(", ")}`, served);
        void before?.loaded?.scheduler.close();
        return loaded.description.signatures;
      } catch (error) {
        onEvent("error", `version ${version} cannot be loaded: ${messageOf(error)}`, served);
        const reason = withoutFolders(messageOf(error).replaceAll(`${dirname(file)}${sep}`, ""));
        problems.push(`version ${version} of ${served} cannot be loaded: ${reason}`);
        // A working version stays until another one replaces it.
        if (before?.loaded === undefined) put({ ...base, state: "UNAVAILABLE", reason, loaded: undefined });
        return [];
      }
    };
    const signatures = await loadOne(name, undefined);
    if (signatures.length > 1) for (const signature of signatures) await loadOne(`${name}:${signature}`, signature);
    return problems;
  };

  const close = async (gone: readonly Entry[]) => {
    for (const entry of gone) {
      if (entry.loaded !== undefined) put({ ...entry, state: "UNLOADING", reason: "", loaded: undefined });
    }
    await Promise.all(gone.map(({ loaded }) => loaded?.scheduler.close()));
  };

  const foundModel = async (name: string): Promise<FoundModel> => {
    const found = (await find()).find((each) => each.name === name);
    if (found === undefined) throw new RequestError("unknown", `there is no model "${name}"`);
    return found;
  };

  const loadFound = async (found: FoundModel): Promise<void> => {
    const { name, versions, settings, problem } = found;
    const selected = selectedVersions(versions, settings.versions);
    const reason =
      publicProblem(problem) ?? (selected.length === 0 ? `it has no version that is ${settings.versions}` : undefined);
    if (reason !== undefined) {
      onEvent("error", `cannot be loaded: ${problem ?? reason}`, name);
      if (!entries.some(({ owner }) => owner === name)) {
        put({ owner: name, name, version: "", state: "UNAVAILABLE", reason, loaded: undefined });
      }
      throw new RequestError("invalid", `the model "${name}" cannot be loaded: ${reason}`);
    }
    const problems: string[] = [];
    for (const { version, file } of selected) problems.push(...(await loadVersion(found, version, file)));
    const kept = new Set(selected.map(({ version }) => version));
    const gone = entries.filter(({ owner, version }) => owner === name && !kept.has(version));
    await close(gone);
    drop(entries.filter(({ owner, version }) => owner === name && !kept.has(version)));
    if (problems.length > 0) throw new RequestError("invalid", problems.join("; "));
  };

  return {
    async loadAll(names) {
      const all = await find();
      const wanted = names === undefined ? all : all.filter(({ name }) => names.includes(name));
      for (const name of names ?? []) {
        if (!wanted.some((one) => one.name === name)) onEvent("error", "the folder does not have this model", name);
      }
      await Promise.all(wanted.map((found) => turns.take(found.name, () => loadFound(found)).catch(() => {})));
    },
    load: (name) => turns.take(name, async () => loadFound(await foundModel(name))),
    unload: (name) =>
      turns.take(name, async () => {
        const own = entries.filter(({ owner }) => owner === name);
        if (own.length === 0) await foundModel(name);
        await close(own);
        drop(entries.filter(({ owner }) => owner === name));
        onEvent("info", "is unloaded", name);
      }),
    async index() {
      const known = new Set(entries.map(({ owner }) => owner));
      const others = (await find()).filter(({ name }) => !known.has(name));
      const unloaded = others.map(({ name, problem }): IndexEntry => {
        return { name, version: "", state: "UNAVAILABLE", reason: publicProblem(problem) ?? "unloaded" };
      });
      return [...entries, ...unloaded].map(({ name, version, state, reason }) => ({ name, version, state, reason }));
    },
    find: (name, version) => findReady(entries, name, version),
    hasReady(name) {
      let isKnown = false;
      for (const entry of entries) {
        if (entry.name !== name) continue;
        if (entry.loaded !== undefined) return true;
        isKnown = true;
      }
      return isKnown ? false : undefined;
    },
    versionsOf: (name) =>
      entries.flatMap((entry) => (entry.name === name && entry.loaded !== undefined ? entry.version : [])),
    get ready() {
      return entries.flatMap(({ loaded }) => loaded ?? []);
    },
    get entries() {
      return entries;
    },
    close: () => close(entries),
  };
}

/** Returns the text for clients on a problem with files. */
function publicProblem(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : withoutFolders(problem);
}

/** The version of a model that takes requests; without `version` the highest that is ready. Throws a RequestError. */
function findReady(entries: readonly Entry[], name: string, version?: string): ReadyModel {
  const named = entries.filter((entry) => entry.name === name);
  if (named.length === 0) throw new RequestError("unknown", `there is no model "${name}", or it is not loaded`);
  const wanted = version === undefined || version === "" ? named : named.filter((entry) => entry.version === version);
  if (wanted.length === 0) {
    const there = named.map((entry) => entry.version).join(", ");
    throw new RequestError("unknown", `the model "${name}" has no version "${version}"; it has ${there}`);
  }
  const [latest] = wanted
    .flatMap(({ loaded }) => loaded ?? [])
    .sort((left, right) => Number(right.version) - Number(left.version));
  if (latest !== undefined) return latest;
  const [{ state, reason } = { state: "UNAVAILABLE", reason: "" }] = wanted;
  throw new RequestError("unavailable", `the model "${name}" is ${state}${reason === "" ? "" : `: ${reason}`}`);
}
