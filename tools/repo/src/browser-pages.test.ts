import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { engineLimit, problemsOf, referenceLimits } from "./browser-pages.ts";
import { findChromium, visit } from "./chromium.ts";

const folder = mkdtempSync(join(tmpdir(), "nnhal-visit-"));
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * A program in place of Chromium: it opens its last argument, and posts each response to /answer until there is no next page.
 */
function browser(script: string): string {
  const path = join(folder, `browser-${script.length}.mjs`);
  writeFileSync(path, `#!/usr/bin/env node\nconst url = process.argv.at(-1);\n${script}`, { mode: 0o755 });
  return path;
}

const walking = browser(`
let at = url;
while (at !== undefined) {
  const page = await (await fetch(at)).text();
  const sent = await fetch(new URL("/answer", url), { method: "POST", body: JSON.stringify(page) });
  const next = await sent.text();
  at = next === "" ? undefined : new URL(next, url);
}
await new Promise((resolve) => setTimeout(resolve, 60_000));
`);

describe("visit", () => {
  writeFileSync(join(folder, "a.js"), "first");
  writeFileSync(join(folder, "b.html"), "second");
  const folders = { pages: folder };

  test("opens each page, and returns the answers with the bytes of their scripts; the browser is ended", async () => {
    const urls = ["/pages/a.js", "/pages/b.html", "/pages/../../etc/passwd", "/others/a.js"];
    const answers = await visit({ chromium: walking, folders, urls, limit: 60_000 });
    expect(answers.map(({ answer }) => answer)).toEqual(["first", "second", "", ""]);
    expect(answers.map(({ scriptBytes }) => scriptBytes > 0)).toEqual([true, false, false, false]);
  });

  test.each([
    ["ends early", browser("process.exit(3);"), 60_000, "ended with exit code 3"],
    ["does not answer", browser("setTimeout(() => {}, 60_000);"), 200, "/pages/a.js has not answered within 200 ms"],
    ["does not exist", join(folder, "absent"), 60_000, "ENOENT"],
  ])("rejects if the browser %s", async (_, chromium, limit, message) => {
    await expect(visit({ chromium, folders, urls: ["/pages/a.js"], limit })).rejects.toThrow(message);
  });
});

describe("findChromium", () => {
  test("the program that is named precedes those in PATH", () => {
    writeFileSync(join(folder, "chromium"), "");
    expect(findChromium({ NNHAL_CHROMIUM: "/mine", PATH: folder })).toBe("/mine");
    expect(findChromium({ PATH: folder })).toBe(join(folder, "chromium"));
    expect(findChromium({ PATH: "/absent" })).toBeUndefined();
  });
});

describe("the answer of a page", () => {
  const answer = { digit: 2, device: "nnhal-reference" };
  const wasm = { digit: 2, device: "nnhal-wasm" };
  const url = "/vite/index.html?way=reference";
  const { esbuild = 0, vite = 0, webpack = 0 } = referenceLimits;

  test.each([
    [{ url, answer, scriptBytes: vite }, 0],
    [{ url, answer, scriptBytes: vite + 1 }, 1],
    [{ url: "/esbuild/index.html?way=reference", answer, scriptBytes: esbuild }, 0],
    [{ url: "/esbuild/index.html?way=reference", answer, scriptBytes: esbuild + 1 }, 1],
    [{ url: "/vite/index.html?way=worker", answer, scriptBytes: vite + 1 }, 0],
    [{ url: "/vite/index.html?way=wasm", answer: wasm, scriptBytes: vite + engineLimit }, 0],
    [{ url: "/vite/index.html?way=wasm", answer: wasm, scriptBytes: vite + engineLimit + 1 }, 1],
    [{ url: "/vite/index.html?way=wasm", answer, scriptBytes: 1 }, 1],
    [{ url: "/webpack/index.html?way=reference", answer, scriptBytes: webpack }, 0],
    [{ url: "/webpack/index.html?way=reference", answer, scriptBytes: webpack + 1 }, 1],
    [{ url, answer: { ...answer, digit: 3 }, scriptBytes: 1 }, 1],
    [{ url, answer: { ...answer, device: "nnhal-tfjs" }, scriptBytes: 1 }, 1],
    [{ url, answer: { error: "Error: no" }, scriptBytes: 1 }, 1],
  ])("%j has %d problems", (page, count) => {
    expect(problemsOf(page)).toHaveLength(count);
  });
});
