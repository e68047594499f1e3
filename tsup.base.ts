// The one build recipe: every published package is built to ES modules with declarations, without source maps.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Options } from "tsup";

const root = fileURLToPath(new URL(".", import.meta.url));

/** What the recipe reads in the package.json of the package at hand. */
interface Manifest {
  /** Packages whose code becomes a part of the build. */
  readonly bundledIntoBuild?: readonly string[];
  /** Files that take the place of others in browsers. */
  readonly browser?: unknown;
  readonly exports?: unknown;
}

/**
 * The build of a package that each install of `nnhal` has: without white space. Names stay, and lines are short enough for the traces of errors to
 * name a place.
 */
export const withoutWhiteSpace: NonNullable<Options["esbuildOptions"]> = (options) => {
  Object.assign(options, { minifyWhitespace: true, minifySyntax: true, lineLimit: 200 });
};

/** A library package. `entry` maps each output path inside dist/ (without extension) to its source file. */
export function library(entry: Record<string, string> = { index: "src/index.ts" }, more: Options = {}) {
  const {
    bundledIntoBuild: bundled = [],
    browser,
    exports,
  }: Manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const node = defineConfig({
    entry,
    format: ["esm"],
    target: "node20",
    platform: "neutral",
    // Other builds of the package clean their own folders.
    clean: ["!*/**"],
    splitting: true,
    treeshake: false,
    ...(bundled.length > 0 && bundlePackages(bundled, more.platform === "node")),
    async onSuccess() {
      if (bundled.length > 0) writeFileSync(join("dist", "THIRD-PARTY-LICENSES.txt"), licencesOf(bundled));
      if (more.dts !== false) copyDeclarations();
    },
    ...more,
    esbuildPlugins: [urlsOfBuild, ...(more.esbuildPlugins ?? [])],
    esbuildOptions: inFolder((options, context) => {
      // The largest packages are built twice.
      if (browser !== undefined) withoutWhiteSpace(options, context);
      more.esbuildOptions?.(options, context);
    }),
    dts: false,
  });
  // In browsers one file may serve several entries, so that what they share need not be cut into many small files.
  const named = JSON.stringify(exports);
  const servedFrom = (folder: BrowserFolder) =>
    Object.fromEntries(Object.entries(entry).filter(([name]) => named.includes(`"./dist/${folder}/${name}.js"`)));
  const builds = (["browser", "alone"] as const).flatMap((folder) => {
    const served = servedFrom(folder);
    return Object.keys(served).length === 0 ? [] : [forBrowsers(folder, served, bundled, more)];
  });
  return browser === undefined ? node : [node, ...builds];
}

/**
 * A folder of dist for browsers. Entries of `browser` share code in further files. Those of `alone` have copies of it: bundlers cut code no finer than the
 * files they read, so who uses a little of a shared file would load all of it.
 */
type BrowserFolder = "browser" | "alone";

/**
 * A file beside a source, which is named by its URL, is a file of the build. Bundlers follow such a URL.
 */
const urlsOfBuild: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "URLs of the build",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      return {
        contents: source.replace(/(new URL\("\.\/[^"]*)\.ts"(?=, import\.meta\.url\))/g, '$1.js"'),
        loader: "ts",
      };
    });
  },
};

/** Pages need no summaries of operations: the documents are written from the sources. */
const withoutSummaries: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "definitions without summaries",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]ops[\\/][^\\/]*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(/^(\s*summary:\s*)"[^"]*"(?=,$)/gm, '$1""'),
      loader: "ts",
    }));
  },
};

/**
 * The entries that package.json names for browsers in a folder of dist: files of the package's field `browser` take the place of others, and what they import
 * by need is a file of its own. Bundlers of applications read them, so they have no white space; names stay, except in copies, which are small.
 */
function forBrowsers(
  folder: BrowserFolder,
  entry: Record<string, string>,
  bundled: readonly string[],
  { esbuildOptions }: Options,
) {
  return defineConfig({
    entry,
    outDir: join("dist", folder),
    format: ["esm"],
    target: "es2022",
    platform: "browser",
    clean: true,
    splitting: folder === "browser",
    treeshake: false,
    noExternal: [...bundled],
    esbuildPlugins: [withoutSummaries],
    esbuildOptions: inFolder((options, context) => {
      options.minifyWhitespace = true;
      options.minifySyntax = true;
      options.minifyIdentifiers = folder === "alone";
      esbuildOptions?.(options, context);
    }),
  });
}

/** One process builds all packages, and that of esbuild stays in the folder of the first. */
function inFolder(more: Options["esbuildOptions"]): NonNullable<Options["esbuildOptions"]> {
  const folder = process.cwd();
  return (options, context) => {
    options.absWorkingDir = folder;
    more?.(options, context);
  };
}

/**
 * A command: no declarations, since it is not imported. It has no white space, which would be a quarter of what is installed of it; names
 * stay, for traces of the stack.
 */
export function command(entry: Record<string, string>, more: Options = {}) {
  const esbuildOptions: Options["esbuildOptions"] = (options, context) => {
    withoutWhiteSpace(options, context);
    more.esbuildOptions?.(options, context);
  };
  return library(entry, { platform: "node", dts: false, ...more, esbuildOptions });
}

/** Copies the declarations of the package at hand, which have been made for all packages (`npm run build`). */
export function copyDeclarations(): void {
  const folder = join(root, ".declarations", relative(root, process.cwd()), "dist");
  if (!existsSync(folder)) throw new Error(`${folder} does not exist: "npm run build" makes it`);
  cpSync(folder, "dist", { recursive: true });
}

/** Takes packages into the build. On Node.js they may be CommonJS and use require. */
function bundlePackages(packages: readonly string[], isForNode: boolean): Options {
  const banner =
    'import { createRequire as nnhalCreateRequire } from "node:module";\nconst require = nnhalCreateRequire(import.meta.url);';
  return {
    noExternal: [...packages],
    ...(isForNode && { banner: { js: banner } }),
  };
}

/**
 * The licences of packages: dependencies of the package at hand, or of the first of them. Those of this project have its own, and some that lack theirs have
 * it in the folder `licences/NAME` of the package at hand.
 */
function licencesOf(bundled: readonly string[]): string {
  const packages = bundled.filter((name) => !name.startsWith("@nnhal/"));
  const own = createRequire(join(process.cwd(), "package.json"));
  const [main] = packages;
  if (main === undefined) throw new Error("there is no package whose licence is wanted");
  const first = createRequire(own.resolve(main));
  const texts = packages.map((name) => {
    const isOwn = existsSync(join("node_modules", name));
    const folder = folderOf(name, (isOwn ? own : first).resolve(name));
    // A package may have code of others, with their licences beside it.
    const noted = join("licences", ...name.split("/"));
    const place = existsSync(noted) ? noted : folder;
    return licenceIn(folder, place);
  });
  return joinLicences("This package", texts);
}

/** The texts of `licenceIn` as one file. `what`: what contains the packages, as the beginning of a sentence. */
export function joinLicences(what: string, texts: readonly string[]): string {
  return `${what} contains the code of:\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** The name, version and licence of the package in a folder. `place`: where its licences are. */
export function licenceIn(folder: string, place = folder): string {
  const files = readdirSync(place, { recursive: true, encoding: "utf8" });
  const licences = files.filter((each) => /(^|[/\\])licen[cs]e[^/\\]*$/i.test(each) && !each.includes("node_modules"));
  const { name, version, license }: { readonly name: string; readonly version: string; readonly license?: string } =
    JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const found = licences.map((file) => readFileSync(join(place, file), "utf8"));
  if (found.length === 0) found.push(licenceWithoutFile(name, folder, license));
  return [`${name} ${version}\n`, ...found.map((text) => `${text.trim()}\n`)].join("\n");
}

/** The licence of a package that has no file for it: that of this project, or the end of its README. */
function licenceWithoutFile(name: string, folder: string, license: string | undefined): string {
  if (license === "Apache-2.0") return "It is under the Apache License 2.0, whose text is in the file LICENSE.";
  const readme = join(folder, "README.md");
  const text = existsSync(readme) ? readFileSync(readme, "utf8") : "";
  const at = text.search(/^licen[cs]e\b.*\n-+\n[\s\S]*copyright/im);
  if (at < 0) throw new Error(`${name} has no file with its licence in ${folder}`);
  return text.slice(at);
}

/** The folder of a package, from the path of its main file. */
function folderOf(name: string, main: string): string {
  const end = join("node_modules", ...name.split("/"));
  for (let folder = dirname(main); folder !== dirname(folder); folder = dirname(folder))
    if (folder.endsWith(end)) return folder;
  throw new Error(`${main} does not lie in a folder ${end}`);
}
