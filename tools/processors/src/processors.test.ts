import { describe, expect, it } from "vitest";
import { chosenNames, rowNames } from "./choice.ts";
import type { ProcessorFacts } from "./features.ts";
import { levelOf, levels } from "./levels.ts";
import { cpuinfoOf, type Emulated, type Emulators, emulated, mismatch, reasonAgainst } from "./processors.ts";

function processor(name: string): Emulated {
  const found = emulated.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no processor ${name}`);
  return found;
}

const complete: Emulators = {
  platform: "linux",
  arch: "x64",
  qemu: { x64: "/usr/bin/qemu-x86_64", arm64: "/usr/bin/qemu-aarch64" },
  hasArmLibraries: true,
  namespace: ["unshare", "--mount"],
};

describe("the reason against a processor", () => {
  it("is none on a machine with everything", () => {
    expect(emulated.map((each) => reasonAgainst(each, complete))).toEqual(emulated.map(() => undefined));
  });

  it.each<[string, string, Partial<Emulators>, string | undefined]>([
    ["Haswell", "another system", { platform: "darwin" }, "qemu-user runs on Linux, and this is darwin"],
    [
      "Haswell",
      "no qemu",
      { qemu: { ...complete.qemu, x64: undefined } },
      "qemu-x86_64 is not installed (Debian: qemu-user)",
    ],
    ["Haswell", "no qemu for ARM", { qemu: { ...complete.qemu, arm64: undefined } }, undefined],
    ["Haswell", "an ARM host", { arch: "arm64" }, "the Node.js of this host, which is emulated, is for arm64"],
    ["Haswell", "no libraries for ARM", { hasArmLibraries: false }, undefined],
    [
      "cortex-a53",
      "no qemu",
      { qemu: { ...complete.qemu, arm64: undefined } },
      "qemu-aarch64 is not installed (Debian: qemu-user)",
    ],
    ["cortex-a53", "no libraries", { hasArmLibraries: false }, "the libraries for ARM are not installed"],
    ["cortex-a53", "no namespace", { namespace: [] }, "no permission for a mount namespace"],
    ["cortex-a53", "an ARM host", { arch: "arm64" }, undefined],
  ])("for %s with %s", (name, _, lacking, reason) => {
    const actual = reasonAgainst(processor(name), { ...complete, ...lacking });
    if (reason === undefined) expect(actual).toBeUndefined();
    else expect(actual).toContain(reason);
  });
});

describe("a mismatch", () => {
  const haswell: ProcessorFacts = {
    arch: "x64",
    name: "Intel Core Processor (Haswell)",
    features: ["SSE4.2", "AVX", "FMA", "AVX2"],
  };

  it("is none for the processor that was asked for", () => {
    expect(mismatch(processor("Haswell"), haswell)).toBeUndefined();
  });

  it.each<[string, Partial<ProcessorFacts>]>([
    ["the host's processor", { name: "Intel(R) Xeon(R) Processor" }],
    ["another architecture", { arch: "arm64" }],
    ["a feature less", { features: ["SSE4.2", "AVX", "FMA"] }],
    ["a feature of the host", { features: [...haswell.features, "AVX-VNNI"] }],
  ])("is found with %s", (_, change) => {
    expect(mismatch(processor("Haswell"), { ...haswell, ...change })).toContain(
      "expected the process to run on Haswell, got ",
    );
  });
});

it("the processors have names of their own, and each of ARM says its numbers", () => {
  expect(new Set(rowNames).size).toBe(rowNames.length);
  expect(emulated.filter(({ arch, numbers }) => (arch === "arm64") !== (numbers !== undefined))).toEqual([]);
});

it("/proc/cpuinfo of ARM has two processors with their numbers", () => {
  const { numbers } = processor("neoverse-n1");
  if (numbers === undefined) throw new Error("no numbers");
  const text = cpuinfoOf(numbers);
  expect(text.match(/^processor\t: \d$/gm)).toEqual(["processor\t: 0", "processor\t: 1"]);
  expect(text).toContain("CPU part\t: 0xd0c\n");
  expect(text).toMatch(/^Features\t: .*\basimddp\b/m);
  expect(text.split("\n\n")).toHaveLength(3);
});

describe("the choice of rows", () => {
  it("is all of them by default", () => expect(chosenNames(undefined)).toEqual({ names: rowNames }));

  it("is in the order of the table", () => {
    expect(chosenNames("host, Haswell")).toEqual({ names: ["Haswell", "host"] });
  });

  it.each(["", "haswell", "Haswell,Pentium"])("refuses %j", (only) => {
    expect(chosenNames(only)).toHaveProperty("unknown");
  });
});

describe("a level", () => {
  it("is with all its engines, or with one", () => {
    expect(levelOf(levels.short, undefined)).toBe(levels.short);
    expect(Object.keys(levelOf(levels.short, "ort")?.engines ?? {})).toEqual(["ort"]);
    expect(levelOf(levels.short, "gpujs cpu")?.engines).toEqual({});
    expect(levelOf(levels.short, "onnx")).toBeUndefined();
  });

  it("of the gate is less than the short one, and that is less than all", () => {
    const count = ({ engines: { ort } }: (typeof levels)["gate"]) => ort?.convolutions ?? 0;
    expect(count(levels.gate)).toBeLessThan(count(levels.short));
    expect(count(levels.short)).toBeLessThan(count(levels.full));
    expect(count(levels.full)).toBe(10_000);
  });
});
