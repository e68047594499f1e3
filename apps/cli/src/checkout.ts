/** Sources that the command line starts in a checkout of this repository. A build has `installed.ts` in its place. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A program, and what Node.js needs for it. */
export interface Program {
  readonly file: string;
  readonly execArgv: readonly string[];
}

/** Programs that are started in a checkout. */
export interface Checkout {
  /** Options of Node.js that run sources. */
  readonly execArgv: readonly string[];
  /** The program of the daemon. */
  readonly driver: Program | undefined;
}

const execArgv = ["--import", new URL("../../../tools/launcher/src/sources.mjs", import.meta.url).href];
const driver = fileURLToPath(new URL("../../sample-driver/src/main.ts", import.meta.url));

/** Programs of the checkout; undefined in a build. */
export const checkout: Checkout | undefined = {
  execArgv,
  driver: existsSync(driver) ? { file: driver, execArgv } : undefined,
};
