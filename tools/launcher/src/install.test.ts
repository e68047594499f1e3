import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./main.mjs";

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly bundledIntoBuild?: readonly string[];
}

/** The packages of the workspace by name. */
function workspace(): Map<string, Manifest> {
  const folders = ["apps", "packages", "tools"].flatMap((parent) =>
    readdirSync(join(root, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(root, parent, name)),
  );
  const manifests = folders.map((folder): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  return new Map(manifests.map((manifest) => [manifest.name, manifest]));
}

/** Returns the packages that `npm start` installs: the launcher and its dependencies, without development dependencies. */
function installedForDemo(packages: ReadonlyMap<string, Manifest>): Set<string> {
  const found = new Set(["@nnhal/launcher"]);
  for (const name of found) {
    for (const dependency of Object.keys(packages.get(name)?.dependencies ?? {})) {
      if (packages.has(dependency)) found.add(dependency);
    }
  }
  return found;
}

it("the install of the demonstration has what builds contain, since it runs from sources", () => {
  const packages = workspace();
  const installed = installedForDemo(packages);
  expect(installed).toContain("@nnhal/tflite");
  const missing = [...installed].flatMap((name) => {
    const { dependencies = {}, bundledIntoBuild = [] } = packages.get(name) ?? {};
    return bundledIntoBuild.filter((one) => !Object.hasOwn(dependencies, one)).map((one) => `${name}: ${one}`);
  });
  expect(missing).toEqual([]);
});

it("the install of the demonstration has koffi, by which its daemon shares memory", () => {
  const { optionalDependencies = {} }: { readonly optionalDependencies?: Readonly<Record<string, string>> } =
    JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  // Packages of the workspace find the root's packages: their own development dependencies are not installed.
  expect(Object.keys(optionalDependencies)).toEqual(["koffi"]);
});
