import { describe, expect, test } from "vitest";
import { installKey, installNeeded, looksOffline, looksOutdatedLockfile, parseStamp } from "./decide.mjs";

describe("installNeeded", () => {
  const key = "now";
  const demo = { kind: "demo", key } as const;
  const full = { kind: "full", key } as const;
  const old = (kind: "demo" | "full") => ({ kind, key: "before" }) as const;

  test.each([
    ["a fresh checkout installs what is wanted", "demo", undefined, "none", "demo"],
    ["a fresh checkout installs what is wanted", "full", undefined, "none", "full"],
    ["a current demo install serves the demo", "demo", demo, "partial", undefined],
    ["a current demo install does not serve the gate", "full", demo, "partial", "full"],
    ["a current full install serves the gate", "full", full, "current", undefined],
    ["a current full install serves the demo", "demo", full, "current", undefined],
    ["an old demo install is renewed as such", "demo", old("demo"), "partial", "demo"],
    ["an old full install stays a full one", "demo", old("full"), "outdated", "full"],
    ["an install by hand serves the demo", "demo", undefined, "current", undefined],
    ["an install by hand is checked once for the gate", "full", undefined, "current", "full"],
    ["an old install by hand stays a full one", "demo", undefined, "outdated", "full"],
    ["an interrupted install is done again", "demo", undefined, "partial", "demo"],
  ] as const)("%s (%s wanted)", (_, wanted, stamp, byHand, expected) => {
    expect(installNeeded(wanted, { stamp, key, byHand })).toBe(expected);
  });
});

describe("installKey", () => {
  const manifest = { name: "a", version: "1.0.0", dependencies: { b: "1" } };
  const base = { lockfile: "lock", workspace: "w", platform: "linux-x64-115" };
  const key = (change: object = {}, text: object | string = manifest, path = "packages/a") =>
    installKey({
      ...base,
      manifests: [[path, typeof text === "string" ? text : JSON.stringify(text)] as const],
      ...change,
    });

  test("is the same for the same checkout, in whatever order the packages are read", () => {
    const two = [["a", "{}"] as const, ["b", '{"name":"b"}'] as const];
    expect(key()).toBe(key());
    expect(key({ manifests: two })).toBe(key({ manifests: [...two].reverse() }));
  });

  test("changes with everything that an install depends on", () => {
    const keys = [
      key(),
      key({ lockfile: "other" }),
      key({ workspace: "other" }),
      key({ platform: "linux-arm64-115" }),
      key({ manifests: [] }),
      key({}, manifest, "packages/b"),
      key({}, { ...manifest, dependencies: { b: "2" } }),
      key({}, { ...manifest, devDependencies: { c: "1" } }),
      key({}, { ...manifest, optionalDependencies: { c: "1" } }),
      key({}, { ...manifest, bin: { a: "a.js" } }),
      key({}, "{ not json"),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("does not change with a version or a script", () => {
    expect(key({}, { ...manifest, version: "2.0.0", scripts: { x: "y" } })).toBe(key());
  });
});

describe("parseStamp", () => {
  test("reads what was written", () => {
    expect(parseStamp('{"kind":"demo","key":"k"}')).toEqual({ kind: "demo", key: "k" });
  });

  test.each(["", "null", "[]", '{"kind":"half","key":"k"}', '{"kind":"demo"}', '{"kind":"demo","key":"k"'])(
    "takes %j for no stamp",
    (text) => {
      expect(parseStamp(text)).toBeUndefined();
    },
  );
});

describe("what an installer says", () => {
  test.each([
    "npm error code ENOTFOUND",
    "getaddrinfo EAI_AGAIN example.org",
    "connect ECONNREFUSED 127.0.0.1:1",
    "ERR_PNPM_META_FETCH_FAIL",
  ])("%s is a network that is not there", (output) => {
    expect(looksOffline(output)).toBe(true);
  });

  test("a full disk is not", () => {
    expect(looksOffline("ENOSPC: no space left on device")).toBe(false);
  });

  test("an old lockfile is told from other failures", () => {
    expect(looksOutdatedLockfile("ERR_PNPM_OUTDATED_LOCKFILE Cannot install")).toBe(true);
    expect(looksOutdatedLockfile("ERR_PNPM_NO_MATCHING_VERSION")).toBe(false);
  });
});
