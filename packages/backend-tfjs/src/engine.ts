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
  /** Makes it the one that tfjs computes with. */
  select(): void;
}

/** Loads an engine: the given one, or the first that works. */
export async function loadEngine(wanted: EngineName | undefined): Promise<Engine | Unavailable> {
  const problems: string[] = [];
  for (const name of wanted === undefined ? engineNames : [wanted]) {
    try {
      return await load(name);
    } catch (error) {
      problems.push(`${packages[name]}: ${whyNot(error)}`);
    }
  }
  const installed = wanted === undefined ? packages.wasm : packages[wanted];
  return { unavailable: `no engine of tfjs works here. ${problems.join("; ")}`, remedy: `npm install ${installed}` };
}

async function load(name: EngineName): Promise<Engine> {
  const version = await versionOf[name]();
  const backend = registered[name];
  await unobtrusively(async () => {
    if (!(await tf.setBackend(backend))) throw new Error("tfjs could not start it");
    // tfjs greets the user at the first tensor.
    tf.tensor1d([0]).dispose();
  });
  return {
    name,
    version,
    copiesAtOnce: name === "wasm",
    select() {
      // Takes effect at once, since the engine is started.
      if (tf.getBackend() !== backend) void tf.setBackend(backend);
    },
  };
}

/** Imports an engine, which registers itself with tfjs, and gives its version. */
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
  const versions = module instanceof Object && "version" in module ? module.version : undefined;
  const version = versions instanceof Object && "tfjs-node" in versions ? versions["tfjs-node"] : undefined;
  return typeof version === "string" ? version : tf.version_core;
}

/**
 * Does something without the warnings that tfjs writes to the console, and without what the WebAssembly engine does to the process:
 * it listens for errors of anybody, to throw them again with the whole of its source.
 */
async function unobtrusively(run: () => Promise<void>): Promise<void> {
  const environment = tf.env();
  const before = environment.getBool("PROD");
  const exceptions = process.listeners("uncaughtException");
  const rejections = process.listeners("unhandledRejection");
  environment.set("PROD", true);
  try {
    await run();
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

/** The first line of an error's message. tfjs-node says at length how to build it. */
function whyNot(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") return "not installed";
  const message = error instanceof Error ? error.message : String(error);
  return message.trim().split("\n")[0];
}
