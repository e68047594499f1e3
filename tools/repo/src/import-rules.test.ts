import { describe, expect, test } from "vitest";
import { packageOf } from "./fixtures.ts";
import { checkImports, findAllowed, importedModules } from "./import-rules.ts";
import { type Manifest, readManifest, readWorkspace, type WorkspacePackage, workspaceRoot } from "./workspace.ts";

const root: Manifest = { name: "root", devDependencies: { vitest: "4" } };
const link = (...names: string[]) => Object.fromEntries(names.map((name) => [`@nnhal/${name}`, "workspace:^"]));
const types = packageOf("packages/types");
const operations = packageOf("packages/operations", { dependencies: link("types") });
const check = (...packages: WorkspacePackage[]) => checkImports(packages, root);

/** The problems of packages/operations, when it has the one file given. */
const operationsWith = (text: string, file = "index.ts", manifest: Partial<Manifest> = {}) =>
  check(types, packageOf("packages/operations", { dependencies: link("types"), ...manifest }, { [file]: text }));

describe("import rules", () => {
  test("a package that keeps every rule has no problems", () => {
    const text = 'import type { Model } from "@nnhal/types";\nexport { a } from "./a.ts";\n';
    expect(operationsWith(text)).toEqual([]);
  });

  test("what is bundled into the build is a development dependency", () => {
    const text = 'import engine from "engine";';
    const devDependencies = { engine: "1" };
    const problem =
      "packages/operations/src/index.ts: imports engine, which packages/operations/package.json does not declare";
    expect(operationsWith(text, "index.ts", { devDependencies, bundledIntoBuild: ["engine"] })).toEqual([]);
    expect(operationsWith(text, "index.ts", { devDependencies })).toEqual([problem]);
    expect(operationsWith(text, "index.ts", { bundledIntoBuild: ["engine"] })).toEqual([problem]);
  });

  test("what is found if it is installed is a development dependency, too", () => {
    const text = 'const engine = () => import("engine");';
    const devDependencies = { engine: "1" };
    expect(operationsWith(text, "index.ts", { devDependencies, foundIfInstalled: ["engine"] })).toEqual([]);
    expect(operationsWith(text, "index.ts", { foundIfInstalled: ["engine"] })).toHaveLength(1);
  });

  test("a dependency against the direction is found in package.json", () => {
    expect(check(packageOf("packages/types", { dependencies: link("tflite") }), packageOf("packages/tflite"))).toEqual([
      "packages/types/package.json: depends on @nnhal/tflite, which packages/types must not import",
    ]);
  });

  test("an import against the direction is found in the source, even where it is declared", () => {
    const runtime = packageOf("packages/runtime");
    const backend = packageOf(
      "packages/backend-ort",
      { dependencies: link("runtime") },
      { "index.ts": 'export const load = () => import("@nnhal/runtime");' },
    );
    expect(check(runtime, backend)).toEqual([
      "packages/backend-ort/package.json: depends on @nnhal/runtime, which packages/backend-ort must not import",
      "packages/backend-ort/src/index.ts: imports @nnhal/runtime, which packages/backend-ort must not import",
    ]);
  });

  test.each([
    ["backend-tfjs", "backend-reference"],
    ["backend-tfjs", "driver-core"],
    ["extension-fibonacci", "runtime"],
  ])("%s must not use %s", (from, to) => {
    expect(check(packageOf(`packages/${to}`), packageOf(`packages/${from}`, { dependencies: link(to) }))).toHaveLength(
      1,
    );
  });

  test("a rule on a subpath allows that subpath only", () => {
    const backend = (specifier: string) =>
      check(
        packageOf("packages/utils"),
        packageOf("packages/backend", { dependencies: link("utils") }, { "a.ts": `import { x } from "${specifier}";` }),
      );
    expect(backend("@nnhal/utils/time")).toEqual([]);
    expect(backend("@nnhal/utils/graph")).toHaveLength(1);
    expect(backend("@nnhal/utils")).toHaveLength(1);
  });

  test("applications may use every package, the conformance kit every package but applications", () => {
    const cli = packageOf("apps/cli", { dependencies: link("types", "conformance") });
    expect(check(types, packageOf("packages/conformance", { dependencies: link("types") }), cli)).toEqual([]);
    expect(check(packageOf("apps/tool"), packageOf("packages/conformance", { dependencies: link("tool") }))).toEqual([
      "packages/conformance/package.json: depends on @nnhal/tool, which packages/conformance must not import",
    ]);
  });

  test("an import must be declared; tests may also use development dependencies and the workspace's tools", () => {
    const text = 'import { expect } from "vitest";';
    expect(operationsWith(text)).toEqual([
      "packages/operations/src/index.ts: imports vitest, which packages/operations/package.json does not declare",
    ]);
    expect(operationsWith(text, "index.test.ts")).toEqual([]);
    expect(operationsWith(text, "ops/_run.test-helper.ts")).toEqual([]);
    expect(operationsWith('import "left-pad";', "index.test.ts")).toHaveLength(1);
    expect(operationsWith('import "left-pad";', "index.test.ts", { devDependencies: { "left-pad": "1" } })).toEqual([]);
  });

  test("a workspace dependency is declared as one", () => {
    expect(check(types, packageOf("packages/operations", { dependencies: { "@nnhal/types": "1.0.0" } }))).toEqual([
      'packages/operations/package.json: @nnhal/types must be "workspace:^", not "1.0.0"',
    ]);
  });

  test.each([
    'import type { MessagePort } from "node:worker_threads";',
    'export const files: typeof import("node:fs") | undefined = undefined;',
  ])("an isomorphic package may name types of Node.js: %s", (text) => {
    expect(operationsWith(text)).toEqual([]);
  });

  test("an isomorphic package uses nothing of Node.js outside its tests", () => {
    const text = 'import { readFileSync } from "node:fs";';
    expect(operationsWith(text)).toEqual([
      "packages/operations/src/index.ts: imports node:fs, but packages/operations also runs in a browser",
    ]);
    expect(operationsWith(text, "index.test.ts")).toEqual([]);
    expect(check(packageOf("packages/conformance", {}, { "a.ts": text }))).toEqual([]);
  });

  test("an import of the package itself is one of those that it lists; the sources for Node.js alone may use it", () => {
    const to = (path: string) => ({ "@nnhal/source": `./src/${path}` });
    const imports = { "#files": { node: to("files-node.ts"), default: to("files.ts") } };
    const node = 'import "node:fs";';
    expect(operationsWith('import "#files";')).toEqual([
      'packages/operations/src/index.ts: imports #files, which the field "imports" of packages/operations/package.json does not have',
    ]);
    expect(operationsWith('import "#files";', "index.ts", { imports })).toEqual([]);
    expect(operationsWith(node, "files-node.ts", { imports })).toEqual([]);
    expect(operationsWith(node, "files-node.ts", { exports: imports })).toEqual([]);
    expect(operationsWith(node, "files.ts", { imports })).toHaveLength(1);
    expect(
      operationsWith(node, "files-node.ts", { imports: { "#files": { node: to("files-node.ts") } } }),
    ).toHaveLength(1);
  });

  test("a module of Node.js is named with its prefix", () => {
    expect(check(packageOf("packages/conformance", {}, { "a.ts": 'import fs from "fs";' }))).toEqual([
      "packages/conformance/src/a.ts: imports fs: write it as node:fs",
    ]);
  });

  test("relative imports end in .ts and stay inside the package", () => {
    expect(operationsWith('import "./a";')).toEqual([
      "packages/operations/src/index.ts: imports ./a: a relative path ends in .ts",
    ]);
    expect(operationsWith('import "../../types/src/index.ts";')).toEqual([
      "packages/operations/src/index.ts: imports ../../types/src/index.ts, which is outside packages/operations: use the package's name",
    ]);
    expect(operationsWith('import "../package.json";')).toEqual([]);
    expect(operationsWith('import "../../types/src/a.test-helper.ts";', "a.test.ts")).toEqual([
      "packages/operations/src/a.test.ts: imports ../../types/src/a.test-helper.ts, which is outside packages/operations: use the package's name",
    ]);
  });

  test("only tests and tools import the test kit, and only as a development dependency", () => {
    const kit = packageOf("packages/test-kit");
    const text = 'import { floorModel } from "@nnhal/test-kit/models";';
    const using = (file: string, manifest: Partial<Manifest>, folder = "packages/conformance") =>
      check(kit, packageOf(folder, manifest, { [file]: text }));
    const declared = { devDependencies: link("test-kit") };
    expect(using("a.test.ts", declared)).toEqual([]);
    expect(using("a.test-helper.ts", declared)).toEqual([]);
    expect(using("a.ts", declared, "tools/hostile")).toEqual([]);
    expect(using("a.ts", declared)).toEqual([
      "packages/conformance/src/a.ts: imports @nnhal/test-kit/models, which only tests and tools import",
    ]);
    expect(using("a.ts", declared, "apps/cli")).toHaveLength(1);
    expect(using("a.test.ts", { dependencies: link("test-kit") })).toEqual([
      "packages/conformance/package.json: @nnhal/test-kit is for tests only: it belongs to the devDependencies",
    ]);
  });

  test("a package does not import itself by name", () => {
    expect(operationsWith('import "@nnhal/operations";')).toHaveLength(1);
    expect(operationsWith('import "@nnhal/operations";', "a.test.ts")).toEqual([]);
  });

  test("a circle is found, also through development dependencies", () => {
    const back = packageOf("packages/types", { devDependencies: link("operations") });
    expect(check(back, operations)).toEqual([
      "packages depend on each other in a circle: @nnhal/types → @nnhal/operations → @nnhal/types",
    ]);
  });

  test("a package without a rule is a problem, not a free pass", () => {
    expect(check(packageOf("packages/novelty"))).toEqual([
      "packages/novelty: has no rule about what it may import; add one to the table in tools/repo/src/import-rules.ts",
    ]);
  });

  test("every way to import is seen, and text that looks like one is not", () => {
    const text = `
      import type { A } from "a";
      export * from "b";
      import "c";
      const d = await import("d");
      type E = import("e").E;
      // import "not";
      const text = 'import "neither"';
    `;
    expect(importedModules(text).sort()).toEqual(["a", "b", "c", "d", "e"]);
  });
});

describe("this workspace", () => {
  const packages = readWorkspace(workspaceRoot);

  test("has a rule for every package", () => {
    expect(packages.length).toBeGreaterThan(0);
    for (const { folder } of packages) expect(findAllowed(folder), folder).toBeDefined();
  });

  test("declares only dependencies that the rules allow", () => {
    const manifests = packages.map((one) => ({ ...one, sources: [] }));
    expect(checkImports(manifests, readManifest(workspaceRoot))).toEqual([]);
  });
});
