/**
 * Modules from elsewhere: `--backend MODULE` names one that exports its backend as `backend`, and `--extension MODULE` one that exports
 * definitions of vendor extensions under any names.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Backend, Unavailable } from "@nnhal/backend";
import { extensionsIn } from "@nnhal/network/session";
import { type ExtensionDefinition, isExtensionName } from "@nnhal/operations";
import { type Device, deviceTypeNames } from "@nnhal/types";
import { loadingReason, usageError } from "./failure.ts";
import { ensureKind } from "./files.ts";
import { oneLine } from "./text.ts";

/** An engine that may be installed. */
export interface Engine {
  /** The packages to install for it, with spaces between them. Default: `module`. */
  readonly packages?: string;
  /** The name of its device. */
  readonly device: string;
  /** The package or file it comes from. */
  readonly module: string;
  /** Returns true if its packages are installed, without loading them. Absent: they are. */
  isInstalled?(): boolean;
  /** Loads the module. */
  load(): Promise<Backend>;
  /** The same engine with the reference kernels of some extensions. Absent: it runs no kernels but its own. */
  withExtensions?(extensions: readonly ExtensionDefinition[]): Promise<Backend>;
}

/** A service of another process: its device is there, and needs no backend. */
export interface RemoteEngine extends Pick<Engine, "device" | "module"> {
  connect(): Promise<RemoteConnection | Unavailable>;
}

/** The device of a service. */
export interface RemoteConnection {
  readonly device: Device;
  /** Form in which memories cross to the device. */
  readonly memory: string;
}

/** The engine of a module. Rejects with a usage error if the module cannot be loaded or exports no backend. */
export async function engineOf(module: string, cwd: string): Promise<Engine> {
  const backend = backendIn(await loadModule(module, "backend", cwd), module);
  return { device: `nnhal-${backend.name}`, module, load: async () => backend };
}

/** The extensions that a module exports. Rejects with a usage error if the module cannot be loaded or exports none. */
export async function extensionsOf(module: string, cwd: string): Promise<readonly ExtensionDefinition[]> {
  const found = extensionsIn(await loadModule(module, "extension", cwd));
  const extensions = found.filter(({ name }) => isExtensionName(name));
  if (extensions.length === 0) throw usageError(`the module ${module} exports no definition of an extension`);
  return extensions;
}

async function loadModule(module: string, what: string, cwd: string): Promise<unknown> {
  const location = locate(module, cwd);
  // Loading a pipe or a device would never end.
  if (location.startsWith("file:")) await ensureKind(fileURLToPath(location), `${what} ${module}`, "file");
  try {
    return await import(location);
  } catch (error) {
    throw usageError(`cannot load the ${what} ${module}: ${whyNotLoaded(location, error)}`, error);
  }
}

/** Message of Node.js about a module that it cannot load, and a remedy for TypeScript that it does not read. */
export function whyNotLoaded(location: string, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const isTypeScript = /\.[cm]?ts$/.test(location);
  if (
    !isTypeScript ||
    (code !== "ERR_UNKNOWN_FILE_EXTENSION" && code !== "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING")
  )
    return oneLine(loadingReason(error));
  const file = basename(location);
  const built = `${file.slice(0, file.lastIndexOf("."))}.js`;
  return (
    `this Node.js (${process.versions.node}) does not read TypeScript there. Node.js 22.18 and newer does outside of node_modules; ` +
    `else build it: npx esbuild ${file} --bundle --packages=external --platform=node --format=esm --outfile=${built}`
  );
}

function backendIn(namespace: unknown, module: string): Backend {
  const backend = isObject(namespace) && "backend" in namespace ? namespace.backend : undefined;
  const problem = problemOf(backend);
  if (problem !== undefined || !isBackend(backend)) throw usageError(`the module ${module} ${problem}`);
  return backend;
}

/** Location of a module to import: a file, else a package beside the user's work, else one beside the command line. */
function locate(module: string, cwd: string): string {
  if (module.startsWith("file:")) return module;
  const path = resolve(cwd, module);
  if (isAbsolute(module) || /^\.{1,2}[/\\]/.test(module) || existsSync(path)) return pathToFileURL(path).href;
  try {
    return pathToFileURL(createRequire(join(cwd, "package.json")).resolve(module)).href;
  } catch {
    return module;
  }
}

function problemOf(value: unknown): string | undefined {
  if (!isObject(value)) return "exports no object called backend";
  if (!("name" in value) || typeof value.name !== "string" || !/^[a-z0-9]+$/.test(value.name)) {
    return "exports a backend whose name is not made of lower case letters and digits";
  }
  if (!("deviceType" in value) || typeof value.deviceType !== "number" || !deviceTypeNames.has(value.deviceType)) {
    return `exports a backend whose deviceType is none of ${[...deviceTypeNames.keys()].join(", ")}`;
  }
  if (!("open" in value) || typeof value.open !== "function") return "exports a backend without the method open";
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isBackend(value: unknown): value is Backend {
  return problemOf(value) === undefined;
}
