/** Which services a user means who names a directory, a service or a socket. */
import { statSync } from "node:fs";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import { defaultDirectory, listSockets } from "./runtime-directory.ts";

/** Services of one directory. */
export interface FoundServices {
  readonly directory: string;
  readonly names: readonly string[];
}

/**
 * The services of a directory, the one of a socket, or the one of a name in the default directory. `text` is a path if it has a separator,
 * or if a directory exists there. `none` says why there are none, and what would help.
 */
export async function findServices(text: string, cwd: string): Promise<FoundServices | { readonly none: string }> {
  const path = resolve(cwd, text);
  // With bigints: after another look at a socket, Node.js does not follow symbolic links to modules (nodejs/node, issue 51142).
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  const isPath = isAbsolute(text) || /[/\\]/.test(text) || found?.isDirectory() === true;
  if (isPath && found?.isSocket() === true) return { directory: dirname(path), names: [basename(path)] };
  if (isPath && found?.isDirectory() === false) {
    return { none: `${path} is neither a runtime directory of a daemon nor a socket in one` };
  }
  const directory = isPath ? path : defaultDirectory();
  const all = await listSockets(directory);
  const names = isPath ? all : all.filter((name) => name === text);
  if (names.length > 0) return { directory, names };
  const lacking = `no daemon has its sockets in ${directory}: `;
  if (isPath) return { none: `${lacking}nnhal-sample-driver --dir ${directory} starts one` };
  return {
    none:
      all.length > 0
        ? `there is no such service in ${directory}: it has ${all.join(", ")}`
        : `${lacking}nnhal-sample-driver starts one; for another directory, name its path`,
  };
}
