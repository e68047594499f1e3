/** What a worker starts in a checkout of this repository: sources. A build has `installed.ts` in its place. */

/** The thread that computes. */
export interface Thread {
  readonly file: URL;
  /** What Node.js needs for it. */
  readonly execArgv: string[];
}

/** The thread; undefined in a build. */
export const checkout: Thread | undefined = {
  file: new URL("../../cli/src/batch-thread.ts", import.meta.url),
  execArgv: ["--import", new URL("../../../tools/launcher/src/sources.mjs", import.meta.url).href],
};
