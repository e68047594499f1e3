/**
 * Checks the upload of a release: pnpm publishes all packages without uploading them, and reports the files of each. A package
 * with an incomplete manifest, or whose tarball lacks a file that a user needs, is found before npm has it permanently.
 */
import { runCommand } from "./process.ts";
import type { Manifest, WorkspacePackage } from "./workspace.ts";

/** pnpm's report of a package that it would upload. */
export interface Upload {
  readonly name: string;
  /** Bytes of the tarball. */
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** The fields that the manifests of published packages share, besides their own. */
const sharedFields = {
  license: "Apache-2.0",
  type: "module",
  sideEffects: false,
  engines: { node: ">=20.19" },
  publishConfig: { access: "public", provenance: true },
};

/** Publishes the packages without uploading anything. */
export async function checkPublished(root: string, packages: readonly WorkspacePackage[]) {
  // Each is reported, even if the registry has its version.
  const args = ["-r", "publish", "--dry-run", "--force", "--no-git-checks", "--json"];
  const { ok, output } = await runCommand(root, "pnpm", args);
  const json = /^\[\n[\s\S]*^\]$/m.exec(output)?.[0];
  if (!ok || json === undefined) return { ok: false, output, notes: [] };
  // The form is pnpm's; what does not fit it has no files, and is a problem below.
  const uploads: readonly Upload[] = JSON.parse(json);
  const problems = publishProblems(packages, uploads);
  const bytes = uploads.reduce((sum, { size }) => sum + size, 0);
  const notes = [`${uploads.length} packages, ${(bytes / 1e6).toFixed(1)} MB packed`];
  return { ok: problems.length === 0, output: problems.join("\n"), notes };
}

/** Returns the faults of the packages as they would be uploaded. */
export function publishProblems(
  packages: readonly Pick<WorkspacePackage, "manifest">[],
  uploads: readonly Upload[],
): readonly string[] {
  const byName = new Map(uploads.map((upload) => [upload.name, upload]));
  const names = new Set(packages.map(({ manifest }) => manifest.name));
  return [
    ...uploads.filter(({ name }) => !names.has(name)).map(({ name }) => `${name} would be published, and must not be`),
    ...packages.flatMap(({ manifest }) => {
      const files = byName.get(manifest.name)?.files?.map(({ path }) => path) ?? [];
      if (files.length === 0) return [`${manifest.name} would not be published`];
      return [...manifestProblems(manifest), ...fileProblems(manifest, files)].map(
        (problem) => `${manifest.name}: ${problem}`,
      );
    }),
  ];
}

/** Returns true for a list of files: those with side effects on import, such as a worker's. */
function isListOfFiles(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((each) => /^\.\/./.test(String(each)));
}

function manifestProblems(manifest: Manifest): string[] {
  const actual: Readonly<Record<string, unknown>> = { ...manifest };
  const problems = Object.entries(sharedFields)
    .filter(([field, value]) => JSON.stringify(actual[field]) !== JSON.stringify(value))
    .filter(([field]) => field !== "sideEffects" || !isListOfFiles(actual[field]))
    .map(([field, value]) => `"${field}" is ${JSON.stringify(actual[field])}, and must be ${JSON.stringify(value)}`);
  if (typeof actual.description !== "string") problems.push('"description" is missing');
  if (!Array.isArray(actual.keywords) || actual.keywords.length === 0) problems.push('"keywords" is missing');
  return problems;
}

function fileProblems({ exports = {}, bin = {} }: Manifest, files: readonly string[]): string[] {
  const named = [...filesNamedBy(exports), ...Object.values(bin)].map((path) => path.replace(/^\.\//, ""));
  const needed = new Set(["package.json", "README.md", "LICENSE", ...named]);
  return [
    ...[...needed].filter((path) => !files.includes(path)).map((path) => `the file ${path} is missing`),
    ...files
      .filter((path) => /^src\/|\.map$/.test(path))
      .map((path) => `${path} is for this repository, not for users`),
  ];
}

/** Every path in an exports map, under whatever conditions except the one that leads to sources: `.pnpmfile.mjs` removes it. */
function filesNamedBy(target: unknown): string[] {
  if (typeof target === "string") return [target];
  if (!(target instanceof Object)) return [];
  return Object.entries(target).flatMap(([condition, each]) =>
    condition === "@nnhal/source" ? [] : filesNamedBy(each),
  );
}
