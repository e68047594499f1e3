/**
 * `npm run mutants -- PACKAGE [FILE…]`: changes the source of a package in many small ways, and lists the changes that no test of
 * the package notices. PACKAGE is a folder such as `packages/validation`; FILE is a pattern in its src, by default every source.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Stryker } from "@stryker-mutator/core";
import { mutantOptions } from "./mutants.ts";
import { workspaceRoot } from "./workspace.ts";

const [folder, ...files] = process.argv.slice(2).map((each) => each.replace(/\/$/, ""));

if (folder === undefined || !existsSync(join(workspaceRoot, folder, "src"))) {
  const problem = folder === undefined ? "Which package?" : `${folder} has no folder src.`;
  console.error(`${problem} For example: npm run mutants -- packages/validation "rules/*.ts"`);
  process.exitCode = 2;
} else {
  process.chdir(workspaceRoot);
  try {
    const results = await new Stryker(mutantOptions(folder, files)).runMutationTest();
    const unnoticed = results.filter(({ status }) => status === "Survived" || status === "NoCoverage");
    console.log(`${unnoticed.length} of ${results.length} changes were not noticed.`);
  } catch (error) {
    // Stryker has logged what led to it.
    console.error(
      `The mutation test of ${folder} ended early: ${error instanceof Error ? error.message : String(error)}`,
    );
    process.exitCode = 1;
  }
}
