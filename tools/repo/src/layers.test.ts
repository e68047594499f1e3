import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { layers, layersPicture, measureSizes, type PackageSize, picturePath, staleSizes } from "./layers.ts";
import { readWorkspace, workspaceRoot } from "./workspace.ts";

const sizes = measureSizes(workspaceRoot);

/** The sizes of this checkout, with the lines of one package changed. */
const withLines = (name: string, change: (lines: number) => number) => ({
  ...sizes,
  packages: sizes.packages.map((one): PackageSize => (one.name === name ? { ...one, lines: change(one.lines) } : one)),
});

describe("the picture of the layers", () => {
  it("has every package with about its size", () => {
    expect(staleSizes(readFileSync(join(workspaceRoot, picturePath), "utf8"), sizes)).toEqual([]);
  });

  it("has each package above those that it depends on", () => {
    const floorOf = new Map(layers.flatMap(({ members }, floor) => members.map((name) => [name, floor] as const)));
    const workspace = readWorkspace(workspaceRoot);
    const folderOf = new Map(workspace.map(({ folder, manifest }) => [manifest.name, folder.split("/").at(-1) ?? ""]));
    const product = workspace.filter(({ folder }) => !folder.startsWith("tools/"));
    const upward = product.flatMap(({ manifest }) => {
      const own = floorOf.get(folderOf.get(manifest.name) ?? "") ?? -1;
      const names = Object.keys(manifest.dependencies ?? {}).flatMap((name) => folderOf.get(name) ?? []);
      const isProof = own === layers.length - 1;
      return isProof
        ? []
        : names.filter((name) => (floorOf.get(name) ?? -1) < own).map((name) => `${manifest.name} → ${name}`);
    });
    expect(product.length).toBeGreaterThan(25);
    expect(upward).toEqual([]);
  });

  it("counts the lines of each package, tests apart", () => {
    const types = sizes.packages.find(({ name }) => name === "types");
    expect(types?.role).toBe("installed");
    expect(types?.lines).toBeGreaterThan(1000);
    expect(sizes.packages.find(({ name }) => name === "server")?.role).toBe("added");
    expect(sizes.packages.find(({ name }) => name === "conformance")?.role).toBe("proof");
    expect(sizes.tests).toBeGreaterThan(50_000);
  });

  it("is stale if a package has grown by more than a fifth, has another role, is missing, or is gone", () => {
    const picture = layersPicture(sizes);
    expect(
      staleSizes(
        picture,
        withLines("network", (lines) => Math.round(lines * 1.1)),
      ),
    ).toEqual([]);
    expect(
      staleSizes(
        picture,
        withLines("network", (lines) => Math.round(lines * 1.5)),
      ),
    ).toEqual([expect.stringMatching(/^network: expected about \d+ lines, got \d+/)]);
    const more = { ...sizes, packages: [...sizes.packages, { name: "new", role: "added", lines: 10 } as const] };
    expect(staleSizes(picture, more)).toEqual([expect.stringMatching(/^new is not in the picture/)]);
    const moved = {
      ...sizes,
      packages: sizes.packages.map((one) => (one.name === "batch" ? { ...one, role: "added" as const } : one)),
    };
    expect(staleSizes(picture, moved)).toEqual(["batch: expected the role added, got installed: npm run layers"]);
    const fewer = { ...sizes, packages: sizes.packages.filter(({ name }) => name !== "batch") };
    expect(staleSizes(picture, fewer)).toEqual(["batch is not a package"]);
  });
});
