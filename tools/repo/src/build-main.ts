/**
 * Builds all published packages: the task of turbo. One process builds them one after the other, each by its tsup.config.ts, since to
 * start pnpm and tsup for each takes ten times as long as the builds.
 */
import { join } from "node:path";
import { build } from "tsup";
import { emitDeclarations } from "./declarations.ts";
import { publicPackages, workspaceRoot } from "./workspace.ts";

const declarations = await emitDeclarations(workspaceRoot);
if (!declarations.ok) {
  console.error(declarations.output);
  process.exit(1);
}
for (const { folder } of publicPackages(workspaceRoot)) {
  process.chdir(join(workspaceRoot, folder));
  try {
    await build({ silent: true });
  } catch (error) {
    console.error(`${folder}: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
