import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Device } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import * as runtime from "./index.ts";
import { openReference } from "./models.test-helper.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const root = join(import.meta.dirname, "../../..");
const guide = readFileSync(join(root, "docs/runtime.md"), "utf8");
let device: Device;
beforeAll(async () => {
  device = await openReference();
});

describe("docs/runtime.md", () => {
  it("has examples that run as they stand, and print what they say", { timeout: 120_000 }, async () => {
    const examples = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
    expect(examples).toHaveLength(2);
    for (const [index, example] of examples.entries()) {
      const file = join(root, "apps/cli", `.example-${process.pid}-runtime-${index}.ts`);
      try {
        writeFileSync(file, example);
        const args = ["--import", tsx, "--conditions=@nnhal/source", file];
        const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 50_000 });
        const said = [...example.matchAll(/^\s*console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
        expect({ stdout, stderr }).toEqual({ stdout: `${said.join("\n")}\n`, stderr: "" });
      } finally {
        rmSync(file, { force: true });
      }
    }
  });

  it("has a row for each of the NNAPI's functions", () => {
    const functions = [...guide.matchAll(/^\| `(ANeuralNetworks\w*)` \| (27|28|29|30|platform) \|/gm)];
    expect(new Set(functions.map(([, name]) => name)).size).toBe(66);
    const levels = functions.map(([, , level]) => level);
    expect(["27", "28", "29", "30", "platform"].map((level) => levels.filter((one) => one === level).length)).toEqual([
      23, 1, 19, 19, 4,
    ]);
  });

  it("names existing members", () => {
    const objects = new Map<string, unknown>(Object.entries(runtime));
    const registry = runtime.registerDevices([device]);
    const known = (owner: string, member: string) => {
      if (owner === "RegisteredDevice") return member in registry.getDevice(0);
      const object = objects.get(owner);
      return typeof object === "function" && (member in object || member in object.prototype);
    };
    const rows = guide.split("\n").filter((line) => line.startsWith("| `ANeuralNetworks"));
    const named = rows.flatMap((row) => [...row.matchAll(/`([A-Z]\w+)\.(\w+)`/g)]);
    expect(named.filter(([, owner, member]) => !known(owner ?? "", member ?? "")).map(([text]) => text)).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
    const others = rows.flatMap((row) =>
      [...row.matchAll(/`registerDevices\(…\)\.(\w+)/g)].map(([, name = ""]) => name),
    );
    expect(others).toEqual(["getDevice", "getDeviceCount", "createCompilation"]);
    expect(others.every((name) => name in registry)).toBe(true);
  });
});
