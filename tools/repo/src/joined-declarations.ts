/**
 * The declarations of the published packages, joined: one file for each entry that has types, and one for each part that entries share. All
 * packages are joined in one process, since what takes the time is to load what joins them.
 */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputOptions, type Plugin, rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import type { Manifest } from "./workspace.ts";

/** The fields of a package.json that list entries with declarations, and the packages that a user of the package has. */
export type DeclaredManifest = Pick<Manifest, "name" | "exports" | "dependencies" | "peerDependencies">;

/**
 * Joins the declarations of a package, which are at the paths of its sources in `from`, into the files that its package.json names, in
 * `to` instead of `dist`. Throws an Error if an entry has no declarations, or if they name a package that a user does not have: there,
 * its types would be unknown.
 */
export async function joinDeclarations(from: string, to: string, manifest: DeclaredManifest): Promise<void> {
  const entries = declaredEntries(manifest.exports);
  if (entries.length === 0) return;
  const input = entries.map((entry) => {
    const file = join(from, `${entry}.d.ts`);
    if (!existsSync(file)) fail(`${manifest.name} has no declarations of ${entry}: ${file} does not exist`);
    return [`${entry}.d`, file];
  });
  const joined = await rollup({
    input: Object.fromEntries(input),
    external: (id) => !isOwn(id),
    plugins: [dts({ tsconfig }), namespaceConstants, disposalLibrary],
    onLog(level, { message }) {
      if (level === "warn") fail(`${manifest.name}: ${message}`);
    },
  });
  try {
    const { output } = await joined.generate(format);
    const names = output.flatMap((file) => (file.type === "chunk" ? file.imports : []));
    const parts = new Set(output.map(({ fileName }) => fileName));
    const strange = names.find((name) => !parts.has(name) && !isAtUsers(name, manifest));
    if (strange !== undefined) fail(`${manifest.name} declares types with ${strange}, which is not a dependency of it`);
    await joined.write({ ...format, dir: to });
  } finally {
    await joined.close();
  }
}

/** Nothing but the declarations themselves is read: they name all that joining them depends on. */
const tsconfig = fileURLToPath(new URL("../joined-declarations.tsconfig.json", import.meta.url));

const format: OutputOptions = { format: "es", entryFileNames: "[name].ts", chunkFileNames: "[name]-[hash].d.ts" };

/** The joiner keeps only the type of a name of a namespace that is both a constant and a type, as the enums of a HAL version are. */
const namespaceConstants: Plugin = {
  name: "namespace-constants",
  renderChunk: (code) => ({ code: withNamespaceConstants(code), map: null }),
};

/** Declarations with `Symbol.dispose` name the library of TypeScript that has it: a user may have chosen an older one, without types of Node.js. */
const disposalLibrary: Plugin = {
  name: "disposal-library",
  renderChunk: (code) => ({ code: withDisposalLibrary(code), map: null }),
};

/** Adds to declarations a reference to the library that declares explicit resource management. */
export function withDisposalLibrary(declarations: string): string {
  const needsIt = /\bSymbol\.(?:asyncDispose|dispose)\b|\b(?:Async)?Disposable\b/.test(declarations);
  return needsIt ? `/// <reference lib="esnext.disposable" />\n${declarations}` : declarations;
}

/** Declarations in which namespaces export constants that are types too, not only the types or only the constants. */
export function withNamespaceConstants(declarations: string): string {
  const constants = new Set([...declarations.matchAll(/^declare const (\w+):/gm)].map(([, name]) => name));
  // Of a name from a file that entries share, the joiner makes a constant of the namespace, whose type is lost.
  const copy = /^declare const (\w+_d_(\w+)): typeof \2;\n/gm;
  const copies = new Map([...declarations.matchAll(copy)].map(([, name, own]) => [name, own]));
  return declarations
    .replace(copy, "")
    .replace(/^ {2}export \{ (.*) \};$/gm, (_, names: string) => {
      const exported = names.split(", ").map((name) => copies.get(name.split(" as ")[0]) ?? name);
      return `  export { ${exported.join(", ")} };`;
    })
    .replace(/^ {2}export type \{ (.*) \};$/gm, (_, names: string) => {
      const exported = names.split(", ").map((name) => {
        const [, local, own] = /^\w+_d_(\w+) as (\w+)$/.exec(name) ?? [];
        return local !== undefined && local === own && constants.has(local) ? local : `type ${name}`;
      });
      return `  export { ${exported.join(", ")} };`;
    });
}

/** The paths in `dist`, without their extension, of the entries that have declarations. */
export function declaredEntries(exports: unknown): string[] {
  if (typeof exports !== "object" || exports === null) return [];
  return Object.entries(exports).flatMap(([condition, target]) => {
    if (condition !== "types") return declaredEntries(target);
    const [, path = fail(`declarations must be in ./dist, not ${target}`)] =
      /^\.\/dist\/(.*)\.d\.ts$/.exec(`${target}`) ?? [];
    const source = Reflect.get(exports, "@nnhal/source");
    // They are found by their path, so those of another source would take their place.
    if (source !== undefined && source !== `./src/${path}.ts`)
      fail(`the declarations of ${source} must be at its path in ./dist, not ${target}`);
    return [path];
  });
}

/** Returns true if users of a package can import a module. */
function isAtUsers(name: string, { dependencies = {}, peerDependencies = {} }: DeclaredManifest): boolean {
  const [first = "", second = ""] = name.split("/");
  const own = first.startsWith("@") ? `${first}/${second}` : first;
  return name.startsWith("node:") || own in dependencies || own in peerDependencies;
}

/** Returns true if a file belongs to the package itself. */
function isOwn(id: string): boolean {
  return id.startsWith(".") || isAbsolute(id);
}

function fail(message: string): never {
  throw new Error(message);
}
