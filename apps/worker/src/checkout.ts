/** The thread of a worker in a checkout of this repository: sources. A build has `installed.ts` instead. */

/** The computing thread. */
export interface Thread {
  readonly file: URL;
  /** Options of Node.js that it needs. */
  readonly execArgv: string[];
}

/** The thread; undefined in a build. */
export const checkout: Thread | undefined = {
  file: new URL("../../cli/src/batch-thread.ts", import.meta.url),
  execArgv: ["--import", new URL("../../../tools/launcher/src/sources.mjs", import.meta.url).href],
};
