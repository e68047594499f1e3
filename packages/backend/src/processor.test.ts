import { describe, expect, it } from "vitest";
import { currentProcessor, parseDescription } from "./processor.ts";

describe("the description of a processor", () => {
  it("has the model and the flags of x86", () => {
    const text = "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t\t: fpu avx2\n\nprocessor\t: 1\nflags\t\t: fpu\n";
    expect(parseDescription(text)).toEqual({ model: "AMD EPYC 7B13", features: "fpu avx2" });
  });

  it("has the part and the features of ARM", () => {
    const text =
      "processor\t: 0\nFeatures\t: fp asimd asimddp\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n";
    expect(parseDescription(text)).toEqual({ model: "ARM 0x41 0xd0c 0x3", features: "fp asimd asimddp" });
  });

  it.each(["", "processor : 0\n", "model name : X\nflags :\n"])("is unknown without features: %j", (text) => {
    expect(parseDescription(text)).toBeUndefined();
  });
});

describe("this processor", () => {
  it("has a name, which is part of its identity", () => {
    const { name, identity } = currentProcessor();
    expect(name).not.toBe("");
    if (identity !== undefined) expect(identity.startsWith(`${name} `)).toBe(true);
  });
});
