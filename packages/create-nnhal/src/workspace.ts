/** Finds the workspace of npm, yarn or pnpm around a folder. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

/** A workspace around a folder. */
export interface Workspace {
  readonly root: string;
  /** Relative to the root: the file that lists the folders of its packages. */
  readonly file: "pnpm-workspace.yaml" | "package.json";
}

/** The innermost workspace that has `folder` below its root; undefined without one. The folder need not exist. */
export function workspaceAround(folder: string): Workspace | undefined {
  for (let root = dirname(folder), last = folder; root !== last; last = root, root = dirname(root)) {
    if (existsSync(join(root, "pnpm-workspace.yaml"))) return { root, file: "pnpm-workspace.yaml" };
    if (hasWorkspaces(join(root, "package.json"))) return { root, file: "package.json" };
  }
  return undefined;
}

function hasWorkspaces(manifest: string): boolean {
  if (!existsSync(manifest)) return false;
  try {
    const content: unknown = JSON.parse(readFileSync(manifest, "utf8"));
    return content instanceof Object && "workspaces" in content;
  } catch {
    // A manifest that npm cannot read either makes no workspace.
    return false;
  }
}

/** Returns the advice for adding a new folder to the workspace. */
export function adviceFor({ root, file }: Workspace, folder: string): string {
  const list = file === "package.json" ? '"workspaces" of package.json' : "`packages` of pnpm-workspace.yaml";
  const path = relative(root, folder).split(sep).join("/");
  return `It is inside the workspace at ${root}. If the ${list} does not cover ${path} yet, add it there.`;
}
