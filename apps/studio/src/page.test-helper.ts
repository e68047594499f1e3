/**
 * The page in Chromium, opened as a person does: what the tests of its parts share.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { referenceBackend } from "@nnhal/backend-reference";
import { backend as wasmBackend } from "@nnhal/backend-wasm";
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { builtPage } from "./built-page.test-helper.ts";
import { type StudioServer, serveStudio } from "./server.ts";

const executablePath = [process.env.NNHAL_CHROMIUM, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(
  (path) => path !== undefined && existsSync(path),
);
const remedy =
  executablePath === undefined ? " (skipped: apt-get install chromium-headless-shell, or NNHAL_CHROMIUM)" : "";

/** Milliseconds after which something has not come: machines may be busy. A wait ends once it is there. */
export const WAIT = 60_000;

/** Form in which the page saves what is shown. */
export type SavedForm = "HTML" | "PNG" | "SVG";

/** A page that is open, for all tests of a file. */
export interface OpenedPage {
  readonly page: Page;
  /** Address of the server, without the token. */
  readonly origin: string;
  /** Folder of the built page. */
  readonly built: string;
  /** Writes a file to open. */
  put(name: string, bytes: Uint8Array): string;
  chooseFile(path: string): Promise<void>;
  /** Opens a file, and waits until the page says what can become of it: the texts of the file before are there until then. */
  openFile(path: string, verdict?: string): Promise<void>;
  /** Shows a part of the page: Graph, Run, Why, Compare or Report. */
  show(panel: string): Promise<void>;
  /** Saves what is shown. */
  save(form: SavedForm): Promise<{ readonly path: string; readonly bytes: Uint8Array; readonly text: string }>;
}

/** Path of a file of the demonstration. */
export const demoFile = (name: string) => fileURLToPath(new URL(`../../cli/demo/${name}`, import.meta.url));

/** Starts another Chromium. */
export const launch = (...flags: readonly string[]) =>
  chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox", ...flags] });

/** A camera that shows a test picture, and needs no permission. */
const flags = ["--disable-gpu", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

/**
 * Tests of the page. `define` gets the page, which is there once tests run. After each test nothing may have failed in the page, and it may
 * have asked for nothing elsewhere.
 */
export function describePage(name: string, define: (opened: () => OpenedPage) => void): void {
  describe.skipIf(executablePath === undefined)(`${name} in a browser${remedy}`, { timeout: 4 * WAIT }, () => {
    const folder = mkdtempSync(join(tmpdir(), "nnhal-studio-page-"));
    const faults: string[] = [];
    let browser: Browser;
    let server: StudioServer;
    let opened: OpenedPage;
    beforeAll(async () => {
      const built = await builtPage();
      [server, browser] = await Promise.all([serve(built), launch(...flags)]);
      // The token works once: all pages of this context have the cookie.
      const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
      const origin = `http://127.0.0.1:${server.port}/`;
      watch(page, origin, faults);
      opened = { ...actionsOn(page, folder), page, origin, built };
      await page.goto(server.url);
      await page.getByText("This network can run.").waitFor();
    });
    afterAll(async () => {
      await browser.close();
      await server.close();
      rmSync(folder, { recursive: true });
    });
    beforeEach(() => {
      faults.length = 0;
    });
    afterEach(() => {
      expect(faults).toEqual([]);
    });
    define(() => opened);
  });
}

/** Serves the page with two devices of the machine, which are opened when they are needed, and one that does not work. */
function serve(built: string): Promise<StudioServer> {
  const backends = new Map([referenceBackend, wasmBackend].map((backend) => [`nnhal-${backend.name}`, backend]));
  const opened = new Map<string, Promise<OpenedDevice>>();
  const open = async (name: string) => {
    const backend = backends.get(name);
    if (backend === undefined) throw new Error(`there is no device "${name}"`);
    const device = await openDevice({ backend });
    if ("unavailable" in device) throw new Error(device.unavailable);
    return device;
  };
  const openOnce = (name: string) => {
    const device = opened.get(name) ?? open(name);
    opened.set(name, device);
    return device;
  };
  const names = [...backends.keys()];
  const select = (text: string) => Promise.all((text === "auto" ? names : text.split(",")).map(openOnce));
  const list = async () => [...names.map((name) => ({ name })), { name: "gone", problem: "its driver has ended" }];
  return serveStudio({ port: 0, folder: built, devices: { list, select } });
}

/** Collects what fails in a page, and requests to elsewhere. */
function watch(page: Page, origin: string, faults: string[]): void {
  page.setDefaultTimeout(WAIT);
  // Pictures that were chosen are shown by addresses of the page itself.
  const own = [origin, `blob:${origin}`, "data:,"];
  const strange = (url: string) => !own.some((start) => url.startsWith(start));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("request", (request) => strange(request.url()) && faults.push(`request of ${request.url()}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
}

function actionsOn(page: Page, folder: string): Omit<OpenedPage, "page" | "origin" | "built"> {
  const chooseFile = (path: string) => page.setInputFiles(".head input[type=file]", path);
  return {
    chooseFile,
    put(name, bytes) {
      const path = join(folder, name);
      writeFileSync(path, bytes);
      return path;
    },
    async openFile(path, verdict = "This network can run.") {
      await chooseFile(path);
      await page.locator(".head .file", { hasText: basename(path) }).waitFor();
      await page.locator(".details").getByText(verdict).waitFor();
    },
    show: (panel) => page.locator("nav").getByRole("button", { name: panel, exact: true }).click(),
    async save(form) {
      await page.getByText("Save", { exact: true }).click();
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: `as ${form}` }).click();
      const path = join(folder, (await download).suggestedFilename());
      await (await download).saveAs(path);
      const bytes = readFileSync(path);
      return { path, bytes, text: new TextDecoder().decode(bytes) };
    },
  };
}
