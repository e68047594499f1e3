/** The options of a mutation test of one package. */
import type { PartialStrykerOptions } from "@stryker-mutator/api/core";

/** `folder`: of the package, from the root. `files`: patterns in its src; by default every source file. */
export function mutantOptions(folder: string, files: readonly string[]): PartialStrykerOptions {
  const source = `${folder}/src`;
  const patterns = files.length > 0 ? files : ["**/*.ts"];
  return {
    mutate: [
      ...patterns.map((pattern) => `${source}/${pattern}`),
      ...["test", "test-helper", "gen"].map((kind) => `!${source}/**/*.${kind}.ts`),
    ],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "vitest.config.ts", dir: folder },
    reporters: [process.stdout.isTTY ? "progress" : "progress-append-only", "clear-text", "html"],
    clearTextReporter: { allowColor: false, logTests: false },
    htmlReporter: { fileName: "node_modules/.cache/nnhal-mutants/report.html" },
    tempDirName: ".mutants",
    coverageAnalysis: "perTest",
    // A change that only shows in text is not worth a test.
    mutator: { excludedMutations: ["StringLiteral"] },
    // The types are checked by the gate; here each change only has to run.
    disableTypeChecks: false,
    allowEmpty: false,
  };
}
