/**
 * The engines of tfjs, found where they are installed: the native library of tfjs-node, WebAssembly, plain JavaScript. tfjs has one
 * engine at a time for the whole process; whoever computes here sees to it that it is theirs.
 */
import type { Unavailable } from "@nnhal/backend";
import * as tf from "@tensorflow/tfjs-core";

/** An engine of tfjs, by the package that it comes from. */
export type EngineName = "node" | "wasm" | "cpu";

/** In the order in which they are preferred: the fastest first. */
export const engineNames = ["node", "wasm", "cpu"] as const satisfies readonly EngineName[];

/** The name that each has within tfjs. */
const registered: Readonly<Record<EngineName, string>> = { node: "tensorflow", wasm: "wasm", cpu: "cpu" };

const packages: Readonly<Record<EngineName, string>> = {
  node: "@tensorflow/tfjs-node",
  wasm: "@tensorflow/tfjs-backend-wasm",
  cpu: "@tensorflow/tfjs-backend-cpu",
};

/** An engine that works. */
export interface Engine {
  readonly name: EngineName;
  readonly version: string;
  /** Whether it copies the elements of a new tensor when it is made; others may keep them and read them later. */
  readonly copiesAtOnce: boolean;
  /** The engines that were tried before it, and why they do not work here. */
  readonly missing: readonly Unavailable[];
  /** Bytes that all of its tensors may take together; nothing says in time that there is no room, and what follows is undefined. */
  readonly memoryLimit: number;
  /** Makes it the one that tfjs computes with. */
  select(): void;
}

/** Loads an engine: the given one, or the first that works. */
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
  // Of several, WebAssembly: it needs nothing but its package.
  return { ...(missing[1] ?? missing[0]), unavailable: `no engine of tfjs works here. ${problems}` };
}

function engineOf(name: EngineName, version: string, missing: readonly Unavailable[]): Engine {
  const backend = registered[name];
  return {
    name,
    version,
    copiesAtOnce: name === "wasm",
    // The memory of a WebAssembly module ends at 2 GiB, some of which is not tensors.
    memoryLimit: name === "wasm" ? 1.75 * 2 ** 30 : Number.POSITIVE_INFINITY,
    missing,
    select() {
      // Takes effect at once, since the engine is started.
      if (tf.getBackend() !== backend) void tf.setBackend(backend);
    },
  };
}

/** Imports an engine, which registers itself with tfjs, starts it, and gives its version. */
async function load(name: EngineName): Promise<string> {
  // Before anything has been computed there is none.
  const before: string | undefined = tf.getBackend();
  return unobtrusively(async () => {
    try {
      const version = await versionOf[name]();
      await start(registered[name]);
      // tfjs greets the user at the first tensor.
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
  // tfjs writes the reason to the console and keeps it from the caller; so it is asked for once more.
  const again = await tf.findBackendFactory(backend)();
  again.dispose();
  throw new Error("tfjs could not start it");
}

let last: Promise<unknown> = Promise.resolve();

/** Does one thing after the other: tfjs gives up starting an engine when another is started meanwhile. */
function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
  const result = last.then(run);
  last = result.catch(() => {});
  return result;
}

/** Imports an engine and gives its version. */
const versionOf: Readonly<Record<EngineName, () => Promise<string>>> = {
  async node() {
    // Not declared as a dependency that has to be there, so not one that a bundler or compiler may look for.
    const specifier: string = packages.node;
    const module: unknown = await import(specifier);
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

/** Modules, too, which have no prototype. */
function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Does something without the warnings that tfjs writes to the console, and without what the WebAssembly engine does to the process:
 * it listens for errors of anybody, to throw them again with the whole of its source.
 */
async function unobtrusively<Result>(run: () => Promise<Result>): Promise<Result> {
  const environment = tf.env();
  const before = environment.getBool("PROD");
  const exceptions = process.listeners("uncaughtException");
  const rejections = process.listeners("unhandledRejection");
  environment.set("PROD", true);
  try {
    return await run();
  } finally {
    environment.set("PROD", before);
    for (const listener of process.listeners("uncaughtException")) {
      if (!exceptions.includes(listener)) process.removeListener("uncaughtException", listener);
    }
    for (const listener of process.listeners("unhandledRejection")) {
      if (!rejections.includes(listener)) process.removeListener("unhandledRejection", listener);
    }
  }
}

function whyNot(engine: EngineName, error: unknown): Unavailable {
  const name = packages[engine];
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  // tfjs-node says at length how to build it.
  const message = (error instanceof Error ? error.message : String(error)).trim().split("\n")[0].trim();
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
    // What is not found may also be something that the package needs.
    const unavailable = message.includes(`'${name}'`) ? `${name} is not installed` : `${name}: ${message}`;
    return { unavailable, remedy: `npm install ${name}` };
  }
  const unavailable = `${name} does not work: ${message}`;
  // Its library is downloaded when it is installed, which npm does again when it rebuilds the package.
  return engine === "node" ? { unavailable, remedy: `npm rebuild ${name}` } : { unavailable };
}
