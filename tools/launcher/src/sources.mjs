/**
 * Makes this process run the workspace from its TypeScript sources: `node --import …/tools/launcher/src/sources.mjs FILE.ts`.
 * Child processes and worker threads inherit it.
 */
import { register } from "node:module";
import { pathToFileURL } from "node:url";

const [, program] = process.argv;
register("./source-hooks.mjs", import.meta.url, { data: program && pathToFileURL(program).href });
// Stacks name the sources. It takes a sixth of the start of a process to read their maps, so the programs that a run of all tests starts
// do without: one that fails there is run again by itself.
if (process.env.NNHAL_SOURCES_SINCE === undefined) process.setSourceMapsEnabled(true);
