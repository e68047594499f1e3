/** Settings of a model: from the command line, and from a file `nnhal.json` in its folder. */
import { messageOf } from "./errors.ts";

/** See `settingRules` for the units. */
export interface ModelSettings {
  /** Names with commas between them, or `auto`. */
  readonly devices: string;
  readonly instances: number;
  /**
   * Threads of the engine of each instance; 0: the default of the engine for one instance, the processors divided among
   * several.
   */
  readonly threads: number;
  readonly queue: number;
  readonly maxBatch: number;
  readonly batchDelay: number;
  readonly warmUp: number;
  readonly versions: string;
  /** If true, extents that the file leaves open stay open; they do if requests are joined. */
  readonly dynamicShapes: boolean;
}

/** Settings without any options. */
export const defaultSettings: ModelSettings = {
  devices: "auto",
  instances: 1,
  threads: 0,
  queue: 64,
  maxBatch: 1,
  batchDelay: 2,
  warmUp: 1,
  versions: "latest",
  dynamicShapes: false,
};

/** The range of each number. */
export const settingRanges = {
  /** Copies of the model, each computing one request at a time. */
  instances: [1, 256],
  /** Threads of the engine, for each copy; 0: the processors divided among the copies. */
  threads: [0, 256],
  /** Number of requests that wait. */
  queue: [0, 65_536],
  /** Number of rows that compute together. */
  maxBatch: [1, 4096],
  /** Milliseconds that a request waits for others. */
  batchDelay: [0, 10_000],
  /** Number of runs before the model is ready. */
  warmUp: [0, 1000],
} as const satisfies Partial<Record<keyof ModelSettings, readonly [number, number]>>;

/** Pattern of a version policy. */
export const versionPolicy = /^(all|latest(:[1-9]\d{0,5})?|[1-9]\d*(,[1-9]\d*)*)$/;

/** Reads the settings of a file, with those of the command line as defaults. Throws an Error that names the fault. */
export function settingsOf(text: string, defaults: ModelSettings): ModelSettings {
  let own: unknown;
  try {
    own = JSON.parse(text);
  } catch (error) {
    throw new Error(`nnhal.json is not JSON: ${messageOf(error)}`);
  }
  if (typeof own !== "object" || own === null || Array.isArray(own)) throw new Error("nnhal.json is not an object");
  for (const [key, value] of Object.entries(own)) {
    const problem = problemOf(key, value);
    if (problem !== undefined) throw new Error(`nnhal.json: ${key} is ${JSON.stringify(value)}: ${problem}`);
  }
  return { ...defaults, ...own };
}

function problemOf(key: string, value: unknown): string | undefined {
  if (key === "devices") return typeof value === "string" && value !== "" ? undefined : "it must be names of devices";
  if (key === "dynamicShapes") return typeof value === "boolean" ? undefined : "it must be true or false";
  if (key === "versions") {
    const isPolicy = typeof value === "string" && versionPolicy.test(value);
    return isPolicy ? undefined : 'it must be "latest", "latest:N", "all", or numbers with commas between them';
  }
  const range = Object.entries(settingRanges).find(([name]) => name === key)?.[1];
  if (range === undefined) return `there is no such setting; there are ${Object.keys(defaultSettings).join(", ")}`;
  const [least, most] = range;
  const isFit = typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
  return isFit ? undefined : `it must be an integer from ${least} to ${most}`;
}
