/**
 * @nnhal/driver-core/outcomes: outcomes of self-checks in files, so that a process need not check an engine that another one has checked on
 * this processor. For Node.js: a browser keeps nothing.
 */
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { FormFailures, OutcomeStore } from "@nnhal/backend";

/**
 * Directory in which programs keep measurements: `$XDG_STATE_HOME/nnhal`, else `~/.local/state/nnhal`; undefined if the user
 * has no home.
 */
export function defaultStateDirectory({ XDG_STATE_HOME: state }: StateEnvironment = process.env): string | undefined {
  if (state !== undefined && state !== "") return join(state, "nnhal");
  try {
    return join(homedir(), ".local/state/nnhal");
  } catch {
    return undefined;
  }
}

/** The environment variables that name it. */
export interface StateEnvironment {
  readonly XDG_STATE_HOME?: string | undefined;
}

/** The bytes that an outcome has at most. */
const largest = 65_536;

/** Systems other than Linux may lack a flag: Windows has neither. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/**
 * A store in a directory, a file of JSON for each engine on each processor. `write` makes the directory, for this user alone. Files of
 * other users and in directories that others may write count as absent: a wrong outcome would make an engine use a form that is wrong
 * here. A file that is not whole counts as absent, too, and is replaced.
 */
export function fileOutcomes(directory: string): OutcomeStore {
  return {
    async read(key) {
      if (!isPrivate(await stat(directory))) return undefined;
      const file = await open(fileOf(directory, key), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        return await readOutcome(file, key);
      } finally {
        await file.close();
      }
    },
    async write(key, failures) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const draft = join(directory, `.${randomUUID()}`);
      try {
        await writeFile(draft, `${JSON.stringify({ key, failures })}\n`, { flag: "wx", mode: 0o600 });
        await rename(draft, fileOf(directory, key));
      } finally {
        await rm(draft, { force: true });
      }
    },
  };
}

async function readOutcome(file: FileHandle, key: string): Promise<FormFailures | undefined> {
  const status = await file.stat();
  if (!status.isFile() || status.size > largest || !isPrivate(status)) return undefined;
  const outcome: unknown = JSON.parse(await file.readFile("utf8"));
  if (!isObject(outcome) || outcome.key !== key || !isObject(outcome.failures)) return undefined;
  const failures = Object.entries(outcome.failures);
  return Object.fromEntries(failures.filter((each): each is [string, string] => typeof each[1] === "string"));
}

/** Returns true if no other user may write it. Windows has no such bits. */
function isPrivate({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  const { getuid } = process;
  return getuid === undefined || (uid === getuid.call(process) && (mode & 0o022) === 0);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function fileOf(directory: string, key: string): string {
  const digest = createHash("sha256").update(key).digest("hex").slice(0, 32);
  return join(directory, `self-check-${digest}.json`);
}
