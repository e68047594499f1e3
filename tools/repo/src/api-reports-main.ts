/** `npm run api`: builds the published packages and writes every API report that is not up to date. */
import { checkApiReports } from "./api-reports.ts";
import { buildPackages } from "./steps.ts";
import { publicPackages, workspaceRoot } from "./workspace.ts";

const built = await buildPackages(workspaceRoot);
if (!built.ok) {
  console.error(built.output);
  process.exitCode = 1;
} else {
  const { stale, problems } = checkApiReports(workspaceRoot, publicPackages(workspaceRoot), true);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  console.log(stale.length === 0 ? "API reports are up to date." : `Wrote or removed ${stale.join(", ")}.`);
}
