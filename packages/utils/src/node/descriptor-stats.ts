/** Facts of open files. */
import type { BigIntStats } from "node:fs";
import { nodeModule } from "./node-module.ts";

/**
 * The facts of an open file, which may be a pipe or a socket. `purpose`: what needs them, as for `nodeModule`. Throws what `nodeModule` and
 * `fs.fstatSync` throw.
 *
 * With bigints, since Node.js confuses the other form of such facts with those of the paths of modules: after `fs.fstatSync(pipe)`,
 * `require` does not follow symbolic links, and finds no packages that pnpm has linked (nodejs/node, issue 51142).
 */
export function descriptorStats(fd: number, purpose: string): BigIntStats {
  return nodeModule("node:fs", purpose).fstatSync(fd, { bigint: true });
}
