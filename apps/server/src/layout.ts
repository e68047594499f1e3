/**
 * The folders of models: `MODEL/VERSION/model.tflite` in a folder, as other servers have it; or a single model, as its folder
 * or its file.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { messageOf } from "./errors.ts";
import { type ModelSettings, settingsOf } from "./settings.ts";

/** A version of a model, and its file. */
export interface FoundVersion {
  readonly version: string;
  readonly file: string;
}

/** A model of a folder. */
export interface FoundModel {
  readonly name: string;
  /** Sorted by number. */
  readonly versions: readonly FoundVersion[];
  readonly settings: ModelSettings;
  /** Reason why it cannot be served; undefined if it can be. */
  readonly problem: string | undefined;
}

/** Name of the file with a model's settings, in its folder. */
export const settingsFile = "nnhal.json";

/**
 * Finds the models of a path. `name`: for a single model, instead of the name of its folder or file. Rejects if the path cannot
 * be read.
 */
export async function findModels(path: string, defaults: ModelSettings, name?: string): Promise<readonly FoundModel[]> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    (error) => {
      const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
      const expected = "expected a folder of models or a .tflite file";
      throw new Error(isMissing ? `${expected}, got ${path}, which is not there` : `${expected}: ${messageOf(error)}`);
    },
  );
  if (isFile) {
    if (extname(path) !== ".tflite") throw new Error(`${path} is neither a folder nor a .tflite file`);
    return [modelOfFile(path, defaults, name)];
  }
  const entries = await readdir(path, { withFileTypes: true });
  const files = entries.map((entry) => entry.name).filter((file) => extname(file) === ".tflite");
  const hasVersions = entries.some((entry) => isVersion(entry.name));
  if (files.length > 1 && !hasVersions && !files.includes("model.tflite")) {
    return files.sort().map((file) => modelOfFile(join(path, file), defaults));
  }
  if (files.length > 0 || hasVersions) return [await modelIn(path, name ?? basename(path), defaults)];
  const folders = entries.filter((entry) => !entry.isFile() && !entry.name.startsWith("."));
  return Promise.all(folders.map((entry) => modelIn(join(path, entry.name), entry.name, defaults)));
}

function modelOfFile(file: string, settings: ModelSettings, name = basename(file, ".tflite")): FoundModel {
  return { name, versions: [{ version: "1", file }], settings, problem: undefined };
}

/** Reads the model of a folder; faults are in `problem`. */
async function modelIn(folder: string, name: string, defaults: ModelSettings): Promise<FoundModel> {
  const unusable = (problem: string): FoundModel => ({ name, versions: [], settings: defaults, problem });
  if (name.includes(":")) return unusable(`the name has a colon, which is for signatures`);
  try {
    const settings = await ownSettings(folder, defaults);
    const names = await readdir(folder);
    const numbered = await Promise.all(
      names.filter(isVersion).map(async (version) => ({ version, file: await fileIn(join(folder, version)) })),
    );
    const direct = numbered.length === 0 ? [{ version: "1", file: await fileIn(folder) }] : numbered;
    const versions = direct.filter((one): one is FoundVersion => one.file !== undefined);
    versions.sort((left, right) => Number(left.version) - Number(right.version));
    if (versions.length === 0) return unusable("it has no folder of a version, such as 1, with a file model.tflite");
    return { name, versions, settings, problem: undefined };
  } catch (error) {
    return unusable(messageOf(error));
  }
}

async function ownSettings(folder: string, defaults: ModelSettings): Promise<ModelSettings> {
  try {
    return settingsOf(await readFile(join(folder, settingsFile), "utf8"), defaults);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return defaults;
    throw error;
  }
}

/** Finds `model.tflite`, or the only file of this kind. */
async function fileIn(folder: string): Promise<string | undefined> {
  const files = (await readdir(folder)).filter((file) => extname(file) === ".tflite");
  const file = files.includes("model.tflite") ? "model.tflite" : files.length === 1 ? files[0] : undefined;
  return file === undefined ? undefined : join(folder, file);
}

function isVersion(name: string): boolean {
  return /^[1-9]\d{0,14}$/.test(name);
}

/** Returns the versions that a policy selects: `latest`, `latest:3`, `all`, or numbers with commas between them. */
export function selectedVersions(versions: readonly FoundVersion[], policy: string): readonly FoundVersion[] {
  if (policy === "all") return versions;
  const latest = /^latest(?::(\d+))?$/.exec(policy);
  if (latest !== null) return versions.slice(-Number(latest[1] ?? 1));
  const wanted = policy.split(",");
  return versions.filter(({ version }) => wanted.includes(version));
}
