/**
 * The files of the built page, read once, and how they are sent.
 */
import { readdir, readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { extname, join, relative, sep } from "node:path";

/** The policy of all answers: no scripts but the page's own files, and no connections but to where it came from. */
export const contentPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".wasm": "application/wasm",
};

/** In the page: whether a program serves it. */
const unserved = '<meta name="nnhal-studio" content="static"';
const served = '<meta name="nnhal-studio" content="served"';

/** The page. */
export interface Page {
  /** Sends a file of the page, or 404. */
  send(path: string, response: ServerResponse): void;
}

/** Reads the page. Rejects if it has not been built. */
export async function readPage(folder: string): Promise<Page> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw new Error(`the page is not in ${folder}: "npm run build" makes it`, { cause });
  });
  const files = new Map<string, Uint8Array>();
  for (const entry of entries.filter((each) => each.isFile())) {
    const file = join(entry.parentPath, entry.name);
    files.set(`/${relative(folder, file).split(sep).join("/")}`, await readFile(file));
  }
  const index = files.get("/index.html");
  if (index === undefined) throw new Error(`the page is not in ${folder}: "npm run build" makes it`);
  files.set("/", Buffer.from(new TextDecoder().decode(index).replace(unserved, served)));
  return {
    send(path, response) {
      const bytes = files.get(path);
      if (bytes === undefined) {
        response
          .writeHead(404, { "content-type": "text/plain", "content-security-policy": contentPolicy })
          .end("not found\n");
        return;
      }
      const type = path === "/" ? ".html" : extname(path);
      response
        .writeHead(200, {
          "content-type": types[type] ?? "application/octet-stream",
          "content-security-policy": contentPolicy,
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-embedder-policy": "require-corp",
          // Names of scripts have the hash of their content.
          "cache-control": path.startsWith("/assets/") ? "max-age=31536000, immutable" : "no-cache",
        })
        .end(bytes);
    },
  };
}
