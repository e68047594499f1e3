import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger, type LogEntry } from "@nnhal/utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type AllowListOptions,
  allowEveryApplication,
  currentApplication,
  parseAllowList,
  readAllowList,
} from "./allow-list.ts";

const entries: LogEntry[] = [];
const log = createLogger({ sink: (entry) => entries.push(entry) });
const messages = () => entries.map(({ message }) => message);
let folder = "";
beforeEach(() => {
  entries.length = 0;
  folder = realpathSync(mkdtempSync(join(tmpdir(), "nnhal-allow-")));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Returns whether a list refuses an application. */
function refuses(text: string, application: { path?: string; packageName?: string }, options: AllowListOptions = {}) {
  return parseAllowList(text, { log, platform: "linux", properties: () => undefined, ...options }).whyRefused(
    application,
  );
}

describe("parseAllowList", () => {
  it.each([
    { path: "/srv/app/main.js" },
    { packageName: "com.example.app" },
    { packageName: "@example/app" },
    { path: "/somewhere/else.js", packageName: "com.example.app" },
  ])("allows what it names: %j", (application) => {
    expect(refuses("/srv/app/main.js\n\n  com.example.app \r\n@example/app\n", application)).toBeUndefined();
    expect(messages()).toEqual([]);
  });

  it.each([
    [{ path: "/srv/app/other.js" }, "/srv/app/other.js"],
    [{ path: "/srv/app" }, "/srv/app"],
    [{ packageName: "com.example" }, "package com.example"],
    [{ path: "/a.js", packageName: "b.c" }, "/a.js or package b.c"],
    [{}, "this application"],
  ])("refuses what it does not name: %j", (application, named) => {
    expect(refuses("/srv/app/main.js\ncom.example.app", application)).toBe(`the allow-list does not name ${named}`);
  });

  it("logs and skips lines that are not entries, with their number", () => {
    const text = "relative/path.js\ncom.example.app\nword\na b.c\n.dot\n@scope/\n# comment";
    expect(refuses(text, { packageName: "com.example.app" }, { source: "list" })).toBeUndefined();
    expect(messages()).toEqual(
      [
        ["1", "relative/path.js"],
        ["3", "word"],
        ["4", "a b.c"],
        ["5", ".dot"],
        ["6", "@scope/"],
        ["7", "# comment"],
      ].map(
        ([line, entry]) => `list:${line}: "${entry}" is skipped: it is not an absolute path or the name of a package`,
      ),
    );
  });

  it("knows the absolute paths of Windows there, and only there", () => {
    const application = { path: "C:\\app\\main.js" };
    expect(refuses("C:\\app\\main.js", application, { platform: "win32" })).toBeUndefined();
    expect(refuses("C:\\app\\main.js", application)).toContain("does not name");
  });

  it("compares the paths of Windows as Windows does, and others to the letter", () => {
    const application = { path: "C:\\App\\main.js" };
    expect(refuses("c:/app/MAIN.js", application, { platform: "win32" })).toBeUndefined();
    expect(refuses("C:\\App\\main.jsx", application, { platform: "win32" })).toContain("does not name");
    expect(refuses("/App/main.js", { path: "/app/main.js" }, { platform: "linux" })).toContain("does not name");
  });

  describe("on Android", () => {
    const on = (path: string, properties: (name: string) => string | undefined = () => undefined) =>
      refuses(path, { path }, { platform: "android", properties });

    it.each(["/vendor/bin/app", "/odm/bin/app", "/data/local/app", "/product/bin/app"])("allows %s", (path) => {
      expect(on(path)).toBeUndefined();
    });

    it.each(["/system/bin/app", "/apex/app", "/vendored/app", "/data"])("refuses %s", (path) => {
      expect(on(path)).toBe(`${path} is not in /vendor, /odm, /data or /product`);
    });

    it("refuses /product, but not /vendor, if the property is set", () => {
      const properties = (name: string) => (name === "ro.nnapi.extensions.deny_on_product" ? "1" : undefined);
      expect(on("/product/bin/app", properties)).toContain("ro.nnapi.extensions.deny_on_product is set");
      expect(on("/vendor/bin/app", properties)).toBeUndefined();
    });
  });

  it("has no rules about partitions elsewhere", () => {
    expect(refuses("/system/bin/app", { path: "/system/bin/app" })).toBeUndefined();
  });
});

describe("readAllowList", () => {
  const application = { packageName: "com.example.app" };

  it("reads the file that NNHAL_EXTENSIONS_ALLOWLIST names", () => {
    const path = join(folder, "list");
    writeFileSync(path, "com.example.app\nword\n");
    vi.stubEnv("NNHAL_EXTENSIONS_ALLOWLIST", path);
    const list = readAllowList({ log });
    expect(list.source).toBe(path);
    expect(list.whyRefused(application)).toBeUndefined();
    expect(list.whyRefused({ packageName: "com.example.other" })).toBe(
      `${path} does not name package com.example.other`,
    );
    expect(messages()).toEqual([expect.stringContaining(`${path}:2: "word" is skipped`)]);
  });

  it.each([
    ["linux", "/etc/nnhal/extensions_allowlist"],
    ["win32", `${process.env.ProgramData ?? "C:\\ProgramData"}\\nnhal\\extensions_allowlist`],
  ])("has its own default place on %s", (platform, source) => {
    expect(readAllowList({ log, platform, properties: () => undefined }).source).toBe(source);
  });

  it("allows no application if the file is absent", () => {
    const path = join(folder, "absent");
    vi.stubEnv("NNHAL_EXTENSIONS_ALLOWLIST", path);
    expect(readAllowList({ log }).whyRefused(application)).toBe(`there is no allow-list at ${path}`);
    expect(messages()).toEqual([]);
  });

  it("allows no application if the file cannot be read, and logs why", () => {
    vi.stubEnv("NNHAL_EXTENSIONS_ALLOWLIST", folder);
    expect(readAllowList({ log }).whyRefused(application)).toContain(
      `the allow-list ${folder} cannot be read: it is a folder`,
    );
    expect(messages()).toEqual([expect.stringContaining(`${folder} cannot be read`)]);
  });

  it.runIf(process.platform !== "win32")("does not wait for a pipe, or read a device or a large file", () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const large = join(folder, "large");
    writeFileSync(large, `com.example.app\n${"\n".repeat(2 ** 20)}`);
    const whole = join(folder, "whole");
    writeFileSync(whole, "com.example.app\n".padEnd(2 ** 20, "\n"));
    for (const [path, reason] of [
      [pipe, "it is not a regular file, but a device, pipe or socket"],
      ["/dev/zero", "it is not a regular file, but a device, pipe or socket"],
      [large, `it has ${2 ** 20 + 16} bytes; ${2 ** 20} are the most`],
      [whole, undefined],
    ] as const) {
      vi.stubEnv("NNHAL_EXTENSIONS_ALLOWLIST", path);
      const expected = reason === undefined ? undefined : `the allow-list ${path} cannot be read: ${reason}`;
      expect(readAllowList({ log }).whyRefused(application)).toBe(expected);
    }
  });

  it("looks in /etc by default", () => {
    vi.stubEnv("NNHAL_EXTENSIONS_ALLOWLIST", "");
    expect(readAllowList({ log }).source).toBe("/etc/nnhal/extensions_allowlist");
  });
});

describe("currentApplication", () => {
  /** Returns the application of a script. */
  function of(script: string | undefined) {
    vi.spyOn(process, "argv", "get").mockReturnValue(script === undefined ? ["node"] : ["node", script]);
    return currentApplication();
  }

  it("is the script without links, and the nearest package with a name", () => {
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "package.json"), '{ "name": "com.example.app" }');
    writeFileSync(join(folder, "bin/package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "bin/main.js"), "");
    symlinkSync(join(folder, "bin/main.js"), join(folder, "link.js"));
    expect(of(join(folder, "link.js"))).toEqual({ path: join(folder, "bin/main.js"), packageName: "com.example.app" });
  });

  it("skips a package.json that is not JSON", () => {
    writeFileSync(join(folder, "package.json"), "{");
    writeFileSync(join(folder, "main.js"), "");
    expect(of(join(folder, "main.js"))).toMatchObject({ path: join(folder, "main.js") });
  });

  it("is empty without a script, and for one that does not exist", () => {
    expect(of(undefined)).toEqual({});
    expect(of(join(folder, "absent.js"))).toEqual({});
  });
});

it("allowEveryApplication refuses none", () => {
  expect(allowEveryApplication.whyRefused({})).toBeUndefined();
});
