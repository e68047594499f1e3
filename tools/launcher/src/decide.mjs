/**
 * Decides whether an install is needed, and which one, from what is on disk. Pure, so that every case can be tested.
 *
 * There are two installs. The "demo" one holds only what the command line needs to run from its sources; the "full" one
 * holds everything and therefore serves the demo as well. A full install is never turned back into a demo one.
 */
import { createHash } from "node:crypto";

/** @typedef {"demo" | "full"} Kind */
/**
 * @typedef {{ readonly kind: Kind, readonly key: string }} Stamp Record of the last install by these scripts.
 */

/**
 * @typedef {object} State
 * @property {Stamp | undefined} stamp
 * @property {string} key The key of the checkout as it is now.
 * @property {"none" | "partial" | "outdated" | "current"} byHand What pnpm itself recorded, for installs made without
 *   these scripts: nothing, not everything, everything of an older lockfile, or everything. Only read if the stamp does not decide.
 */

/**
 * A stamp's text, or undefined where it says nothing usable.
 * @param {string} text
 * @returns {Stamp | undefined}
 */
export function parseStamp(text) {
  try {
    const { kind, key } = JSON.parse(text);
    return (kind === "demo" || kind === "full") && typeof key === "string" ? { kind, key } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Which install to run so that `wanted` is satisfied; undefined where nothing is to be done.
 * @param {Kind} wanted
 * @param {State} state
 * @returns {Kind | undefined}
 */
export function installNeeded(wanted, state) {
  const { stamp, key } = state;
  if (stamp?.key === key && (stamp.kind === "full" || wanted === "demo")) return undefined;
  const { byHand } = state;
  if (wanted === "demo" && byHand === "current") return undefined;
  const fullBefore = stamp?.kind === "full" || byHand === "outdated" || byHand === "current";
  return fullBefore ? "full" : wanted;
}

/**
 * A key that changes when an install would: with the files that say what to install, and with the platform.
 * A package.json counts only by its dependencies; its other fields change nothing on disk.
 * @param {{ readonly lockfile: string, readonly workspace: string, readonly manifests: Iterable<readonly [path: string, text: string]>,
 *   readonly platform: string }} from
 */
export function installKey({ lockfile, workspace, manifests, platform }) {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([platform, lockfile, workspace]));
  for (const [path, text] of [...manifests].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([path, dependencyFields(text)]));
  }
  return hash.digest("hex");
}

/** @param {string} text */
function dependencyFields(text) {
  try {
    const { name, bin, dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(text);
    return [name, bin, dependencies, devDependencies, optionalDependencies, peerDependencies];
  } catch {
    return text;
  }
}

/**
 * Returns true if an installer's output says that the registry could not be reached.
 * @param {string} output
 */
export function looksOffline(output) {
  return /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ERR_PNPM_META_FETCH_FAIL|dns error|error sending request|network request failed)\b/i.test(
    output,
  );
}

/**
 * Returns true if an installer's output says that pnpm-lock.yaml does not belong to the package.json files.
 * @param {string} output
 */
export function looksOutdatedLockfile(output) {
  return /ERR_PNPM_OUTDATED_LOCKFILE|ERR_PNPM_NO_LOCKFILE|ERR_PNPM_LOCKFILE_/.test(output);
}
