import { readFileSync } from "node:fs";
import { join } from "node:path";
import { examplesOf, runExample } from "@nnhal/test-kit/run-example";
import type { Device } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import * as runtime from "./index.ts";
import { openReference } from "./models.test-helper.ts";

const guide = readFileSync(join(import.meta.dirname, "../../..", "docs/runtime.md"), "utf8");
let device: Device;
beforeAll(async () => {
  device = await openReference();
});

describe("docs/runtime.md", () => {
  it("has examples that run as they stand, and print what they say", { timeout: 120_000 }, async () => {
    const examples = examplesOf("docs/runtime.md");
    expect(examples).toHaveLength(3);
    for (const example of examples) {
      const said = [...example.matchAll(/^\s*console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
      expect(await runExample(example)).toEqual({ stdout: `${said.join("\n")}\n`, stderr: "" });
    }
  });

  it("has a row for each of the NNAPI's functions", () => {
    const functions = [...guide.matchAll(/^\| `(ANeuralNetworks\w*)` \| (27|28|29|30|31|platform) \|/gm)];
    expect(new Set(functions.map(([, name]) => name)).size).toBe(75);
    const levels = functions.map(([, , level]) => level);
    expect(
      ["27", "28", "29", "30", "31", "platform"].map((level) => levels.filter((one) => one === level).length),
    ).toEqual([23, 1, 19, 19, 7, 6]);
  });

  it("names existing members", () => {
    const objects = new Map<string, unknown>(Object.entries(runtime));
    const registry = runtime.registerDevices([device]);
    const findKnown = (owner: string, member: string) => {
      if (owner === "RegisteredDevice") return member in registry.getDevice(0);
      const object = objects.get(owner);
      return typeof object === "function" && (member in object || member in object.prototype);
    };
    const rows = guide.split("\n").filter((line) => line.startsWith("| `ANeuralNetworks"));
    const named = rows.flatMap((row) => [...row.matchAll(/`([A-Z]\w+)\.(\w+)`/g)]);
    expect(named.filter(([, owner, member]) => !findKnown(owner ?? "", member ?? "")).map(([text]) => text)).toEqual(
      [],
    );
    expect(named.length).toBeGreaterThan(50);
    const others = rows.flatMap((row) =>
      [...row.matchAll(/`registerDevices\(…\)\.(\w+)/g)].map(([, name = ""]) => name),
    );
    expect(others).toEqual(["getDevice", "getDeviceCount", "createCompilation"]);
    expect(others.every((name) => name in registry)).toBe(true);
  });
});
