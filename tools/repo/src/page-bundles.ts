/** Bundles the page of the browser check with esbuild, Vite and webpack, each with its defaults. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as buildWithEsbuild } from "esbuild";

/** The folder of the page. */
const page = fileURLToPath(new URL("../page", import.meta.url));

/** Folder of webpack's cache between gates. */
const webpackCache = fileURLToPath(new URL("../../../node_modules/.cache/nnhal-webpack", import.meta.url));

/** A bundler: writes the page into a folder. Rejects with its messages. */
export type Bundler = (folder: string) => Promise<void>;

/** The bundlers by name. Vite and webpack are imported when they are used. */
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
    const [{ minify }] = await Promise.all([import("vite"), bundleWithWebpack(folder)]);
    for (const name of readdirSync(folder).filter((each) => each.endsWith(".js"))) {
      const file = join(folder, name);
      const { code, errors } = await minify(name, readFileSync(file, "utf8"));
      const [error] = errors;
      if (error !== undefined) throw new Error(`${name} of webpack cannot be minified: ${error.message}`);
      writeFileSync(file, code);
    }
    copyFileSync(join(page, "index.html"), join(folder, "index.html"));
  },
};

/**
 * Bundles with the defaults of webpack and its cache, and without its minifier, which takes a minute of a processor. Vite's
 * takes half a second.
 */
async function bundleWithWebpack(folder: string): Promise<void> {
  const { default: webpack } = await import("webpack");
  const configuration = {
    mode: "production",
    entry: join(page, "main.js"),
    output: { path: folder },
    optimization: { minimize: false },
    performance: false,
    cache: { type: "filesystem", cacheDirectory: webpackCache },
  } as const;
  await new Promise<void>((resolve, reject) => {
    const compiler = webpack(configuration, (error, stats) => {
      const problems = stats?.toString({ all: false, errors: true, warnings: true }) ?? "";
      if (error) reject(error);
      else if (problems !== "") reject(new Error(problems));
      // The cache is written when the compiler is closed.
      else compiler?.close((failure) => (failure ? reject(failure) : resolve()));
    });
  });
}

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
