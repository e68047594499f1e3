/** The changes since a commit, and the packages that they touch. */
import { runCommand } from "./process.ts";
import type { WorkspacePackage } from "./workspace.ts";

/** A change that the gate looks at instead of everything. */
export interface Changes {
  /** The commit that is compared with. */
  readonly since: string;
  /** From the root of the checkout, with forward slashes: committed, not committed, and not yet added. */
  readonly files: readonly string[];
}

/** Where this branch left the main one. */
const mainBranch = "origin/main";

/** Finds the changes since a commit, or since this branch left the main one. Throws if git does not know the commit. */
export async function findChanges(root: string, commit: string | undefined): Promise<Changes> {
  const git = async (...args: readonly string[]) => {
    const { ok, output } = await runCommand(root, "git", args);
    if (!ok) throw new Error(`git ${args.join(" ")}: ${output.trim()}`);
    return output.split("\n").filter((line) => line !== "");
  };
  const [since = "HEAD"] =
    commit === undefined ? await git("merge-base", "HEAD", mainBranch).catch(() => []) : [commit];
  const tracked = await git("diff", "--name-only", since, "--");
  const added = await git("ls-files", "--others", "--exclude-standard");
  return { since, files: [...new Set([...tracked, ...added])].sort() };
}

/** The packages that a change touches: those with a changed file, and those that depend on one. All, if it touches the tools. */
export function touchedPackages(
  packages: readonly WorkspacePackage[],
  { files }: Pick<Changes, "files">,
): readonly WorkspacePackage[] {
  const isOf = ({ folder }: WorkspacePackage, file: string) => file.startsWith(`${folder}/`);
  const isForAll = (file: string) =>
    file.startsWith("tools/repo/") || (!file.includes("/") && !file.endsWith(".md") && file !== "LICENSE");
  if (files.some(isForAll)) return packages;
  const touched = new Set(packages.filter((one) => files.some((file) => isOf(one, file))));
  const names = () => new Set([...touched].map(({ manifest }) => manifest.name));
  for (let size = -1; size !== touched.size; ) {
    size = touched.size;
    const known = names();
    for (const one of packages) {
      const { dependencies, devDependencies, peerDependencies, optionalDependencies } = one.manifest;
      const used = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies, ...optionalDependencies });
      if (used.some((name) => known.has(name))) touched.add(one);
    }
  }
  return packages.filter((one) => touched.has(one));
}
