/**
 * Makes this process run the workspace from its TypeScript sources: `node --import …/tools/launcher/src/sources.mjs FILE.ts`.
 * Child processes and worker threads inherit it.
 */
import { register } from "node:module";

register("./source-hooks.mjs", import.meta.url);
// Stacks name the sources.
process.setSourceMapsEnabled(true);
