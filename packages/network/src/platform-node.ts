/**
 * What differs between platforms, for Node.js: files and installed engines.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The engines that are used if they are installed, best first. */
export const knownEngines: readonly string[] = ["@nnhal/backend-ort", "@nnhal/backend-tfjs", "@nnhal/backend-gpujs"];

/** The bytes of a file; undefined if the source is not a file. Rejects with the system's error. */
export async function readLocal(source: string | URL): Promise<Uint8Array | undefined> {
  const text = String(source);
  if (typeof source === "string" ? /^(https?|data|blob):/i.test(text) : source.protocol !== "file:") return undefined;
  const path = text.startsWith("file:") ? fileURLToPath(text) : text;
  return new Uint8Array(await readFile(path));
}

/** The module of a file, or of a package: beside this package, else beside the application. undefined if it is not installed. */
export async function loadModule(name: string): Promise<unknown> {
  if (/^(\.{1,2})?[/\\]/.test(name)) return importUnbundled(pathToFileURL(resolve(name)).href);
  try {
    return await importUnbundled(name);
  } catch (error) {
    if (!isMissing(error, name)) throw error;
  }
  try {
    return await importUnbundled(pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(name)).href);
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    return undefined;
  }
}

/** Imports what is known only when the program runs. Bundlers cannot know it either, and leave the import as it is. */
function importUnbundled(name: string): Promise<unknown> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name);
}

/** Whether a module itself is missing, and not one that it needs. */
export function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error)) return false;
  // Plug'n'Play of yarn says so of what is installed, too, unless this package declares it. Its errors lose their codes on their way.
  if (error.message.includes(`tried to access ${name}, but it isn't declared`)) return true;
  const code = "code" in error ? error.code : undefined;
  return (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") && error.message.includes(`'${name}'`);
}
