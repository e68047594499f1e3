/**
 * The backend that compiles each network to WebAssembly, for exactly its shapes.
 */
import {
  type Backend,
  type BackendSession,
  capabilitiesOf,
  type OpenOptions,
  powerBasisOf,
  type Unavailable,
} from "@nnhal/backend";
import { verdictOf, versionSuffix } from "@nnhal/backend/proof";
import type { ExtensionDefinition } from "@nnhal/operations";
import { DeviceType } from "@nnhal/types";
import { writeModule } from "./assembler/module.ts";
import { times } from "./capabilities.ts";
import { compileGraph, type Machine, restoreGraph } from "./executable.ts";
import { halLowerings } from "./plan/lowerings.ts";
import { refusalOf } from "./plan/plan-graph.ts";
import { checkEngine } from "./self-check.ts";
import { type WebAssemblyApi, webAssembly } from "./web-assembly.ts";

/** It changes whenever results, or the modules of some network, change. */
const version = "nnhal-wasm-1 simd";

/** The compiler of modules, as far as the platform names it: another one is checked anew. Browsers keep no outcomes. */
const compilerOf = () => globalThis.process?.versions?.v8 ?? "unknown";

/** Creates a backend over an implementation of WebAssembly: tests give others. */
export function wasmBackendOver(
  api: WebAssemblyApi | undefined,
  extensions: readonly ExtensionDefinition[] = [],
): Backend {
  return {
    name: "wasm",
    deviceType: DeviceType.CPU,
    open: (options) => open(api, extensions, options),
    withExtensions: (more) => wasmBackendOver(api, [...extensions, ...more]),
  };
}

/** The backend over WebAssembly. */
export const backend: Backend = /* @__PURE__ */ wasmBackendOver(/* @__PURE__ */ webAssembly());

async function open(
  api: WebAssemblyApi | undefined,
  extensions: readonly ExtensionDefinition[],
  options?: OpenOptions,
): Promise<BackendSession | Unavailable> {
  if (api === undefined)
    return { unavailable: "there is no WebAssembly here", remedy: "use a newer Node.js or browser" };
  if (!hasVectors(api)) {
    return {
      unavailable: "WebAssembly has no 128-bit vectors here",
      remedy: "use a newer Node.js or browser, or a processor with SSE4.1",
    };
  }
  const { choices, refusalOf: wrong } = verdictOf(await checkEngine(api, `${version} ${compilerOf()}`, options));
  const isExtended = extensions.some(({ name }) => name === "nnhal.tflite");
  // A network without operations of the extension needs no code for them.
  const lowerings = isExtended ? (await import("./tflite/lowerings.ts")).withTflite : halLowerings;
  const machine: Machine = { api, version: `${version}${versionSuffix(choices)}`, lowerings };
  return {
    version: machine.version,
    choices,
    capabilities: capabilitiesOf(times),
    powerBasis: powerBasisOf(times),
    extensions,
    supports(view, referenced) {
      const reason =
        refusalOf(view, lowerings, referenced) ??
        wrong(view.definition.name, { inputs: view.inputs }, { outputs: view.outputs });
      return reason === undefined ? { supported: true } : { supported: false, reason };
    },
    compile: (graph, options) => compileGraph(machine, graph, options),
    restore: (blobs, graph, options) => restoreGraph(machine, blobs, graph, options),
    close: async () => {},
  };
}

/** Returns true if modules with vectors are valid. */
function hasVectors(api: WebAssemblyApi): boolean {
  const memory = { module: "env", name: "memory", pages: 1 };
  const probe = writeModule(memory, [
    {
      name: "probe",
      params: [],
      results: [],
      isExported: true,
      write(code) {
        code.i32(0).i32(0).op("v128.load", 0).i32(0).op("v128.load", 0).op("i32x4.dot_i16x8_s").op("v128.store", 0);
      },
    },
  ]);
  return api.validate(probe);
}
