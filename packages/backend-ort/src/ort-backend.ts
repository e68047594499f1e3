/**
 * The backend over onnxruntime: a subgraph becomes one model of ONNX and one session.
 */
import { cpus } from "node:os";
import { type Backend, type BackendSession, capabilitiesOf, powerBasisOf, type Unavailable } from "@nnhal/backend";
import type { ExtensionDefinition } from "@nnhal/operations";
import { DeviceType } from "@nnhal/types";
import { times } from "./capabilities.ts";
import { loadOrt, type Machine } from "./engine.ts";
import { compileGraph, restoreGraph } from "./executable.ts";
import { refusalOf } from "./lower.ts";

/** Options of `ortBackend`. */
export interface OrtBackendOptions {
  /** The threads of a model, at least 1. Default: the environment variable NNHAL_ORT_THREADS, else one for each core. */
  readonly threads?: number | undefined;
  /** The vendor extensions that it knows. It runs operations of `nnhal.tflite`, whose definitions @nnhal/extension-tflite has. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
}

/** Creates a backend over onnxruntime. */
export function ortBackend({ threads, extensions = [] }: OrtBackendOptions = {}): Backend {
  return { name: "ort", deviceType: DeviceType.CPU, open: () => open(threads, extensions) };
}

/** The backend over onnxruntime with a thread for each core. */
export const backend: Backend = ortBackend();

async function open(
  option: number | undefined,
  extensions: readonly ExtensionDefinition[],
): Promise<BackendSession | Unavailable> {
  const threads = option ?? Number(process.env.NNHAL_ORT_THREADS || 0);
  const isDefault = option === undefined && threads === 0;
  if (!isDefault && (!Number.isInteger(threads) || threads < 1)) {
    return {
      unavailable: `${option ?? process.env.NNHAL_ORT_THREADS} is not a valid number of threads`,
      remedy: "set threads or NNHAL_ORT_THREADS to a whole number of at least 1",
    };
  }
  const ort = await loadOrt();
  return "unavailable" in ort ? ort : sessionOver({ ort, threads, used: 0 }, extensions);
}

function sessionOver(machine: Machine, extensions: readonly ExtensionDefinition[]): BackendSession {
  return {
    // An optimised model has the layout of weights that is best for the processor.
    version: `nnhal-ort-1 onnxruntime ${machine.ort.env.versions.node} on ${cpus()[0]?.model ?? process.arch}`,
    capabilities: capabilitiesOf(times),
    powerBasis: powerBasisOf(times),
    extensions,
    supports(view) {
      const reason = refusalOf(view);
      return reason === undefined ? { supported: true } : { supported: false, reason };
    },
    compile: (graph, options) => compileGraph(machine, graph, options),
    restore: (blobs, graph, options) => restoreGraph(machine, blobs, graph, options),
    close: async () => {},
  };
}
