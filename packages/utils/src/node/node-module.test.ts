import { expect, test } from "vitest";
import { nodeModule, optionalNodeModule } from "./node-module.ts";

test("a module of Node.js is the one that an import would return", async () => {
  const imported = await import("node:fs");
  expect(nodeModule("node:fs", "this test").readFileSync).toBe(imported.readFileSync);
  expect(optionalNodeModule("node:fs")?.readFileSync).toBe(imported.readFileSync);
});
