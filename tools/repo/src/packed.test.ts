import { expect, test } from "vitest";
import { entriesOf } from "./packed.ts";
import { readWorkspace, workspaceRoot } from "./workspace.ts";

test("the entries are what an import can name", () => {
  const exports = { "./device": {}, "./memory": {}, "./package.json": "./package.json" };
  expect(entriesOf({ name: "@nnhal/x", exports })).toEqual(["@nnhal/x/device", "@nnhal/x/memory"]);
  expect(entriesOf({ name: "@nnhal/x", exports: { ".": {} } })).toEqual(["@nnhal/x"]);
  expect(entriesOf({ name: "@nnhal/x" })).toEqual([]);
});

test("every published package says where its source is, before anything else", () => {
  const published = readWorkspace(workspaceRoot).filter(({ manifest }) => manifest.private !== true);
  expect(published.length).toBeGreaterThan(0);
  for (const { folder, manifest } of published) {
    for (const [path, conditions] of Object.entries(manifest.exports ?? {})) {
      if (path.endsWith(".json")) continue;
      expect(Object.keys(Object(conditions)), `${folder} ${path}`).toEqual(["@nnhal/source", "import", "require"]);
    }
  }
});
