/**
 * Brings node_modules up to date for the demo or for everything, through the pinned pnpm, which npx fetches. Everything
 * it says goes to stderr: stdout belongs to the command that runs afterwards.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { installKey, installNeeded, looksOffline, looksOutdatedLockfile, parseStamp } from "./decide.mjs";
import { withLock } from "./lock.mjs";

/** @typedef {import("./decide.mjs").Kind} Kind */

const pnpm = "pnpm@12.21.0";
/**
 * The lockfile names every tarball with its hash, so a frozen install needs no opinion on how old a release is. pnpm would
 * ask the registry for it all the same: 80 MB of metadata where the demo needs 5 MB of packages. The lockfile
 * is changed with pnpm itself, where the rule holds.
 */
const frozen = ["install", "--frozen-lockfile", "--config.minimumReleaseAge=0"];
/** Without a network, say so after seconds, not after the usual minute. */
const retries = { fetch_retry_mintimeout: "1000", fetch_retry_maxtimeout: "8000" };
const say = (/** @type {string} */ line) => console.error(`nnhal: ${line}`);

/**
 * Installs missing packages. Returns false, after printing the reason, if that failed.
 * @param {string} root The checkout.
 * @param {Kind} wanted
 */
export async function ensureInstalled(root, wanted) {
  const needed = () => installNeeded(wanted, installState(root));
  if (needed() === undefined) return true;
  const own = join(root, "node_modules", ".nnhal");
  try {
    return await withLock(
      join(own, "install.lock"),
      () => {
        const kind = needed();
        return kind === undefined ? true : install(root, kind, own);
      },
      { onWait: (holder) => say(`${holder} is installing already; waiting for it.`) },
    );
  } catch (error) {
    say(`could not prepare ${own}: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

/** @param {string} root @param {Kind} kind @param {string} own */
async function install(root, kind, own) {
  const started = performance.now();
  say(
    kind === "demo"
      ? "installing what the command line needs (about 40 MB, only the first time) ..."
      : "installing everything that building and testing need ...",
  );
  // Without a stamp, an install that is interrupted is not taken for a complete one.
  const stampPath = join(own, "stamp.json");
  rmSync(stampPath, { force: true });
  const args = kind === "demo" ? [...frozen, "--prod", "--filter", "@nnhal/launcher..."] : frozen;
  const { code, output } = await runPnpm(root, args);
  if (code !== 0) {
    say(failure(root, output, join(own, "install.log"), args));
    return false;
  }
  mkdirSync(own, { recursive: true });
  const draft = `${stampPath}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ kind, key: installState(root).key }));
  renameSync(draft, stampPath);
  say(`installed in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
  return true;
}

/**
 * Returns one line on why the install failed; the installer's output goes to a file, or, if it is more informative, to stderr.
 * @param {string} root @param {string} output @param {string} log @param {readonly string[]} args
 */
function failure(root, output, log, args) {
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, output);
  if (looksOffline(output)) {
    return `cannot install: the npm registry was not reached. Check the network and run the same command again. (Details: ${relative(root, log)})`;
  }
  if (looksOutdatedLockfile(output)) {
    return `cannot install: pnpm-lock.yaml does not match a package.json. Update it with: npx -y ${pnpm} install`;
  }
  process.stderr.write(`${output.trimEnd()}\n`);
  return `cannot install: "pnpm ${args.join(" ")}" failed; what it printed is above.`;
}

/** @param {string} root @param {readonly string[]} args @returns {Promise<{ code: number, output: string }>} */
function runPnpm(root, args) {
  // npm's own exec is found through npm itself: `npx` is not on every PATH, and on Windows it needs a shell.
  const npmCli = process.env.npm_execpath;
  const viaNpm = npmCli !== undefined && basename(npmCli) === "npm-cli.js" && existsSync(npmCli);
  const [command, first] = viaNpm
    ? [process.execPath, [npmCli, "exec", "--yes", "--prefer-offline", `--package=${pnpm}`, "--", "pnpm"]]
    : ["npx", ["--yes", "--prefer-offline", pnpm]];
  const child = spawn(command, [...first, ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    shell: !viaNpm && process.platform === "win32",
    // CI: never ask, also not before replacing a node_modules that something else made.
    env: {
      ...process.env,
      CI: "true",
      npm_config_update_notifier: "false",
      ...Object.fromEntries(Object.entries(retries).map(([name, value]) => [`npm_config_${name}`, value])),
      ...Object.fromEntries(Object.entries(retries).map(([name, value]) => [`pnpm_config_${name}`, value])),
    },
  });
  return new Promise((resolve) => {
    /** @type {string[]} */
    const chunks = [];
    child.stdout.setEncoding("utf8").on("data", (text) => chunks.push(text));
    child.stderr.setEncoding("utf8").on("data", (text) => chunks.push(text));
    child.on("error", (error) => resolve({ code: 1, output: `${chunks.join("")}${command}: ${error.message}\n` }));
    child.on("close", (code) => resolve({ code: code ?? 1, output: chunks.join("") }));
  });
}

/** @param {string} root @returns {import("./decide.mjs").State} */
function installState(root) {
  const modules = join(root, "node_modules");
  const lockfile = read(join(root, "pnpm-lock.yaml")) ?? "";
  const stampText = read(join(modules, ".nnhal", "stamp.json"));
  return {
    stamp: stampText === undefined ? undefined : parseStamp(stampText),
    key: installKey({
      lockfile,
      workspace: read(join(root, "pnpm-workspace.yaml")) ?? "",
      manifests: manifests(root),
      platform: `${process.platform}-${process.arch}-${process.versions.modules}`,
    }),
    get byHand() {
      return installedByHand(modules, lockfile);
    },
  };
}

/** @param {string} modules @param {string} lockfile @returns {"none" | "partial" | "outdated" | "current"} */
function installedByHand(modules, lockfile) {
  const record = read(join(modules, ".modules.yaml"));
  if (record === undefined) return "none";
  if (!/"?devDependencies"?: true/.test(record) || !existsSync(join(modules, "typescript"))) return "partial";
  return read(join(modules, ".pnpm", "lock.yaml")) === lockfile ? "current" : "outdated";
}

/** Every package.json of the workspace, by path. @param {string} root @returns {Iterable<readonly [string, string]>} */
function* manifests(root) {
  const folders = ["packages", "apps", "tools"].flatMap((parent) =>
    existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => join(parent, name)) : [],
  );
  for (const folder of [".", ...folders]) {
    const text = read(join(root, folder, "package.json"));
    if (text !== undefined) yield [folder.replaceAll("\\", "/"), text];
  }
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
