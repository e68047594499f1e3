/**
 * The steps of the gate, in the order in which they begin: cheap ones and those that explain others come first, concurrently
 * with lint, which has a separate process. The build, and the steps that read it, run concurrently with the tests; of these
 * steps, which run at the same time, the longest comes first.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkApiReports } from "./api-reports.ts";
import { checkBrowserBundles } from "./browser-check.ts";
import { checkPages } from "./browser-pages.ts";
import { type Changes, touchedPackages } from "./changes.ts";
import { checkCircles } from "./circles.ts";
import { checkFileSizes } from "./file-sizes.ts";
import { checkFunctionSizes } from "./function-sizes.ts";
import { generateAll, generateFromDefinitions, staleFiles } from "./generate.ts";
import { checkImports } from "./import-rules.ts";
import { checkInstalled } from "./installed.ts";
import { checkPackedTypes, lintPacked } from "./packed.ts";
import { runCommand } from "./process.ts";
import { checkPublished } from "./published.ts";
import { checkServerBundles } from "./server-bundles.ts";
import { checkBuiltFiles } from "./source-paths.ts";
import { runTests, type TestCounts } from "./test-run.ts";
import { checkStudioSize } from "./three-lines.ts";
import { checkTypes } from "./type-check.ts";
import { checkWording } from "./wording.ts";
import {
  hasSources,
  publicPackages,
  readCode,
  readDocuments,
  readManifest,
  readWorkspace,
  type WorkspacePackage,
} from "./workspace.ts";

export interface StepResult {
  readonly ok: boolean;
  /** Printed in full where the step failed. */
  readonly output: string;
  /** Remarks on a step that passed; always printed. */
  readonly notes?: readonly string[];
  readonly counts?: TestCounts;
}

export interface Step {
  readonly name: string;
  readonly purpose: string;
  /** The step whose result this one reads: it is skipped where that one failed. */
  readonly after?: string;
  /** True if it may run at the same time as its neighbours that may, too: it reads only sources. */
  readonly besides?: boolean;
  /** Runs the step. `changes`: only the packages that they touch matter. Default: all packages do. */
  run(root: string, changes?: Changes): Promise<StepResult>;
}

const fromProblems = (problems: readonly string[], notes: readonly string[] = []): StepResult => ({
  ok: problems.length === 0,
  output: problems.join("\n"),
  notes,
});

export const steps: readonly Step[] = [
  {
    name: "lint",
    purpose: "lint rules and formatting",
    besides: true,
    run: (root) => runCommand(root, "biome", ["check", "--error-on-warnings", "--max-diagnostics=200", "."]),
  },
  {
    name: "generated",
    purpose: "generated files are what their sources say",
    besides: true,
    async run(root) {
      const generated = generateAll(root);
      if (generated.problems.length > 0) return fromProblems(generated.problems);
      const index = staleFiles(root, generated);
      const stale = index.length > 0 ? index : staleFiles(root, await generateFromDefinitions());
      return fromProblems(stale.map((path) => `${path} is out of date: run \`npm run generate\``));
    },
  },
  {
    name: "imports",
    purpose: "packages import only what they may",
    besides: true,
    run: async (root) => fromProblems(checkImports(readWorkspace(root), readManifest(root))),
  },
  {
    name: "circles",
    purpose: "no files or folders of a package import each other in a circle",
    besides: true,
    run: async (root) => fromProblems(checkCircles(readWorkspace(root))),
  },
  {
    name: "sizes",
    purpose: "no source file and no function is too long",
    besides: true,
    async run(root) {
      const files = ["apps", "packages", "tools"].flatMap((folder) => readCode(root, join(root, folder)));
      const { warnings, problems } = checkFileSizes(files);
      return fromProblems([...problems, ...checkFunctionSizes(files)], warnings);
    },
  },
  {
    name: "wording",
    purpose: "comments, messages and documents are in plain English",
    besides: true,
    run: async (root) => fromProblems(checkWording([...readCode(root, root), ...readDocuments(root, root)])),
  },
  {
    name: "types",
    purpose: "every package type-checks",
    besides: true,
    run: (root, changes) => onTouched(root, changes, () => checkTypes(root, typedFolders(root))),
  },
  { name: "tests", purpose: "all tests", run: (root, changes) => runTests(root, changes?.since) },
  {
    name: "build",
    purpose: "every published package builds",
    run: buildPackages,
  },
  {
    name: "install",
    purpose: "packed packages install with npm, load and type-check; scaffolded ones build and pass the kit",
    after: "build",
    run: (root, changes) => onTouched(root, changes, () => checkInstalled(root, publicPackages(root))),
  },
  {
    name: "api",
    purpose: "API reports say what packages export",
    after: "build",
    async run(root) {
      const { stale, problems } = checkApiReports(root, publicPackages(root), false);
      return fromProblems([...problems, ...stale.map((path) => `${path} is out of date: run \`npm run api\``)]);
    },
  },
  {
    name: "paths",
    purpose: "no file of a build names a source, and each has the comments that bundlers read",
    after: "build",
    run: async (root) => fromProblems(checkBuiltFiles(root, publicPackages(root))),
  },
  {
    name: "publint",
    purpose: "packages are packed as npm expects",
    after: "build",
    run: (root, changes) => onTouched(root, changes, (packages) => lintPacked(root, packages)),
  },
  {
    name: "attw",
    purpose: "declarations fit what they declare",
    after: "build",
    run: (root, changes) => onTouched(root, changes, (packages) => checkPackedTypes(root, packages)),
  },
  {
    name: "publish",
    purpose: "a release would upload every package, complete",
    after: "build",
    run: (root) => checkPublished(root, publicPackages(root)),
  },
  {
    name: "browser",
    purpose: "packages bundle for a browser and a server, and a page of each bundler reads a digit in Chromium",
    after: "build",
    run: (root) => checkBrowsers(root),
  },
];

async function checkBrowsers(root: string): Promise<StepResult> {
  const studio = checkStudioSize(join(root, "apps/studio/dist"));
  if (!studio.ok) return studio;
  const bundles = await checkBrowserBundles(root, publicPackages(root));
  if (!bundles.ok) return bundles;
  const servers = await checkServerBundles(root);
  if (!servers.ok) return servers;
  const { ok, output, notes, skipped } = await checkPages(root);
  return { ok, output, notes: [...bundles.notes, studio.output, ...notes], counts: { passed: 0, failed: 0, skipped } };
}

/** Does work on the published packages, or on those of them that a change touches; none if it touches no package. */
async function onTouched(
  root: string,
  changes: Changes | undefined,
  work: (packages: readonly WorkspacePackage[]) => Promise<StepResult>,
): Promise<StepResult> {
  const all = readWorkspace(root);
  const touched = changes === undefined ? all : touchedPackages(all, changes);
  if (touched.length === 0) return fromProblems([], ["the change touches no package"]);
  const chosen = publicPackages(root).filter(({ folder }) => touched.some((one) => one.folder === folder));
  return work(chosen);
}

/** Folders of the packages that have types to check. */
function typedFolders(root: string): string[] {
  return readWorkspace(root)
    .filter((one) => hasSources(one) && one.manifest.scripts?.types !== undefined)
    .map(({ folder }) => folder);
}

/** Builds every published package, unless turbo has the build of these sources. */
export function buildPackages(root: string): Promise<StepResult> {
  return runCommand(root, "turbo", ["run", "build", "--output-logs=errors-only"]);
}

/** Packages that hold nothing yet are left out of most steps; this says which. */
export function emptyPackages(root: string): string[] {
  return readWorkspace(root)
    .filter((one) => !hasSources(one) && !existsSync(join(root, one.folder, "src")))
    .map(({ folder }) => folder);
}
