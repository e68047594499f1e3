/** Which services a user means who names a directory, a service or a socket. */
import { type BigIntStats, statSync } from "node:fs";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import { clientDirectoryProblem, clientSocketProblem } from "./ownership.ts";
import { defaultDirectory, listSockets } from "./runtime-directory.ts";

/** Services of one directory. */
export interface FoundServices {
  readonly directory: string;
  readonly names: readonly string[];
}

/**
 * The services of a directory, the one of a socket, or the one of a name in the default directory. `text` is a path if it has a separator,
 * or if a directory exists there. `owner`: as `connectService` takes it. `none` says why there are none that may be used, and what would help.
 */
export async function findServices(
  text: string,
  cwd: string,
  owner?: number,
): Promise<FoundServices | { readonly none: string }> {
  const path = resolve(cwd, text);
  let found: BigIntStats | undefined;
  try {
    // With bigints: after another look at a socket, Node.js does not follow symbolic links to modules (nodejs/node, issue 51142).
    found = statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    return { none: `${path} cannot be looked at: ${error instanceof Error ? error.message : error}` };
  }
  const isPath = isAbsolute(text) || /[/\\]/.test(text) || found?.isDirectory() === true;
  if (isPath && found?.isSocket() === true) {
    const problem = await clientSocketProblem(path, owner);
    return problem === undefined ? { directory: dirname(path), names: [basename(path)] } : { none: problem };
  }
  if (isPath && found?.isDirectory() === false) {
    return { none: `${path} is neither a runtime directory of a daemon nor a socket in one` };
  }
  const directory = isPath ? path : defaultDirectory();
  const problem = await clientDirectoryProblem(directory, owner);
  if (problem !== undefined) return { none: problem };
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
