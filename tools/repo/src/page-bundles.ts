/** Bundles the page of the browser check with esbuild, Vite and webpack, each with its defaults. */
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as buildWithEsbuild, type Metafile } from "esbuild";

/** The folder of the page. */
const page = fileURLToPath(new URL("../page", import.meta.url));

/** A bundler: writes the page into a folder. Rejects with its messages. */
export type Bundler = (folder: string) => Promise<void>;

/** The bundlers by name. Those that take long to load are imported when they are used. */
export const bundlers: Readonly<Record<"esbuild" | "vite" | "webpack", Bundler>> = {
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
  async webpack(folder) {
    const { default: webpack } = await import("webpack");
    const stats = await new Promise<import("webpack").Stats | undefined>((resolve, reject) => {
      const entry = join(page, "main.js");
      const compiler = webpack({ mode: "production", context: page, entry, output: { path: folder } }, (error, found) =>
        compiler?.close(() => (error ? reject(error) : resolve(found))),
      );
    });
    if (stats?.hasErrors()) throw new Error(stats.toString({ all: false, errors: true, errorDetails: true }));
    copyFileSync(join(page, "index.html"), join(folder, "index.html"));
  },
};

/** Bundles the page with esbuild. Resolves with what esbuild says of the bundle. */
export async function bundlePage(folder: string): Promise<Metafile> {
  const { metafile } = await buildWithEsbuild({
    entryPoints: [join(page, "main.js")],
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    outdir: folder,
    logLevel: "silent",
    metafile: true,
  });
  return metafile;
}

/** Makes an empty folder. */
export function emptyFolder(path: string): string {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(path);
  return path;
}
