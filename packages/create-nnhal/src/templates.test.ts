/** The templates keep what they promise, and keep up with this repository. `npm run ok -- install` builds and tests them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kinds } from "./scaffold.ts";

const root = join(import.meta.dirname, "../../..");
const templates = join(import.meta.dirname, "../templates");
const text = (...path: string[]) => readFileSync(join(...path), "utf8");
const linesOf = (content: string) => content.trimEnd().split("\n").length;

interface Manifest {
  readonly engines: object;
  readonly exports: object;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}
// Manifests of this repository: the tests below compare what they have.
const manifestOf = (...path: string[]): Manifest => JSON.parse(text(...path));

describe.each(kinds)("the template of a %s", (kind) => {
  const manifest = manifestOf(templates, kind, "_package.json");
  const sources = readdirSync(join(templates, kind, "src"));
  const importFrom = (names: readonly string[]) =>
    names.flatMap((name) =>
      [...text(templates, kind, "src", name).matchAll(/ from "(@[a-z]+\/[a-z-]+|[a-z][a-z-]*)/g)].map(
        ([, found]) => found,
      ),
    );

  it("has a compliance test of less than 20 lines", () => {
    expect(linesOf(text(templates, kind, "src/conformance.test.ts"))).toBeLessThan(20);
    expect(text(templates, kind, "src/conformance.test.ts")).toContain("defineConformanceTests(");
  });

  it("has files of at most 60 lines", () => {
    const lengths = sources.map((name) => linesOf(text(templates, kind, "src", name)));
    expect(Math.max(...lengths)).toBeLessThanOrEqual(60);
  });

  it("has a manifest that is ready for changesets and npm", () => {
    expect(manifest).toMatchObject({
      name: "__package__",
      version: "0.0.0",
      license: "Apache-2.0",
      type: "module",
      sideEffects: false,
      files: ["dist"],
      publishConfig: { access: "public", provenance: true },
    });
    expect(manifest.engines).toEqual(manifestOf(root, "package.json").engines);
    expect(manifest.exports).toHaveProperty(["."], { types: "./dist/index.d.ts", default: "./dist/index.js" });
  });

  it("declares what it imports: peers for users, everything for its development", () => {
    const peers = Object.keys(manifest.peerDependencies);
    expect(peers).toEqual(expect.arrayContaining(importFrom(sources.filter((name) => !name.includes(".test.")))));
    expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining([...peers, ...importFrom(sources)]));
    expect(manifest.dependencies).toBeUndefined();
  });

  it("takes nnhal in one version, and the tools that this repository uses", () => {
    const tools = manifestOf(root, "package.json").devDependencies;
    for (const [name, range] of Object.entries({ ...manifest.devDependencies, ...manifest.peerDependencies })) {
      expect([name, range]).toEqual([name, name.startsWith("@nnhal/") ? "__nnhal__" : tools[name]]);
    }
  });

  it("names packages that exist", () => {
    const names = Object.keys(manifest.devDependencies).filter((name) => name.startsWith("@nnhal/"));
    for (const name of names) {
      const folder = name === "@nnhal/cli" ? "apps" : "packages";
      expect(manifestOf(root, folder, name.slice("@nnhal/".length), "package.json")).toMatchObject({ name });
    }
  });

  it("has what its README and its guide use", () => {
    const guide = { backend: "adding-a-backend.md", extension: "extensions.md" }[kind];
    const used = text(root, "docs", guide).matchAll(/ from "(@nnhal\/(?:backend|operations|types|conformance))[/"]/g);
    const declared = Object.keys(manifest.devDependencies);
    expect(declared).toEqual(expect.arrayContaining([...used].map(([, name]) => name)));
    expect(text(templates, kind, "README.md")).toContain("npx nnhal");
    expect(declared).toContain("@nnhal/cli");
  });

  it("has a README with an example", () => {
    expect(text(templates, kind, "README.md")).toMatch(/^```js\n[\s\S]+? from "__package__";\n[\s\S]+?^```$/m);
  });
});

it("the licence of a scaffolded package is that of this repository", () => {
  expect(text(templates, "../LICENSE")).toBe(text(root, "LICENSE"));
});
