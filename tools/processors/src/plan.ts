/** The plan of a processor's run, and the lines in which the process there reports. */
import type { FormChoice } from "@nnhal/backend";
import type { ProcessorFacts } from "./features.ts";
import type { Tally } from "./result.ts";

/** The engines, each in the modes whose arithmetic differs. */
export const engineNames = ["ort", "wasm", "tfjs wasm", "tfjs node", "gpujs webasm", "gpujs cpu"] as const;
export type EngineName = (typeof engineNames)[number];

/** The checks, in the order in which they run. `tests`: test files of the engine's package. */
export const checkNames = ["networks", "convolutions", "vectors", "tests"] as const;
export type CheckName = (typeof checkNames)[number];

/** Work for an engine. */
export interface EnginePlan {
  /** Packs of convolutions from the front of the file. */
  readonly packs: number;
  /** Images of each convolution. */
  readonly images: number;
  /** Examples from the front of the file. */
  readonly vectors: number;
  /** Paths of bundles of test files. */
  readonly tests: readonly string[];
}

/** Work of a process on a processor. It is passed as JSON. */
export interface Plan {
  readonly engines: Readonly<Partial<Record<EngineName, EnginePlan>>>;
  /** `.tflite` files, with inputs and right outputs in the same folder. */
  readonly networks: readonly string[];
  /** A file of packs of convolutions, and one of examples, by v8's serialiser. */
  readonly packs: string;
  readonly examples: string;
  /** Rounds of the check of atomic operations; 0 for none. */
  readonly atomics: number;
}

/** Reports of the process, a line of JSON each. */
export type Report =
  | { readonly kind: "processor"; readonly facts: ProcessorFacts }
  | {
      readonly kind: "engine";
      readonly engine: EngineName;
      readonly version: string;
      readonly choices: readonly FormChoice[];
    }
  | { readonly kind: "engine"; readonly engine: EngineName; readonly unavailable: string }
  | { readonly kind: "check"; readonly engine: EngineName; readonly check: CheckName; readonly tally: Tally }
  | { readonly kind: "atomics"; readonly tally: Tally }
  | { readonly kind: "end" };
