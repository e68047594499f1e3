/** The statements of SECURITY.md are shown by tests that exist. */
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { grpcKinds } from "./server/grpc-kinds.ts";
import type { ServerAddress } from "./server/peers.ts";
import { restKinds } from "./server/rest-kinds.ts";
import { importKinds } from "./surfaces/import.ts";
import { surfaces } from "./surfaces/index.ts";

const root = new URL("../../../", import.meta.url);
const address: ServerAddress = { rest: "", grpc: "", token: "", arrival: 1000, bodyLimit: 1 };
const kinds = [...[...restKinds(address), ...grpcKinds(address)], ...importKinds({ readBytes: async () => [] })].map(
  ({ name }) => name,
);
const known = new Set(["tools/hostile", ...surfaces.map(({ name }) => name), ...kinds]);

/** The last cells of the table of costs, each with the names that are written as code. */
function testsNamed(): readonly (readonly string[])[] {
  const text = readFileSync(new URL("SECURITY.md", root), "utf8");
  const section = text.split(/^## /m).find((each) => each.startsWith("What it can cost")) ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  const cells = rows.slice(1).map((row) => row.split("|").at(-2) ?? "");
  return cells.map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
}

it("each row of its costs names a test, and each test that it names exists", () => {
  const named = testsNamed();
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((names) => names.length === 0)).toEqual([]);
  const missing = named.flat().filter((name) => {
    return name.endsWith(".test.ts") ? !existsSync(new URL(name, root)) : !known.has(name);
  });
  expect(missing).toEqual([]);
});
