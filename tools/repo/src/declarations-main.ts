/** Makes the declarations of all packages: the task of turbo that builds of packages depend on. */
import { emitDeclarations } from "./declarations.ts";
import { workspaceRoot } from "./workspace.ts";

const { ok, output } = await emitDeclarations(workspaceRoot);
if (!ok) console.error(output);
process.exitCode = ok ? 0 : 1;
