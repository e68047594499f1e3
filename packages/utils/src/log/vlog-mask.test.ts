import { describe, expect, it } from "vitest";
import { ALL_VLOG_TAGS, parseVLogMask, VLogFlag, vlogTagNames } from "./vlog-mask.ts";

/** The tags of a setting and what was reported. */
function parse(setting: string) {
  const unknown: string[] = [];
  const mask = parseVLogMask(setting, (token) => unknown.push(token));
  const on = vlogTagNames.filter((_, bit) => (mask & (1 << bit)) !== 0);
  return { mask, on: on.join(" "), unknown };
}

describe("parseVLogMask", () => {
  it("has Android's bits", () => {
    expect(VLogFlag).toEqual({ MODEL: 0, COMPILATION: 1, EXECUTION: 2, CPUEXE: 3, MANAGER: 4, DRIVER: 5, MEMORY: 6 });
  });

  it("is empty for an empty setting", () => {
    expect(parse("")).toEqual({ mask: 0, on: "", unknown: [] });
  });

  it.each(["1", "all"])("has every bit for %s, alone and in a list", (every) => {
    expect(parse(every).mask).toBe(ALL_VLOG_TAGS);
    expect(parse(`driver ${every}`).mask).toBe(ALL_VLOG_TAGS);
    expect(ALL_VLOG_TAGS).toBe(-1);
  });

  it.each(Object.entries(VLogFlag))("knows %s", (tag, bit) => {
    expect(parse(tag.toLowerCase()).mask).toBe(1 << bit);
  });

  it.each([
    "model compilation driver",
    "model,compilation,driver",
    "model:compilation:driver",
    "model,compilation:driver",
  ])("splits %s", (setting) => {
    expect(parse(setting)).toEqual({ mask: 0b10_0011, on: "model compilation driver", unknown: [] });
  });

  it("splits at nothing else", () => {
    expect(parse("model;driver")).toEqual({ mask: 0, on: "", unknown: ["model;driver"] });
    expect(parse("model\tdriver").unknown).toEqual(["model\tdriver"]);
  });

  it("takes separators beside each other for one", () => {
    expect(parse(" model, driver: ")).toMatchObject({ on: "model driver", unknown: [] });
  });

  it("reports an unknown tag and goes on", () => {
    expect(parse("model bogus driver 2")).toMatchObject({ on: "model driver", unknown: ["bogus", "2"] });
  });

  it("does not look behind 1 or all", () => {
    expect(parse("bogus all worse")).toEqual({ mask: -1, on: vlogTagNames.join(" "), unknown: ["bogus"] });
  });

  it("knows lower case only", () => {
    expect(parse("MODEL All")).toMatchObject({ mask: 0, unknown: ["MODEL", "All"] });
  });
});
