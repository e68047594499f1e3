/** The part of the gate that opens the page of the browser check: bundled with esbuild, Vite and webpack, in headless Chromium. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium, type PageAnswer, visit } from "./chromium.ts";
import { bundlers, emptyFolder } from "./page-bundles.ts";
import type { CommandResult } from "./process.ts";

/**
 * Bytes of scripts, packed with gzip, that the page of a bundler may load to run the demo network on the reference. esbuild makes more and
 * smaller files.
 */
export const referenceLimits: Readonly<Record<string, number>> = { esbuild: 164_500, vite: 153_500, webpack: 147_000 };

/** Bytes that such a page may load besides, packed with gzip, if the default engine computes. */
export const engineLimit = 66_500;

/** Expected answers of the demo network on the picture, with the devices that give them. */
const expected: Readonly<Record<string, unknown>> = {
  reference: { digit: 2, device: "nnhal-reference" },
  wasm: { digit: 2, device: "nnhal-wasm" },
  tfjs: { digit: 2, device: "nnhal-tfjs" },
  worker: { digit: 2, device: "nnhal-reference" },
};

/** The ways to run the network with each bundler. esbuild does not bundle the worker that a page starts. */
const waysOf = {
  esbuild: ["reference", "wasm", "tfjs"],
  vite: ["reference", "wasm", "tfjs", "worker"],
  webpack: ["reference", "wasm", "tfjs", "worker"],
} as const;

/** Milliseconds that all pages together may take. */
const limit = 120_000;

/** Bundles the page, and opens it in each way. Without Chromium it is bundled only, and the pages count as skipped. */
export async function checkPages(
  root: string,
): Promise<CommandResult & { readonly notes: readonly string[]; readonly skipped: number }> {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-pages-"));
  const notes: string[] = [];
  try {
    const folders: Record<string, string> = { demo: join(root, "apps/cli/demo") };
    const urls: string[] = [];
    for (const name of ["esbuild", "vite", "webpack"] as const) {
      folders[name] = emptyFolder(join(folder, name));
      await bundlers[name](folders[name]);
      urls.push(...waysOf[name].map((way) => `/${name}/index.html?way=${way}`));
    }
    const chromium = findChromium();
    if (chromium === undefined) {
      notes.push(
        `${urls.length} pages skipped: there is no Chromium (Debian: apt-get install chromium-headless-shell; or NNHAL_CHROMIUM=PATH)`,
      );
      return { ok: true, output: "", notes, skipped: urls.length };
    }
    const answers = await visit({ chromium, folders, urls, limit });
    const problems = answers.flatMap(problemsOf);
    notes.push(
      ...answers.map(({ url, scriptBytes }) => `${url}: ${(scriptBytes / 1000).toFixed(1)} kB of scripts, gzipped`),
    );
    return { ok: problems.length === 0, output: problems.join("\n"), notes, skipped: 0 };
  } catch (error) {
    return {
      ok: false,
      output: error instanceof Error ? (error.stack ?? error.message) : String(error),
      notes,
      skipped: 0,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the faults in the answer of a page. */
export function problemsOf({ url, answer, scriptBytes }: PageAnswer): string[] {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const way = searchParams.get("way") ?? "";
  const limit = referenceLimits[pathname.split("/")[1] ?? ""] ?? 0;
  const problems: string[] = [];
  if (JSON.stringify(answer) !== JSON.stringify(expected[way]))
    problems.push(`${url} answered ${JSON.stringify(answer)}, not ${JSON.stringify(expected[way])}`);
  const most = way === "reference" ? limit : way === "wasm" ? limit + engineLimit : Number.POSITIVE_INFINITY;
  if (scriptBytes > most)
    problems.push(`${url} loads ${scriptBytes} bytes of scripts, gzipped, of which ${most} are allowed`);
  return problems;
}
