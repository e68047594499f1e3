/** Bundles packages as a browser would get them, with the defaults of esbuild. Anything of Node.js in one makes its bundle fail. */
import { gzipSync } from "node:zlib";
import { type BuildOptions, build, type Metafile } from "esbuild";

export interface BrowserBundle {
  /** A script that puts the exports of the entry into the global `bundle`. */
  readonly code: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** The bundled form of the packages: their sources, or their builds, as users get them. */
export type PackageForm = "sources" | "builds";

/**
 * Bundles `source`, a module that may import packages which `folder` can import. Throws an Error that names, for each module that does not
 * exist in a browser, the imports that lead to it.
 */
export async function bundleForBrowser(
  source: string,
  folder: string,
  form: PackageForm = "sources",
): Promise<BrowserBundle> {
  const options = {
    stdin: { contents: source, resolveDir: folder, sourcefile: entryName, loader: "ts" },
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    globalName: "bundle",
    platform: "browser",
    target: "es2022",
    logLevel: "silent",
    ...(form === "sources" && { conditions: ["@nnhal/source"] }),
  } as const satisfies BuildOptions;
  try {
    const result = await build(options);
    const bytes = result.outputFiles[0]?.contents ?? new Uint8Array();
    return { code: new TextDecoder().decode(bytes), bytes: bytes.length, gzipBytes: gzipSync(bytes).length };
  } catch (error) {
    const missing = missingModules(error);
    if (missing.length === 0) throw error;
    const { metafile } = await build({ ...options, external: [...missing], metafile: true });
    throw new Error(
      missing.map((name) => `${name} is reached by ${importChain(metafile, name).join(" → ")}`).join("\n"),
    );
  }
}

const entryName = "bundle-entry.ts";

/** The modules that could not be resolved, of an error of esbuild. */
function missingModules(error: unknown): readonly string[] {
  const errors: unknown = error instanceof Error && "errors" in error ? error.errors : [];
  const texts = Array.isArray(errors) ? errors.map((one: { readonly text?: unknown }) => String(one.text)) : [];
  return [...new Set(texts.flatMap((text) => /^Could not resolve "([^"]*)"$/.exec(text)?.[1] ?? []))];
}

/** The shortest way from the entry to a module that is not in the bundle: paths, and the module last. */
export function importChain({ inputs }: Pick<Metafile, "inputs">, missing: string): readonly string[] {
  const entry = Object.keys(inputs).find((path) => path.endsWith(entryName)) ?? entryName;
  const from = new Map<string, string | undefined>([[entry, undefined]]);
  for (const path of from.keys()) {
    for (const { path: next, external } of inputs[path]?.imports ?? []) {
      if (external && next === missing) return [...wayTo(path, from), missing];
      if (!external && !from.has(next)) from.set(next, path);
    }
  }
  return [missing];
}

function wayTo(path: string, from: ReadonlyMap<string, string | undefined>): string[] {
  const before = from.get(path);
  return before === undefined ? [path] : [...wayTo(before, from), path];
}
