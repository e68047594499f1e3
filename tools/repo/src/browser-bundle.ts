/** Bundles packages from their sources as a browser would get them. Anything of Node.js in one makes its bundle fail. */
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

export interface BrowserBundle {
  /** A script that leaves what the entry exports in the global `bundle`. */
  readonly code: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** Bundles `source`, a module that may import packages which `folder` can import. Throws with esbuild's messages. */
export async function bundleForBrowser(source: string, folder: string): Promise<BrowserBundle> {
  const result = await build({
    stdin: { contents: source, resolveDir: folder, sourcefile: "entry.ts", loader: "ts" },
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    globalName: "bundle",
    platform: "browser",
    target: "es2022",
    conditions: ["@nnhal/source"],
    logLevel: "silent",
  });
  const bytes = result.outputFiles[0]?.contents ?? new Uint8Array();
  return { code: new TextDecoder().decode(bytes), bytes: bytes.length, gzipBytes: gzipSync(bytes).length };
}
