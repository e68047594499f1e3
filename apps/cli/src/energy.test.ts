import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEnergyMeter } from "./energy.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-energy-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A zone as the system shows it: microjoules, which go up to `greatest` and start again. */
function zone(entry: string, name: string, greatest: string | number = 1_000_000) {
  mkdirSync(join(folder, entry));
  writeFileSync(join(folder, entry, "name"), `${name}\n`);
  writeFileSync(join(folder, entry, "max_energy_range_uj"), `${greatest}\n`);
  const set = (microjoules: string | number) => writeFileSync(join(folder, entry, "energy_uj"), `${microjoules}\n`);
  set(0);
  return set;
}

function open() {
  const meter = openEnergyMeter(folder);
  if ("unavailable" in meter) throw new Error(meter.unavailable);
  return meter;
}

const problem = (path = folder) => {
  const meter = openEnergyMeter(path);
  return "unavailable" in meter ? meter.unavailable : undefined;
};

describe("the meter", () => {
  it("adds up processors and memory, but no part of them twice", () => {
    const sets = [
      zone("intel-rapl:0", "package-0"),
      zone("intel-rapl:0:0", "core"),
      zone("intel-rapl:0:1", "dram"),
      zone("intel-rapl:1", "package-1"),
      zone("intel-rapl:2", "psys"),
      zone("intel-rapl-mmio:0", "package-0"),
    ];
    mkdirSync(join(folder, "intel-rapl"));
    for (const set of sets) set(1000);
    const meter = open();
    expect(meter.zones).toEqual(["package-0", "dram", "package-1"]);
    for (const [place, set] of sets.entries()) set(1000 + 10 ** place);
    expect(meter.readUsed()).toBeCloseTo((1 + 100 + 1000) / 1e6, 12);
  });

  it("counts from the last look on", () => {
    const set = zone("intel-rapl:0", "package-0");
    set(500);
    const meter = open();
    set(2500);
    expect(meter.readUsed()).toBe(0.002);
    expect(meter.readUsed()).toBe(0);
    set(2501);
    expect(meter.readUsed()).toBe(0.000001);
  });

  it("goes on when a counter starts again", () => {
    const set = zone("intel-rapl:0", "package-0", 999_999);
    set(999_900);
    const meter = open();
    set(999_999);
    expect(meter.readUsed()).toBe(0.000099);
    set(0);
    expect(meter.readUsed()).toBe(0.000001);
    set(999_999);
    meter.readUsed();
    set(100);
    expect(meter.readUsed()).toBe(0.000101);
  });

  it("takes counters of 64 bits that a number holds", () => {
    const set = zone("intel-rapl:0", "package-0", 262_143_328_850);
    set(262_143_000_000);
    const meter = open();
    set(1_000_000);
    expect(meter.readUsed()).toBeCloseTo(1.328851, 9);
  });
});

describe("without counters", () => {
  it("says so", () => {
    expect(problem(join(folder, "gone"))).toMatch(
      /^this system has no RAPL counters: .*gone is missing or not complete$/,
    );
    expect(problem()).toBe(`${folder} has no RAPL counter of a processor`);
    zone("intel-rapl:0", "psys");
    expect(problem()).toBe(`${folder} has no RAPL counter of a processor`);
  });

  it("says so if one is broken", () => {
    const set = zone("intel-rapl:0", "package-0");
    for (const text of ["", "-1", "1e3", "18446744073709551615"]) {
      set(text);
      expect(problem()).toMatch(/energy_uj does not hold a number$/);
    }
    rmSync(join(folder, "intel-rapl:0", "energy_uj"));
    expect(problem()).toMatch(/is missing or not complete$/);
  });
});
