/** A registry of our own on loopback: verdaccio, which fetches the packages of others from npm. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "./process.ts";

/** Not a dependency of this repository: 58 MB for a trial that is made by hand. */
const manifest = {
  private: true,
  dependencies: { verdaccio: "6.8.0" },
  // One of its dependencies asks for the tag "cjs", which not every registry has.
  overrides: { "node-fetch": "2.7.0" },
};

const config = `storage: ./storage
auth: { htpasswd: { file: ./htpasswd } }
uplinks: { npmjs: { url: "https://registry.npmjs.org/" } }
packages:
  "@nnhal/*": { access: $all, publish: $all }
  "nnhal": { access: $all, publish: $all }
  "create-nnhal": { access: $all, publish: $all }
  "nnhal-*": { access: $all, publish: $all }
  "**": { access: $all, proxy: npmjs }
log: { type: stdout, format: pretty, level: warn }
`;

export interface Registry {
  /** Begins with `http://127.0.0.1:`, and ends with a slash. */
  readonly url: string;
  /** Variables with which npm, pnpm and changesets use the registry, and no other. */
  readonly env: Readonly<Record<string, string | undefined>>;
  close(): Promise<void>;
}

/** Installs the registry into a folder, and starts it. Throws an Error with its output if it does not start. */
export async function startRegistry(root: string, folder: string): Promise<Registry> {
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "config.yaml"), config);
  const installed = await runCommand(root, "npm", ["install", "--prefer-offline", "--no-audit", "--no-fund"], folder);
  if (!installed.ok) throw new Error(`the registry cannot be installed:\n${installed.output}`);
  const address = `127.0.0.1:${await freePort()}`;
  const program = join(folder, "node_modules/verdaccio/bin/verdaccio");
  const child = spawn(process.execPath, [program, "--config", "config.yaml", "--listen", address], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const close = async () => {
    child.kill();
    await ended;
  };
  for (let attempt = 0; !(await answers(address)); attempt++) {
    if (child.exitCode === null && attempt < 120) await sleep(250);
    else {
      await close();
      throw new Error(`the registry does not answer at ${address}:\n${output}`);
    }
  }
  // npm publishes only with a token; this registry accepts any.
  const settings = join(folder, "npmrc");
  writeFileSync(settings, `registry=http://${address}/\n//${address}/:_authToken=trial\n`);
  // npm hands its own settings to the commands that it starts, such as this one.
  const inherited = Object.keys(process.env).filter((name) => /^p?npm_config_/i.test(name));
  const env = {
    ...Object.fromEntries(inherited.map((name) => [name, undefined])),
    npm_config_userconfig: settings,
    npm_config_registry: `http://${address}/`,
    pnpm_config_registry: `http://${address}/`,
  };
  return { url: `http://${address}/`, env, close };
}

async function answers(address: string): Promise<boolean> {
  const response = await fetch(`http://${address}/-/ping`).catch(() => undefined);
  return response?.ok === true;
}

/** A port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("the system gave no port");
  return address.port;
}
