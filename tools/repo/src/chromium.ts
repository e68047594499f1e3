/** Opens pages in headless Chromium, from a server on loopback that stops by itself. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, extname, join, normalize, sep } from "node:path";
import { gzipSync } from "node:zlib";

/** The names of Chromium's programs, and of one of its relatives. */
const programs = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** The Chromium of this machine: the one that NNHAL_CHROMIUM names, else one in PATH; undefined if there is none. */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = environment.NNHAL_CHROMIUM;
  if (named) return named;
  const folders = (environment.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => programs.map((name) => join(folder, name))).find((path) => existsSync(path));
}

/** A page to open: its address below the server's, and its files. */
export interface Page {
  readonly url: string;
}

/** Answer of a page, and the scripts that it loaded. */
export interface PageAnswer {
  readonly url: string;
  readonly answer: unknown;
  /** Bytes of the scripts, as a server that packs them with gzip sends them. */
  readonly scriptBytes: number;
}

/** A page to open. */
export interface Visit {
  readonly chromium: string;
  /** Folders that are served, by the first part of their address. */
  readonly folders: Readonly<Record<string, string>>;
  /** Addresses below the server's, which are opened one after the other. Each page sends its answer to /answer. */
  readonly urls: readonly string[];
  /** Milliseconds after which all is over. */
  readonly limit: number;
}

/** Opens pages. Rejects if not all of them have answered in time. */
export async function visit({ chromium, folders, urls, limit }: Visit): Promise<readonly PageAnswer[]> {
  const answers: PageAnswer[] = [];
  let scripts = new Map<string, number>();
  let finish = (_error?: Error) => {};
  const finished = new Promise<void>((resolve, reject) => {
    finish = (error) => (error === undefined ? resolve() : reject(error));
  });
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    if (request.method === "POST" && path === "/answer") {
      void bodyOf(request).then((text) => {
        const scriptBytes = [...scripts.values()].reduce((sum, bytes) => sum + bytes, 0);
        answers.push({ url: urls[answers.length] ?? "", answer: JSON.parse(text), scriptBytes });
        scripts = new Map();
        response.end(urls[answers.length] ?? "");
        if (answers.length === urls.length) finish();
      }, finish);
      return;
    }
    const bytes = sendFile(path, folders, response);
    if (bytes !== undefined && extname(path) === ".js") scripts.set(path, gzipSync(bytes).length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const profile = mkdtempSync(join(tmpdir(), "nnhal-chromium-"));
  const browser = open(chromium, profile, `http://127.0.0.1:${port}${urls[0]}`);
  browser.once("error", finish);
  browser.once("exit", (code) => finish(new Error(`${chromium} ended with exit code ${code}`)));
  const timeout = setTimeout(
    () => finish(new Error(`${urls[answers.length]} has not answered within ${limit} ms`)),
    limit,
  );
  try {
    await finished;
    return answers;
  } finally {
    clearTimeout(timeout);
    const ended = new Promise((resolve) => browser.once("exit", resolve));
    if (browser.exitCode === null && browser.signalCode === null && browser.pid !== undefined) {
      // A distribution's command can be a script that starts the browser: it ends with all that it has started.
      process.kill(-browser.pid, "SIGKILL");
      await ended;
    }
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function open(chromium: string, profile: string, url: string): ChildProcess {
  const flags = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    `--user-data-dir=${profile}`,
    // It ends when its address is closed, and keeps no other page open.
    "--remote-debugging-port=0",
  ];
  return spawn(chromium, [...flags, url], { stdio: "ignore", detached: true });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".png": "image/png",
  ".wasm": "application/wasm",
};

/** Sends a file of one of the folders, or 404. Returns its bytes. */
function sendFile(path: string, folders: Visit["folders"], response: ServerResponse): Buffer | undefined {
  const [, first = "", ...rest] = path.split("/");
  const folder = Object.hasOwn(folders, first) ? folders[first] : undefined;
  const file = folder && normalize(join(folder, ...rest));
  if (folder === undefined || file === undefined || !file.startsWith(folder + sep) || !existsSync(file)) {
    response.writeHead(404).end();
    return undefined;
  }
  const bytes = readFileSync(file);
  response.writeHead(200, { "content-type": contentTypes[extname(file)] ?? "application/octet-stream" }).end(bytes);
  return bytes;
}
