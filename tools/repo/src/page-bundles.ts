/** Bundles the page of the browser check with esbuild and with Vite, each with its defaults. */
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as buildWithEsbuild } from "esbuild";

/** The folder of the page. */
const page = fileURLToPath(new URL("../page", import.meta.url));

/** A bundler: writes the page into a folder. Rejects with its messages. */
export type Bundler = (folder: string) => Promise<void>;

/** The bundlers by name. Vite is imported when it is used. */
export const bundlers: Readonly<Record<"esbuild" | "vite", Bundler>> = {
  async esbuild(folder) {
    await bundlePage(folder);
    copyFileSync(join(page, "index.html"), join(folder, "index.html"));
  },
  async vite(folder) {
    const { build } = await import("vite");
    await build({
      configFile: false,
      root: page,
      base: "./",
      logLevel: "silent",
      build: { outDir: folder, emptyOutDir: true },
    });
  },
};

async function bundlePage(folder: string): Promise<void> {
  await buildWithEsbuild({
    entryPoints: [join(page, "main.js")],
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    outdir: folder,
    logLevel: "silent",
  });
}

/** Makes an empty folder. */
export function emptyFolder(path: string): string {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(path);
  return path;
}
