/**
 * The energy that the processor has used, from Linux's RAPL counters (/sys/class/powercap). Many systems have none, or let
 * only root read them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Unavailable } from "@nnhal/backend";

/** Counts energy. */
export interface EnergyMeter {
  /** Counted parts of the processor, such as `package-0`. */
  readonly zones: readonly string[];
  /**
   * Joules since this was called last, or since the meter was opened. Right if no counter went round more than once in
   * between: one of 262 kJ at 100 W takes three quarters of an hour.
   */
  readUsed(): number;
}

interface Zone {
  readonly name: string;
  /** The file of the counter, in microjoules. */
  readonly file: string;
  /** The counter's greatest value; after it comes 0. */
  readonly greatest: number;
}

/** Reads a whole number that is exact as a float64. Throws for any other text. */
function readCount(file: string): number {
  const text = readFileSync(file, "utf8").trim();
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) throw new Error(`${file} does not hold a number`);
  return count;
}

/** Processors, and memory that is not part of a processor's count. Cores and graphics are part of it, the platform has it in. */
function isCounted(name: string): boolean {
  return /^package-\d+$/.test(name) || name === "dram";
}

function findZones(folder: string): Zone[] {
  return readdirSync(folder)
    .filter((entry) => /^intel-rapl(:\d+)+$/.test(entry))
    .sort()
    .map((entry) => ({ path: join(folder, entry), name: readFileSync(join(folder, entry, "name"), "utf8").trim() }))
    .filter(({ name }) => isCounted(name))
    .map(({ path, name }) => ({
      name,
      file: join(path, "energy_uj"),
      greatest: readCount(join(path, "max_energy_range_uj")),
    }));
}

/** Opens the counters, or says why there are none. */
export function openEnergyMeter(folder = "/sys/class/powercap"): EnergyMeter | Unavailable {
  let zones: readonly Zone[];
  let before: readonly number[];
  const read = () => zones.map(({ file }) => readCount(file));
  try {
    zones = findZones(folder);
    before = read();
  } catch (error) {
    return whyNot(error, folder);
  }
  if (zones.length === 0) return { unavailable: `${folder} has no RAPL counter of a processor` };
  return {
    zones: zones.map(({ name }) => name),
    readUsed() {
      const now = read();
      let microjoules = 0;
      for (const [place, { greatest }] of zones.entries()) {
        const [start = 0, end = 0] = [before[place], now[place]];
        microjoules += end >= start ? end - start : end + greatest - start + 1;
      }
      before = now;
      return microjoules / 1e6;
    },
  };
}

function whyNot(error: unknown, folder: string): Unavailable {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT")
    return { unavailable: `this system has no RAPL counters: ${folder} is missing or not complete` };
  if (code === "EACCES" || code === "EPERM") {
    return { unavailable: "the RAPL counters may be read by root only", remedy: "run this as root" };
  }
  return { unavailable: error instanceof Error ? error.message : String(error) };
}
