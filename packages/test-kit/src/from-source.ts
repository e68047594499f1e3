/** Child processes and worker threads that run TypeScript sources of this workspace. */

/** The additional arguments of Node.js. */
export const fromSource: readonly string[] = [
  "--import",
  new URL("../../../tools/launcher/src/sources.mjs", import.meta.url).href,
];
