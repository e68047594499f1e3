/** Child processes and worker threads that run TypeScript sources of this workspace. */

/** What Node.js needs for them besides its other arguments. */
export const fromSource: readonly string[] = [
  "--import",
  new URL("../../../tools/launcher/src/sources.mjs", import.meta.url).href,
];
