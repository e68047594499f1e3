/**
 * The engines of this project. They are found, not bundled: a package is loaded, from beside this one, when its device is asked for.
 */
import { createRequire } from "node:module";
import type { Backend } from "@nnhal/backend";
import { exportedBackend, fastEngines, type KnownEngine, referenceEngine } from "@nnhal/backend/engines";
import type { ExtensionDefinition } from "@nnhal/operations";
import type { Engine } from "./backend-module.ts";

/** In the order in which they are listed, and win ties. */
export const knownEngines: readonly Engine[] = [
  { ...referenceEngine, load: () => loadReference([]), withExtensions: loadReference },
  ...fastEngines.map((engine) => ({
    ...engine,
    packages: [engine.module, ...engine.needs].join(" "),
    load: () => loadEngine(engine),
    isInstalled: () => isInstalled(engine),
  })),
];

/** Returns true if an engine and the packages that it computes with are installed. Loads nothing. */
function isInstalled({ module, needs }: KnownEngine): boolean {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${module}/package.json`);
    for (const need of needs) createRequire(manifest).resolve(need);
    return true;
  } catch {
    return false;
  }
}

/** The reference with the operators of .tflite that the HAL lacks, and with other extensions. */
async function loadReference(extensions: readonly ExtensionDefinition[]): Promise<Backend> {
  const { createReferenceBackend } = await import("@nnhal/backend-reference");
  return createReferenceBackend({ extensions: [await loadTflite(), ...extensions] });
}

/** Another engine, with those of these operators that it knows. */
async function loadEngine({ module }: KnownEngine): Promise<Backend> {
  const backend = exportedBackend(await import(module));
  if (backend === undefined) throw new Error("it exports no backend");
  return backend.withExtensions?.([await loadTflite()]) ?? backend;
}

async function loadTflite(): Promise<ExtensionDefinition> {
  return (await import("@nnhal/extension-tflite")).tfliteExtension;
}
