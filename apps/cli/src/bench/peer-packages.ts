/**
 * The packages of peers: which are needed, and which version is installed. Peers are not dependencies of this program: they are loaded
 * here only, if they are there.
 */
import { createRequire } from "node:module";
import type { Unavailable } from "@nnhal/backend";
import type { PeerName } from "./contestant.ts";

const require = createRequire(import.meta.url);

const packages: Readonly<Record<PeerName, readonly string[]>> = {
  onnxruntime: ["onnxruntime-node"],
  litert: ["@litertjs/core"],
  tfjs: ["@tensorflow/tfjs-core", "@tensorflow/tfjs-backend-wasm"],
};

/** Which packages of a peer are not installed, and how to add them; undefined if all are there. */
export function whyNoPeer(name: PeerName, resolve: (module: string) => unknown = find): Unavailable | undefined {
  const missing = packages[name].filter((module) => {
    try {
      resolve(module);
      return false;
    } catch {
      return true;
    }
  });
  if (missing.length === 0) return undefined;
  const are = missing.length === 1 ? "is" : "are";
  return { unavailable: `${missing.join(" and ")} ${are} not installed`, remedy: `npm install ${missing.join(" ")}` };
}

/** The version of an installed package. */
export function packageVersion(module: string): string {
  const manifest: unknown = require(`${module}/package.json`);
  return manifest instanceof Object && "version" in manifest ? String(manifest.version) : "of unknown version";
}

function find(module: string): unknown {
  return require.resolve(`${module}/package.json`);
}
