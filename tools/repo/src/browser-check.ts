/** The step of the gate that bundles each package that runs in a browser. */
import { join } from "node:path";
import { bundleForBrowser } from "./browser-bundle.ts";
import { isomorphicPackages } from "./import-rules.ts";
import { entriesOf } from "./packed.ts";
import type { CommandResult } from "./process.ts";
import type { WorkspacePackage } from "./workspace.ts";

/** Bundles the builds of the packages. `notes`: the size of each. */
export async function checkBrowserBundles(
  root: string,
  packages: readonly WorkspacePackage[],
): Promise<CommandResult & { readonly notes: readonly string[] }> {
  const problems: string[] = [];
  const notes: string[] = [];
  for (const { folder, manifest } of packages) {
    if (!isomorphicPackages.some((name) => folder === `packages/${name}`)) continue;
    const exports = entriesOf(manifest).map((entry) => `export * from "${entry}";`);
    try {
      const { bytes, gzipBytes } = await bundleForBrowser(exports.join("\n"), join(root, folder), "builds");
      notes.push(`${manifest.name}: ${kilobytes(bytes)} minified, ${kilobytes(gzipBytes)} gzipped`);
    } catch (error) {
      problems.push(`${manifest.name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return { ok: problems.length === 0, output: problems.join("\n"), notes };
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
