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
import { type FormChoice, type SelfCheck, verdictOf, versionSuffix } from "@nnhal/backend/proof";
import type { OpenedThreads } from "@nnhal/backend/threads";
import { type ExtensionDefinition, expectKnownOptions } from "@nnhal/operations";
import { DeviceType } from "@nnhal/types";
import { ifPermitted } from "@nnhal/utils";
import type { Code } from "./assembler/code.ts";
import { writeModule } from "./assembler/module.ts";
import { times } from "./capabilities.ts";
import { compileGraph, restoreGraph } from "./executable.ts";
import { halLowerings } from "./plan/lowerings.ts";
import { refusalOf } from "./plan/plan-graph.ts";
import { checkEngine, type ProvenMachine } from "./self-check.ts";
import type { Team } from "./threads/team.ts";
import { createTiles } from "./tiles.ts";
import { type WebAssemblyApi, webAssembly } from "./web-assembly.ts";
import type { WideVectors } from "./wide.ts";
import { setsWideFlag } from "./wide-flag.ts";

/** It changes whenever results, or the modules of some network, change. */
const version = "nnhal-wasm-7 simd";

/** The compiler of modules, as far as the platform names it: another one is checked anew. Browsers keep no outcomes. */
const compilerOf = () => globalThis.process?.versions?.v8 ?? "unknown";

/** Options of `wasmBackend`. */
export interface WasmBackendOptions {
  /**
   * The threads of a model, 1 to 64. They share the units of a step, with the same results. Needs SharedArrayBuffer, which a page has only if it is isolated (COOP and COEP);
   * without it the backend computes in one thread, and its choices say why. Default: the environment variable NNHAL_WASM_THREADS, else 1.
   */
  readonly threads?: number | undefined;
  /** The vendor extensions that it knows. It runs operations of `nnhal.tflite`, whose definitions @nnhal/extension-tflite has. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  /**
   * False: products of floats are rounded before they are added, as everywhere. True: they need not be where the compiler has relaxed SIMD and the self-check
   * proves it, which is faster. Results of floats are within the HAL's allowance then, but may differ between processors; those of integers do not.
   * Default: true.
   */
  readonly relaxed?: boolean | undefined;
  /**
   * True: lets V8 join two neighbouring vectors of 128 bits, in Node.js 24 and newer on processors with vectors of 256 bits, where that is proven to be right and
   * faster. It sets V8's experimental flag `--experimental-wasm-revectorize` for the whole process, so it is for programs of one's own. The choices of the device
   * say what came of it. Default: the environment variable NNHAL_WASM_REVECTORIZE, 1 or 0; else whether Node.js was started with the flag.
   */
  readonly revectorize?: boolean | undefined;
}

/** Creates a backend over WebAssembly. Throws a TypeError for unknown options. */
export function wasmBackend(options: WasmBackendOptions = {}): Backend {
  expectKnownOptions("wasmBackend", options, { threads: true, extensions: true, relaxed: true, revectorize: true });
  return wasmBackendOver(webAssembly(), options);
}

/** Creates a backend over an implementation of WebAssembly, and with units of so much work: tests give others. */
export function wasmBackendOver(
  api: WebAssemblyApi | undefined,
  options: WasmBackendOptions = {},
  mostWork?: number,
): Backend {
  const { extensions = [] } = options;
  return {
    name: "wasm",
    deviceType: DeviceType.CPU,
    open: (opening) => open(api, options, opening, mostWork),
    withExtensions: (more) => wasmBackendOver(api, { ...options, extensions: [...extensions, ...more] }, mostWork),
  };
}

/** The backend over WebAssembly. */
export const backend: Backend = /* @__PURE__ */ wasmBackendOver(/* @__PURE__ */ webAssembly());

async function open(
  api: WebAssemblyApi | undefined,
  { threads: option, extensions = [], relaxed: wanted = true, revectorize }: WasmBackendOptions,
  options?: OpenOptions,
  mostWork?: number,
): Promise<BackendSession | Unavailable> {
  const given = option ?? (ifPermitted(() => globalThis.process?.env.NNHAL_WASM_THREADS) || 1);
  // One thread needs no code for others.
  const opened = given === 1 ? { choices: [] } : await (await import("./by-need.ts")).openTeams(given);
  if ("unavailable" in opened) return opened;
  const { team, choices: threading }: OpenedThreads<Team> = opened;
  if (api === undefined || !isValid(api, false)) {
    return {
      unavailable: `there is no WebAssembly${api === undefined ? "" : " with 128-bit vectors"} here`,
      remedy: "use a newer Node.js or browser, or a processor with SSE4.1",
    };
  }
  const proposed = { api, team, relaxed: wanted && isValid(api, true) };
  const wide = await openVectors(proposed, revectorize);
  if ("unavailable" in wide) return wide;
  const { isWide } = wide;
  const withThreads = team === undefined ? version : `${version} threads ${team.threads}`;
  const engine = isWide ? `${withThreads} wide` : withThreads;
  const proof = await wide.optimise(() => proveEngine({ ...proposed, isWide }, engine, options));
  const { check, relaxed } = proof;
  const { choices: forms, refusalOf: wrong } = verdictOf(check);
  const isExtended = extensions.some(({ name }) => name === "nnhal.tflite");
  // A network without operations of the extension needs no code for them.
  const lowerings = isExtended ? (await import("./tflite/lowerings.ts")).withTflite : halLowerings;
  const choices = [...threading, ...wide.choices, ...proof.choices, ...forms];
  const proven = { api, team, relaxed, isWide };
  // Pairs of vectors have one size of tiles.
  const tiles = isWide
    ? undefined
    : createTiles(async (kind) => (await import("./by-need.ts")).timeTiles(proven, kind));
  const machine = { ...proven, version: `${proof.engine}${versionSuffix(forms)}`, lowerings, tiles, mostWork };
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
    close: async () => team?.close(),
  };
}

/** Opens vectors of 256 bits if they are wanted. */
async function openVectors(machine: ProvenMachine, option: boolean | undefined): Promise<WideVectors | Unavailable> {
  const variable = ifPermitted(() => globalThis.process?.env.NNHAL_WASM_REVECTORIZE) || undefined;
  if (option === undefined && variable !== undefined && variable !== "0" && variable !== "1") {
    return {
      unavailable: `NNHAL_WASM_REVECTORIZE is "${variable}"`,
      remedy: "set it to 1, to 0, or not at all",
    };
  }
  const isSet = () => setsWideFlag(globalThis.process?.execArgv ?? []);
  const wanted = option ?? (variable === undefined ? isSet() : variable === "1");
  if (!wanted) return { isWide: false, choices: [], optimise: (work) => work() };
  return (await import("./by-need.ts")).openWide(machine);
}

/** A proven engine with its name. */
interface Proof {
  readonly check: SelfCheck;
  readonly relaxed: boolean | undefined;
  readonly engine: string;
  readonly choices: readonly FormChoice[];
}

/** Proves the engine, and without relaxed SIMD if something is wrong with it. */
async function proveEngine(machine: ProvenMachine, plainEngine: string, options?: OpenOptions): Promise<Proof> {
  const { relaxed } = machine;
  const engine = relaxed ? `${plainEngine} relaxed` : plainEngine;
  const check = await checkEngine(machine, `${engine} ${compilerOf()}`, options);
  const proof = { check, relaxed, engine, choices: [] };
  if (!relaxed) return proof;
  const subject = "sums of products of floats";
  const failure = Object.values(check.failures).find(Boolean);
  if (failure === undefined) return { ...proof, choices: [{ subject, chosen: "relaxed SIMD" }] };
  const plain = await proveEngine({ ...machine, relaxed: false }, plainEngine, options);
  const reason = `with relaxed SIMD on ${check.processor}: ${failure}`;
  return { ...plain, choices: [{ subject, chosen: "rounded products", reason }] };
}

/** Returns true if modules with vectors are valid, and with relaxed SIMD. */
function isValid(api: WebAssemblyApi, relaxed: boolean): boolean {
  const memory = { module: "env", name: "memory", pages: 1 };
  const write = (code: Code) => {
    const two = () => code.i32(0).op("v128.load", 0).i32(0).op("v128.load", 0);
    code.i32(0);
    two().op("i32x4.dot_i16x8_s");
    if (relaxed) two().op("f32x4.relaxed_madd");
    code.op("v128.store", 0);
  };
  return api.validate(writeModule(memory, [{ name: "probe", params: [], results: [], isExported: true, write }]));
}
