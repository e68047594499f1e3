import { describe, expect, it } from "vitest";
import { factsOfArm, factsOfX86, processorFacts, type Registers } from "./features.ts";

/** CPUID of a processor with a name, and with the registers of some leaves. */
function cpuidOf(name: string, leaves: Readonly<Record<string, Registers>>) {
  const text = new Uint32Array(new TextEncoder().encode(name.padEnd(48, "\0")).buffer);
  return (leaf: number, subleaf: number): Registers => {
    const place = (leaf - 0x8000_0002) * 4;
    const [a = 0, b = 0, c = 0, d = 0] = text.subarray(place, place + 4);
    return leaf >= 0x8000_0002 ? [a, b, c, d] : (leaves[`${leaf}.${subleaf}`] ?? [0, 0, 0, 0]);
  };
}

/** An auxiliary vector of pairs. */
function vectorOf(...pairs: readonly (readonly [number, bigint])[]): Uint8Array {
  return new Uint8Array(BigUint64Array.from(pairs.flatMap(([key, value]) => [BigInt(key), value])).buffer);
}

describe("the facts of x86", () => {
  it("are its name and no features", () => {
    expect(factsOfX86(cpuidOf("  Old Processor", {}))).toEqual({ arch: "x64", name: "Old Processor", features: [] });
  });

  it.each<[string, string, Registers]>([
    ["SSE4.2", "1.0", [0, 0, 1 << 20, 0]],
    ["AVX", "1.0", [0, 0, 1 << 28, 0]],
    ["FMA", "1.0", [0, 0, 1 << 12, 0]],
    ["AVX2", "7.0", [0, 1 << 5, 0, 0]],
    ["AVX-512", "7.0", [0, 1 << 16, 0, 0]],
    ["AVX-512 VNNI", "7.0", [0, 0, 1 << 11, 0]],
    ["AVX-VNNI", "7.1", [1 << 4, 0, 0, 0]],
  ])("have %s", (feature, leaf, registers) => {
    expect(factsOfX86(cpuidOf("x", { [leaf]: registers })).features).toEqual([feature]);
  });
});

describe("the facts of ARM", () => {
  it("are the numbers of maker and part, and no features", () => {
    expect(factsOfArm(vectorOf([6, 4096n], [0, 0n]), 0x410f_d034)).toEqual({
      arch: "arm64",
      name: "41 d03",
      features: [],
    });
  });

  it.each<[string, number, bigint]>([
    ["NEON", 16, 1n << 1n],
    ["LSE atomics", 16, 1n << 8n],
    ["dot products", 16, 1n << 20n],
    ["SVE", 16, 1n << 22n],
    ["I8MM", 26, 1n << 13n],
  ])("have %s", (feature, entry, bits) => {
    expect(factsOfArm(vectorOf([entry, bits], [0, 0n]), 0).features).toEqual([feature]);
  });
});

it("this processor answers by its own instructions", ({ skip }) => {
  const isHere = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);
  skip(!isHere, "machine code for this system and processor is not there");
  const { arch, name } = processorFacts();
  expect(arch).toBe(process.arch);
  expect(name).not.toBe("");
});

it("another architecture cannot be asked", () => {
  expect(() => processorFacts("riscv64")).toThrow("expected x64 or arm64, got riscv64");
});
