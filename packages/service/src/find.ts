/** Which services a user means who names a directory or a service. */
import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { defaultDirectory, listSockets } from "./runtime-directory.ts";

/** Services of one directory. */
export interface FoundServices {
  readonly directory: string;
  readonly names: readonly string[];
}

/**
 * The services of a directory, or the one of a name in the default directory. `text` is a directory if it is a path, or one exists there.
 * `none` says that there are none, and which there are.
 */
export async function findServices(text: string, cwd: string): Promise<FoundServices | { readonly none: string }> {
  const path = resolve(cwd, text);
  const isDirectory =
    isAbsolute(text) || /[/\\]/.test(text) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const directory = isDirectory ? path : defaultDirectory();
  const all = await listSockets(directory);
  const names = isDirectory ? all : all.filter((name) => name === text);
  if (names.length > 0) return { directory, names };
  const there = all.length === 0 ? "it has none; nnhal-sample-driver starts some" : `it has ${all.join(", ")}`;
  return { none: `there is no such service in ${directory}: ${there}` };
}
