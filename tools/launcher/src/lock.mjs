/**
 * A lock between processes, as a file that names its holder: two commands started at once must not install into the same
 * folder. A lock whose holder has died is taken over.
 */
import { mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const pollMilliseconds = 200;
/** After this long a holder is taken for dead: on another machine it cannot be asked, and here its number may be another's by now. */
const giveUpMilliseconds = 30 * 60_000;
/** Breaking a stale lock takes microseconds, so a breaker's own file this old belongs to a dead process. */
const breakMilliseconds = 10_000;

/**
 * Runs `work` while holding the lock at `path`.
 * @template T
 * @param {string} path
 * @param {() => T | Promise<T>} work
 * @param {{ onWait?: (holder: string) => void }} [options] `onWait` is called once, if another process has the lock.
 * @returns {Promise<T>}
 */
export async function withLock(path, work, { onWait } = {}) {
  mkdirSync(dirname(path), { recursive: true });
  let waited = false;
  while (!take(path)) {
    if (breakStale(path)) continue;
    if (!waited) onWait?.(describe(path));
    waited = true;
    await delay(pollMilliseconds);
  }
  const release = () => remove(path);
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.off("exit", release);
    release();
  }
}

/** @param {string} path */
function take(path) {
  try {
    writeFileSync(path, JSON.stringify({ pid: process.pid, host: hostname() }), { flag: "wx" });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Removes the lock if its holder is dead; true if there is none any more. A second file guards the removal, so that of two
 * processes that saw the same dead holder, the slower one does not remove the faster one's fresh lock.
 * @param {string} path
 */
function breakStale(path) {
  if (!isStale(path)) return false;
  const guard = `${path}.break`;
  if (!take(guard)) {
    if (age(guard) > breakMilliseconds) remove(guard);
    return false;
  }
  try {
    if (!isStale(path)) return false;
    remove(path);
    return true;
  } finally {
    remove(guard);
  }
}

/** @param {string} path */
function isStale(path) {
  const holder = read(path);
  // Empty for the instant between the creation of the file and its content.
  if (holder === undefined) return age(path) > breakMilliseconds;
  if (age(path) > giveUpMilliseconds) return true;
  return holder.host === hostname() && !isAlive(holder.pid);
}

/** @param {string} path @returns {{ pid: number, host: string } | undefined} */
function read(path) {
  try {
    const { pid, host } = JSON.parse(readFileSync(path, "utf8"));
    return Number.isInteger(pid) && typeof host === "string" ? { pid, host } : undefined;
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/** @param {string} path */
function age(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

/** @param {string} path */
function remove(path) {
  try {
    unlinkSync(path);
  } catch {
    // Removed already, as wanted.
  }
}

/** @param {string} path */
function describe(path) {
  const holder = read(path);
  return holder === undefined ? "another process" : `process ${holder.pid}`;
}
