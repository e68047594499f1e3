import { describe, expect, it } from "vitest";
import { syncFlagOf } from "./native.ts";

describe("files are mapped by system calls", () => {
  it.each([
    ["linux", "x64", 4],
    ["linux", "arm64", 4],
    ["android", "arm64", 4],
    ["darwin", "arm64", 16],
  ] as const)("on %s %s, with the system's own MS_SYNC", (platform, arch, flag) => {
    expect(syncFlagOf({ platform, arch })).toBe(flag);
  });

  it.each([
    ["win32", "x64"],
    ["freebsd", "x64"],
    ["linux", "arm"],
    ["linux", "ia32"],
  ] as const)("not on %s %s, whose flags or widths are others", (platform, arch) => {
    expect(syncFlagOf({ platform, arch })).toBeUndefined();
  });
});
