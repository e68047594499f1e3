/** `npm run generate`: writes every generated file that is not as it should be. */
import { generateAll, generateFromDefinitions, writeGenerated } from "./generate.ts";
import { workspaceRoot } from "./workspace.ts";

const generated = generateAll(workspaceRoot);
for (const problem of generated.problems) console.error(problem);
if (generated.problems.length > 0) {
  console.error("Nothing was written.");
  process.exitCode = 1;
} else {
  const index = writeGenerated(workspaceRoot, generated);
  const written = [...index, ...writeGenerated(workspaceRoot, await generateFromDefinitions())];
  console.log(written.length === 0 ? "Generated files are up to date." : `Wrote ${written.join(", ")}.`);
}
