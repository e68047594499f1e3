/** Amount of work for each processor. Each engine gets a share by its arithmetic: native code most. */
import { type EngineName, engineNames } from "./plan.ts";

/** Work for an engine. */
export interface EngineLevel {
  readonly convolutions: number;
  /** Images of each convolution. Default: 1. */
  readonly images?: number;
  readonly vectors: number;
  /** Test files, from the root of the checkout. */
  readonly tests: readonly string[];
}

/** Work for a processor. */
export interface Level {
  readonly engines: Readonly<Partial<Record<EngineName, EngineLevel>>>;
  readonly atomics: number;
  /** Seconds that a processor has at most. */
  readonly limit: number;
}

export type LevelName = "full" | "short" | "gate";

const testsOf = (engine: string, ...names: readonly string[]) =>
  names.map((name) => `packages/backend-${engine}/src/${name}.test.ts`);

/**
 * `full`: an hour on two idle processors of this time. `short`: two or three minutes. `gate`: some seconds on one processor.
 * JavaScript is 30 to 60 times slower under qemu, so tests whose expected results the reference computes are few.
 */
export const levels: Readonly<Record<LevelName, Level>> = {
  full: {
    engines: {
      ort: { convolutions: 10_000, vectors: 600, tests: testsOf("ort", "engine", "onnx-model", "models", "random") },
      wasm: { convolutions: 500, images: 20, vectors: 300, tests: [] },
      "tfjs node": { convolutions: 10_000, vectors: 600, tests: [] },
      "tfjs wasm": { convolutions: 10_000, vectors: 300, tests: testsOf("tfjs", "models") },
      "gpujs webasm": { convolutions: 500, images: 20, vectors: 300, tests: testsOf("gpujs", "quantised") },
      "gpujs cpu": { convolutions: 500, images: 20, vectors: 100, tests: [] },
    },
    atomics: 10_000,
    limit: 7200,
  },
  short: {
    engines: {
      ort: { convolutions: 200, vectors: 40, tests: [] },
      wasm: { convolutions: 50, vectors: 10, tests: [] },
      "tfjs node": { convolutions: 200, vectors: 40, tests: [] },
      "tfjs wasm": { convolutions: 50, vectors: 10, tests: [] },
      "gpujs webasm": { convolutions: 25, vectors: 10, tests: [] },
    },
    atomics: 1000,
    limit: 900,
  },
  gate: {
    engines: { ort: { convolutions: 30, vectors: 0, tests: [] } },
    atomics: 0,
    limit: 240,
  },
};

/** A level with one engine alone, or with all; undefined if there is no such engine. An engine that the level leaves out does nothing. */
export function levelOf(level: Level, engine: string | undefined): Level | undefined {
  if (engine === undefined) return level;
  const name = engineNames.find((each) => each === engine);
  if (name === undefined) return undefined;
  const own = level.engines[name];
  return { ...level, engines: own === undefined ? {} : { [name]: own } };
}
