/**
 * The order of the test files (vitest.config.ts): long ones first, so that at the end no processor waits while the other works on one.
 * Files of a project run one after the other, since they share processes; the project with the shortest files is last.
 */
import { relative, sep } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { workspaceRoot } from "./workspace.ts";

/** The projects of vitest.config.ts in their order. */
export const projectOrder: readonly string[] = ["stress", "counting", "engines", "conformance", "others", "base"];

/** Files that take several seconds, the longest of each project first: the gate lists the slowest. */
export const longFiles: readonly string[] = [
  "packages/backend-tfjs/src/vectors.test.ts",
  "packages/backend-ort/src/conformance.test.ts",
  "packages/backend-tfjs/src/conformance.test.ts",
  "packages/backend-ort/src/vectors.test.ts",
  "packages/backend-tfjs/src/random.test.ts",
  "packages/backend-ort/src/random.test.ts",
  "packages/backend-ort/src/extreme-products.test.ts",
  "packages/backend-tfjs/src/models.test.ts",
  "packages/conformance/src/suites/reference.test.ts",
  "packages/conformance/src/isolated.test.ts",
  "packages/conformance/src/stress/run.test.ts",
  "packages/conformance/src/module/run-module.test.ts",
  "packages/conformance/src/runtime/runtime-vectors.test.ts",
  "packages/conformance/src/mutations/public-mutations.test.ts",
  "packages/conformance/src/versions.test.ts",
  "packages/conformance/src/vectors/public-vectors.test.ts",
  "packages/conformance/src/tests.test.ts",
  "packages/conformance/src/suites/contract/planted-faults.test.ts",
  "packages/conformance/src/random/examples.test.ts",
  "packages/conformance/src/faults/kernel-faults.test.ts",
  "packages/conformance/src/arithmetic/bias.test.ts",
  "packages/conformance/src/runtime/random-partitioning.test.ts",
  "packages/conformance/src/suites/run.test.ts",
  "apps/cli/src/main.test.ts",
  "tools/hostile/src/surfaces.test.ts",
  "apps/studio/src/page.test.ts",
  "apps/cli/src/commands/conformance-guide.test.ts",
  "tools/processors/src/gate.test.ts",
  "apps/studio/src/page/run-panel.test.ts",
  "apps/studio/src/page/graph-panel.test.ts",
  "apps/studio/src/page/why-panel.test.ts",
  "tools/repo/src/readme.test.ts",
  "packages/backend-wasm/src/equal-bits.test.ts",
  "packages/backend-wasm/src/conformance.test.ts",
  "packages/backend-wasm/src/vectors.test.ts",
  "packages/backend-wasm/src/random.test.ts",
  "packages/backend-wasm/src/models.test.ts",
  "packages/backend-gpujs/src/conformance.test.ts",
  "packages/backend-gpujs/src/vectors.test.ts",
  "tools/repo/src/examples.test.ts",
  "packages/transport/src/conformance.test.ts",
  "apps/cli/src/quantised-operators.test.ts",
  "apps/cli/src/quantised-networks.test.ts",
  "apps/cli/src/models.test.ts",
  "apps/cli/src/commands/conformance.test.ts",
  "packages/backend-gpujs/src/borders.test.ts",
  "apps/sample-driver/src/faults.test.ts",
  "apps/sample-driver/src/through.test.ts",
  "apps/sample-driver/src/users.test.ts",
  "packages/batch/src/queue/hostile.test.ts",
  "apps/cli/src/commands/bench.test.ts",
  "tools/train-demo-model/src/train.test.ts",
  "packages/tflite/src/hostile.test.ts",
  "packages/tflite/src/corpus.test.ts",
  "packages/validation/src/hostile-sizes.test.ts",
  "packages/driver-core/src/burst/threads.test.ts",
  "packages/driver-core/src/versions/vectors.test.ts",
  "packages/driver-core/src/partition/partition.test.ts",
  "packages/validation/src/vectors.test.ts",
];

/** Facts that decide the place of a test file. */
export interface PlacedFile {
  readonly project: string;
  readonly path: string;
}

/** Compares two files: below 0 if the first runs before the second, 0 if that does not matter. */
export function compareFiles(a: PlacedFile, b: PlacedFile): number {
  const rank = (list: readonly string[], name: string) => (list.includes(name) ? list.indexOf(name) : list.length);
  const byProject = rank(projectOrder, a.project) - rank(projectOrder, b.project);
  return byProject || a.project.localeCompare(b.project) || rank(longFiles, a.path) - rank(longFiles, b.path);
}

/** As vitest orders them: those that failed last time, then large ones; but in the order of this file where that differs. */
export class TestOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placed = (await super.sort(files)).map((file) => ({ file, at: placeOf(file) }));
    return placed.sort((a, b) => compareFiles(a.at, b.at)).map(({ file }) => file);
  }
}

function placeOf({ project, moduleId }: TestSpecification): PlacedFile {
  return { project: project.name, path: relative(workspaceRoot, moduleId).split(sep).join("/") };
}
