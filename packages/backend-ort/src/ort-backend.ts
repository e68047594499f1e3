/**
 * The backend over onnxruntime: a subgraph becomes one model of ONNX and one session.
 */

import { cpus } from "node:os";
import {
  type Backend,
  type BackendSession,
  capabilitiesOf,
  type OpenOptions,
  powerBasisOf,
  type Unavailable,
} from "@nnhal/backend";
import { versionSuffix } from "@nnhal/backend/proof";
import { type ExtensionDefinition, expectKnownOptions } from "@nnhal/operations";
import { DeviceType } from "@nnhal/types";
import { timesWith } from "./capabilities.ts";
import { loadOrt, type Machine } from "./engine.ts";
import { compileGraph, restoreGraph } from "./executable.ts";
import { chooseForms } from "./forms.ts";
import { refusalOf } from "./lower.ts";
import { type CheckEngine, checkEngine } from "./self-check/probes.ts";

/** Options of `ortBackend`. */
export interface OrtBackendOptions {
  /** The threads of a model, at least 1. Default: the environment variable NNHAL_ORT_THREADS, else one for each core. */
  readonly threads?: number | undefined;
  /**
   * True if the weights of 8-bit products are unsigned even if the processor computes signed ones correctly. Unsigned
   * ones are exact on every processor that was tried, and slower on those with instructions for signed ones (VNNI).
   * Default: the environment variable NNHAL_ORT_UNSIGNED_WEIGHTS (1 or 0), else false.
   */
  readonly unsignedWeights?: boolean | undefined;
  /** The vendor extensions that it knows. It runs operations of `nnhal.tflite`, whose definitions @nnhal/extension-tflite has. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
}

/** Creates a backend over onnxruntime. */
export function ortBackend(options: OrtBackendOptions = {}): Backend {
  expectKnownOptions("ortBackend", options, { threads: true, unsignedWeights: true, extensions: true });
  return ortBackendOf(options, checkEngine);
}

/** The backend over onnxruntime with a thread for each core. */
export const backend: Backend = ortBackend();

/** A backend whose engine is checked by `check`. Tests give outcomes of other processors. */
export function ortBackendOf(options: OrtBackendOptions, check: CheckEngine): Backend {
  return {
    name: "ort",
    deviceType: DeviceType.CPU,
    open: (opening) => open(options, check, opening),
    withExtensions: (more) => ortBackendOf({ ...options, extensions: [...(options.extensions ?? []), ...more] }, check),
  };
}

async function open(
  { threads: option, extensions = [], unsignedWeights }: OrtBackendOptions,
  check: CheckEngine,
  opening: OpenOptions | undefined,
): Promise<BackendSession | Unavailable> {
  const threads = option ?? Number(process.env.NNHAL_ORT_THREADS || 0);
  const isDefault = option === undefined && threads === 0;
  if (!isDefault && (!Number.isInteger(threads) || threads < 1)) {
    return {
      unavailable: `${option ?? process.env.NNHAL_ORT_THREADS} is not a valid number of threads`,
      remedy: "set threads or NNHAL_ORT_THREADS to a whole number of at least 1",
    };
  }
  const areUnsigned = unsignedWeights ?? readUnsigned(process.env.NNHAL_ORT_UNSIGNED_WEIGHTS);
  if (areUnsigned === undefined) {
    return {
      unavailable: `NNHAL_ORT_UNSIGNED_WEIGHTS is ${JSON.stringify(process.env.NNHAL_ORT_UNSIGNED_WEIGHTS)}`,
      remedy: "set it to 1 or 0",
    };
  }
  const ort = await loadOrt();
  if ("unavailable" in ort) return ort;
  const forms = chooseForms(await check(ort, opening), areUnsigned);
  return sessionOver({ ort, forms, threads, used: 0 }, extensions);
}

function readUnsigned(text: string | undefined): boolean | undefined {
  if (text === undefined || text === "" || text === "0") return false;
  return text === "1" ? true : undefined;
}

function sessionOver(machine: Machine, extensions: readonly ExtensionDefinition[]): BackendSession {
  const { ort, forms } = machine;
  const times = timesWith(forms);
  const processor = cpus()[0]?.model ?? process.arch;
  return {
    // An optimised model has the layout of weights that is best for the processor.
    version: `nnhal-ort-1 onnxruntime ${ort.env.versions.node} on ${processor}${versionSuffix(forms.choices)}`,
    capabilities: capabilitiesOf(times),
    powerBasis: powerBasisOf(times),
    choices: forms.choices,
    extensions,
    supports(view) {
      const reason = refusalOf(view, forms);
      return reason === undefined ? { supported: true } : { supported: false, reason };
    },
    compile: (graph, options) => compileGraph(machine, graph, options),
    restore: (blobs, graph, options) => restoreGraph(machine, blobs, graph, options),
    close: async () => {},
  };
}
