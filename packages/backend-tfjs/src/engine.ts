/**
 * The engines of tfjs that are installed: the native library of tfjs-node, WebAssembly, plain JavaScript. tfjs has one active engine in
 * the whole process, so each computation of this package selects its own engine first.
 */
import type { Unavailable } from "@nnhal/backend";
import * as tf from "@tensorflow/tfjs-core";

/** An engine of tfjs, by the package that it comes from. */
export type EngineName = "node" | "wasm" | "cpu";

/** In order of preference: the fastest first. */
export const engineNames = ["node", "wasm", "cpu"] as const satisfies readonly EngineName[];

/** The name of each engine in tfjs. */
const registered: Readonly<Record<EngineName, string>> = { node: "tensorflow", wasm: "wasm", cpu: "cpu" };

const packages: Readonly<Record<EngineName, string>> = {
  node: "@tensorflow/tfjs-node",
  wasm: "@tensorflow/tfjs-backend-wasm",
  cpu: "@tensorflow/tfjs-backend-cpu",
};

/** A loaded engine. */
export interface Engine {
  readonly name: EngineName;
  readonly version: string;
  /** True if it copies the elements of a new tensor immediately. Other engines may keep the array and read it later. */
  readonly copiesAtOnce: boolean;
  /** The engines that were tried before, with the reasons why they are not available. */
  readonly missing: readonly Unavailable[];
  /** The most bytes of all its tensors. Beyond that the engine does not fail, but its behaviour is undefined. */
  readonly memoryLimit: number;
  /** Makes it the active engine of tfjs. */
  select(): void;
}

/** Loads the given engine, or else the first that is available. */
export async function loadEngine(wanted: EngineName | undefined): Promise<Engine | Unavailable> {
  const missing: Unavailable[] = [];
  for (const name of wanted === undefined ? engineNames : [wanted]) {
    try {
      return engineOf(name, await inTurn(() => load(name)), missing);
    } catch (error) {
      missing.push(whyNot(name, error));
    }
  }
  const problems = missing.map(({ unavailable }) => unavailable).join("; ");
  // Of several remedies, that for WebAssembly: it needs only its package.
  return { ...(missing[1] ?? missing[0]), unavailable: `no engine of tfjs is available. ${problems}` };
}

function engineOf(name: EngineName, version: string, missing: readonly Unavailable[]): Engine {
  const backend = registered[name];
  return {
    name,
    version,
    copiesAtOnce: name === "wasm",
    // A WebAssembly module has at most 2 GiB, and not all of it is for tensors.
    memoryLimit: name === "wasm" ? 1.75 * 2 ** 30 : Number.POSITIVE_INFINITY,
    missing,
    select() {
      // Takes effect at once, because the engine has been started.
      if (tf.getBackend() !== backend) void tf.setBackend(backend);
    },
  };
}

/** Imports an engine, which registers itself with tfjs, and starts it. Returns its version. */
async function load(name: EngineName): Promise<string> {
  // Undefined before the first computation.
  const before: string | undefined = tf.getBackend();
  return unobtrusively(async () => {
    try {
      const version = await versionOf[name]();
      await start(registered[name]);
      // tfjs prints a greeting at the first tensor.
      tf.tensor1d([0]).dispose();
      return version;
    } catch (error) {
      if (before !== undefined && before !== tf.getBackend()) await tf.setBackend(before);
      throw error;
    }
  });
}

async function start(backend: string): Promise<void> {
  if (await tf.setBackend(backend)) return;
  // tfjs writes the reason to the console only. The factory throws it.
  const again = await tf.findBackendFactory(backend)();
  again.dispose();
  throw new Error("tfjs could not start it");
}

let last: Promise<unknown> = Promise.resolve();

/** Runs one function after the other: tfjs cancels the start of an engine when another one is started. */
function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
  const result = last.then(run);
  last = result.catch(() => {});
  return result;
}

/** Imports an engine and returns its version. */
const versionOf: Readonly<Record<EngineName, () => Promise<string>>> = {
  async node() {
    if (globalThis.process?.versions?.node === undefined) throw new Error("it needs Node.js");
    // Not a constant: the package is optional, so bundlers and compilers must not look for it.
    const specifier: string = packages.node;
    const module: unknown = await import(/* @vite-ignore */ /* webpackIgnore: true */ specifier);
    return versionIn(module);
  },
  wasm: async () => (await import("@tensorflow/tfjs-backend-wasm")).version_wasm,
  cpu: async () => (await import("@tensorflow/tfjs-backend-cpu")).version_cpu,
};

/** `module.version["tfjs-node"]` */
function versionIn(module: unknown): string {
  const versions = isObject(module) && "version" in module ? module.version : undefined;
  const version = isObject(versions) && "tfjs-node" in versions ? versions["tfjs-node"] : undefined;
  return typeof version === "string" ? version : tf.version_core;
}

/** True for modules too, which have no prototype. */
function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Runs a function without warnings of tfjs on the console, and without the process-wide error listeners of the WebAssembly engine, which
 * would print its whole source with any error.
 */
async function unobtrusively<Result>(run: () => Promise<Result>): Promise<Result> {
  const environment = tf.env();
  const before = environment.getBool("PROD");
  const restoreListeners = keepListeners();
  environment.set("PROD", true);
  try {
    return await run();
  } finally {
    environment.set("PROD", before);
    restoreListeners();
  }
}

/** Notes the error listeners of the process. Returns what removes those that were added since. */
function keepListeners(): () => void {
  const { process } = globalThis;
  // A browser has none.
  if (process?.listeners === undefined) return () => {};
  const exceptions = process.listeners("uncaughtException");
  const rejections = process.listeners("unhandledRejection");
  return () => {
    for (const listener of process.listeners("uncaughtException")) {
      if (!exceptions.includes(listener)) process.removeListener("uncaughtException", listener);
    }
    for (const listener of process.listeners("unhandledRejection")) {
      if (!rejections.includes(listener)) process.removeListener("unhandledRejection", listener);
    }
  };
}

function whyNot(engine: EngineName, error: unknown): Unavailable {
  const name = packages[engine];
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  // The message of tfjs-node goes on with build instructions.
  const message = (error instanceof Error ? error.message : String(error)).trim().split("\n")[0].trim();
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
    // The missing module may also be a dependency of the package.
    const unavailable = message.includes(`'${name}'`) ? `${name} is not installed` : `${name}: ${message}`;
    return { unavailable, remedy: `npm install ${name}` };
  }
  const unavailable = `${name} does not work: ${message}`;
  // Its library is downloaded when it is installed; npm downloads it again when it rebuilds the package.
  return engine === "node" ? { unavailable, remedy: `npm rebuild ${name}` } : { unavailable };
}
