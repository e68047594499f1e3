/**
 * The part of the gate that bundles nnhal for a server: with esbuild as one file, and with Vite as frameworks do that render on a server.
 * Each bundle lies in a folder without packages, reads a digit here and in a worker, and decodes a picture in WebP.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build as buildWithEsbuild } from "esbuild";
import { emptyFolder } from "./page-bundles.ts";
import { whitePictures } from "./pasted.ts";
import { type CommandResult, runCommand } from "./process.ts";

/** Scripts that are bundled: `npm run runtimes` runs them, too, where nothing is bundled. */
export const scripts = join(import.meta.dirname, "../runtimes");

/** Expected output of each script. */
const expected = { lines: "sees a 3, and 255 255 255", worker: "sees a 3" } as const;

/** Bundlers that write `lines` and `worker` into a folder. */
const serverBundlers: Readonly<Record<string, (folder: string) => Promise<unknown>>> = {
  esbuild: (folder) =>
    bundleForNode({ lines: join(scripts, "lines.mjs"), worker: join(scripts, "worker.mjs") }, folder),
  async vite(folder) {
    const { build } = await import("vite");
    await build({
      configFile: false,
      root: scripts,
      logLevel: "silent",
      // The packages become a part of the bundle, as they do with adapters for serverless functions.
      ssr: { noExternal: true },
      build: {
        ssr: true,
        outDir: folder,
        rollupOptions: {
          input: {
            lines: join(scripts, "lines.mjs"),
            worker: join(scripts, "worker.mjs"),
            // Vite puts what starts the worker into this folder.
            "assets/worker-node": "nnhal/worker",
          },
        },
      },
    });
  },
};

/**
 * Bundles scripts for Node.js with esbuild: each is one file, and so is their worker. `from`: the folder that finds the
 * packages.
 */
export function bundleForNode(
  entries: Readonly<Record<string, string>>,
  folder: string,
  from = scripts,
): Promise<unknown> {
  return buildWithEsbuild({
    entryPoints: { ...entries, "worker-node": "nnhal/worker" },
    absWorkingDir: from,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    outdir: folder,
    logLevel: "silent",
  });
}

/** Bundles with each bundler, and runs the bundles. */
export async function checkServerBundles(root: string): Promise<CommandResult> {
  const problems: string[] = [];
  const all = mkdtempSync(join(tmpdir(), "nnhal-server-bundles-"));
  try {
    for (const [bundler, bundle] of Object.entries(serverBundlers)) {
      const folder = emptyFolder(join(all, bundler));
      await bundle(folder);
      putFiles(root, folder);
      for (const [name, text] of Object.entries(expected)) {
        const { ok, output } = await runCommand(root, process.execPath, [`${name}.js`], folder);
        if (!ok || !output.includes(text)) problems.push(`${name}.mjs, bundled by ${bundler}:\n${output}`);
      }
    }
  } catch (error) {
    problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
  return { ok: problems.length === 0, output: problems.join("\n") };
}

/** Puts the files that the scripts read into a folder. */
export function putFiles(root: string, folder: string): void {
  const demo = join(root, "apps/cli/demo");
  copyFileSync(join(demo, "digits-uint8.tflite"), join(folder, "digits.tflite"));
  copyFileSync(join(demo, "3-chalk.png"), join(folder, "digit.png"));
  writeFileSync(join(folder, "white.webp"), Buffer.from(whitePictures["white.webp"], "base64"));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
}
