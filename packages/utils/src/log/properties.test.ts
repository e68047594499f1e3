import { afterEach, describe, expect, it, vi } from "vitest";
import { environmentProperties, environmentVariableOf, getProp } from "./properties.ts";

afterEach(() => vi.unstubAllEnvs());

describe("environmentVariableOf", () => {
  it.each([
    ["debug.nn.vlog", "NNHAL_VLOG"],
    ["debug.nn.strict-slicing", "NNHAL_STRICT_SLICING"],
    ["debug.nn.sample.supported", "NNHAL_SAMPLE_SUPPORTED"],
    ["ro.nnapi.extensions.deny_on_product", "NNHAL_EXTENSIONS_DENY_ON_PRODUCT"],
  ])("%s is %s", (property, variable) => {
    expect(environmentVariableOf(property)).toBe(variable);
  });
});

describe("environmentProperties", () => {
  it("reads the environment when it is asked", () => {
    vi.stubEnv("NNHAL_PARTITION", "2");
    expect(environmentProperties("debug.nn.partition")).toBe("2");
    vi.stubEnv("NNHAL_PARTITION", undefined);
    expect(environmentProperties("debug.nn.partition")).toBeUndefined();
  });

  it("has no properties where the environment must not be read", () => {
    const env = new Proxy(
      {},
      {
        get() {
          throw new Error("Requires env access, run again with the --allow-env flag");
        },
      },
    );
    vi.stubGlobal("process", { env });
    try {
      expect(environmentProperties("debug.nn.partition")).toBeUndefined();
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe("getProp", () => {
  const read = (value: string | undefined, defaultValue?: number) =>
    getProp((name) => (name === "debug.nn.partition" ? value : "99"), "debug.nn.partition", defaultValue);

  it("gives the default where nothing is set; 0 unless told otherwise", () => {
    expect([read(undefined, 1), read("", 1), read(undefined)]).toEqual([1, 1, 0]);
  });

  it.each([
    ["0", 0],
    ["12", 12],
    [" 7 ", 7],
    ["0x1F", 31],
    ["0XFf", 255],
    ["017", 15],
    ["4294967295", 0xffff_ffff],
  ])("reads %s as %i", (text, value) => {
    expect(read(text, 5)).toBe(value);
  });

  it.each(["4294967296", "0x100000000", "-1", "1.5", "two", "12 3", "0x", "08", "1e3", "0b1", "Infinity"])(
    "gives the default for %s",
    (text) => {
      expect(read(text, 5)).toBe(5);
    },
  );
});
