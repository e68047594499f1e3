/** Sites of frameworks: a page and a route, built with the framework's defaults. */
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../process.ts";
import type { Command, Place } from "./place.ts";
import {
  binOf,
  dependenciesOn,
  emptyProject,
  expectDone,
  installRuntime,
  onPath,
  quiet,
  type Workshop,
} from "./places.ts";

/** A framework. */
export interface Site {
  readonly name: string;
  /** The folder of `tools/repo/runtimes` with the sources of the site. */
  readonly folder: string;
  /** Packages beside nnhal, and beside the peers of these. The version of the first is that of the framework. */
  readonly packages: readonly [string, ...string[]];
  /** More of it, which must be of the same version as the first. */
  readonly parts?: readonly string[];
  /** The folder of files that pages fetch. */
  readonly files: string;
  /** Its command for building: a file of node_modules, and arguments. */
  readonly build: Command;
  /** The server of what was built: a file of the project, and arguments. */
  readonly start: (port: string) => Command;
  /** Variables of the server. */
  readonly env?: (port: string) => Readonly<Record<string, string>>;
  readonly ready: RegExp;
}

/** The frameworks. Their newest versions want a newer Node.js than nnhal does. */
export const sites: readonly Site[] = [
  {
    name: "Next.js",
    folder: "next",
    packages: ["next", "react", "react-dom"],
    files: "public",
    build: ["next/dist/bin/next", "build"],
    start: (port) => ["node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1", "-p", port],
    ready: /\bReady\b.*$/m,
  },
  {
    name: "React Router",
    folder: "react-router",
    packages: ["@react-router/dev", "react", "react-dom", "isbot", "vite"],
    parts: ["react-router", "@react-router/node", "@react-router/serve"],
    files: "public",
    build: ["@react-router/dev/bin.cjs", "build"],
    start: () => ["node_modules/@react-router/serve/bin.cjs", "build/server/index.js"],
    env: (port) => ({ PORT: port, HOST: "127.0.0.1" }),
    ready: /http:\/\/.*$/m,
  },
  {
    name: "SvelteKit",
    folder: "sveltekit",
    packages: ["@sveltejs/kit", "@sveltejs/adapter-node", "@sveltejs/vite-plugin-svelte", "svelte", "vite"],
    files: "static",
    build: ["vite/bin/vite.js", "build"],
    start: () => ["build/index.js"],
    env: (port) => ({ PORT: port, HOST: "127.0.0.1" }),
    ready: /Listening on .*$/m,
  },
  {
    name: "Astro",
    folder: "astro",
    packages: ["astro", "@astrojs/node"],
    files: "public",
    build: ["astro/bin/astro.mjs", "build"],
    start: () => ["dist/server/entry.mjs"],
    env: (port) => ({ PORT: port, HOST: "127.0.0.1", ASTRO_TELEMETRY_DISABLED: "1" }),
    ready: /listening on.*$/im,
  },
];

/** The version of Node.js under which sites are built and run. */
const node24 = {
  name: "Node.js 24",
  spec: `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}@24`,
  binary: /\/bin\/node(\.exe)?$/,
};

/** A page and a route of a framework. Throws an Error with what it printed if they cannot be built. */
export async function sitePlace(workshop: Workshop, site: Site): Promise<Place> {
  const { root, folder, registry } = workshop;
  const node = await installRuntime({ ...workshop, folder: makeFolder(join(folder, `${site.folder}-node`)) }, node24);
  const [framework] = site.packages;
  const { output: latest } = await runCommand(root, "npm", ["view", framework, "version"], folder, registry.env);
  const parts = Object.fromEntries((site.parts ?? []).map((part) => [part, latest.trim()]));
  const at = emptyProject(join(folder, `${site.folder}-site`), {
    dependencies: { ...dependenciesOn(["nnhal", ...site.packages]), ...parts },
  });
  cpSync(join(at, site.folder), at, { recursive: true });
  mkdirSync(join(at, site.files), { recursive: true });
  for (const name of ["digits.tflite", "digit.png"]) cpSync(join(at, name), join(at, site.files, name));
  const env = { ...onPath(node.file), NEXT_TELEMETRY_DISABLED: "1", ASTRO_TELEMETRY_DISABLED: "1" };
  await expectDone(runCommand(root, "npm", ["install", ...quiet], at, { ...registry.env, ...env }));
  const [file, ...args] = site.build;
  await expectDone(runCommand(root, node.file, [join(at, "node_modules", file), ...args], at, env));
  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(join(at, "node_modules", framework, "package.json"), "utf8"),
  );
  const other = "neither a page nor a route has it";
  return {
    name: `${site.name} ${version}: a page is built, and a route answers`,
    folder: at,
    env,
    site: {
      start: (port) => [node.file, ...site.start(String(port))],
      env: (port) => site.env?.(String(port)) ?? {},
      ready: site.ready,
      route: (script) => (script === "worker.mjs" ? "/api/digit?worker" : "/api/digit"),
    },
    script: (script, ...more) => [node.file, script, ...more],
    command: (command, ...more) => [node.file, binOf(at, command), ...more],
    impossible: { "command line": other, daemon: other, server: other },
  };
}

function makeFolder(folder: string): string {
  mkdirSync(folder);
  return folder;
}
