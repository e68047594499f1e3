/**
 * @nnhal/backend/engines: the engines of this project, for programs that look for installed ones. To add an engine, add
 * its package and a row here.
 */
import type { Backend } from "./contract.ts";

/** An engine of this project. Its module exports a backend as `backend`. */
export interface KnownEngine {
  /** The name of its device. */
  readonly device: string;
  /** Its package. */
  readonly module: string;
  /** Packages that it computes with, which its user installs. */
  readonly needs: readonly string[];
}

/** The name of the device that runs every model. */
export const referenceDevice = "nnhal-reference";

/** Its engine. */
export const referenceEngine: KnownEngine = {
  device: referenceDevice,
  module: "@nnhal/backend-reference",
  needs: [],
};

/** The others, best first. */
export const fastEngines: readonly KnownEngine[] = [
  { device: "nnhal-ort", module: "@nnhal/backend-ort", needs: ["onnxruntime-node"] },
  { device: "nnhal-wasm", module: "@nnhal/backend-wasm", needs: [] },
  { device: "nnhal-tfjs", module: "@nnhal/backend-tfjs", needs: [] },
  { device: "nnhal-gpujs", module: "@nnhal/backend-gpujs", needs: [] },
];

/** The backend that a module exports as `backend`, as all engines do; undefined if it exports none. */
export function exportedBackend(module: unknown): Backend | undefined {
  const { backend }: { readonly backend?: unknown } = Object(module);
  return isBackend(backend) ? backend : undefined;
}

/** Returns whether a value is a backend, as far as can be checked without opening it. */
export function isBackend(value: unknown): value is Backend {
  const { open, name }: { readonly [Key in "open" | "name"]?: unknown } = Object(value);
  return typeof open === "function" && typeof name === "string";
}

/**
 * Returns whether importing `module` failed because it is not installed. False if it is installed but lacks a module
 * that it needs.
 */
export function isMissing(error: unknown, module: string): boolean {
  if (!(error instanceof Error)) return false;
  // Yarn's Plug'n'Play also throws this for an installed module that the importer does not declare, and the error arrives without its code.
  if (error.message.includes(`tried to access ${module}, but it isn't declared`)) return true;
  const code = "code" in error ? error.code : undefined;
  return (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") && error.message.includes(`'${module}'`);
}
