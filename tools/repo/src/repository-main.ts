/** The first step of `npm run release`: refuses to publish packages whose pages on npm would have no address and dead links. */
import { staleFiles } from "./generate.ts";
import { describedPackages, repositoryOf } from "./repository.ts";
import { workspaceRoot } from "./workspace.ts";

const address = 'put the address of the repository into package.json as "repository"';
const stale = staleFiles(workspaceRoot, { files: describedPackages(workspaceRoot), problems: [] });
if (repositoryOf(workspaceRoot) === undefined || stale.length > 0) {
  console.error(
    `Nothing is published: ${stale.length > 0 ? `${stale.join(", ")} are not up to date` : address}, and run npm run generate.`,
  );
  process.exitCode = 1;
}
