/** Parts of the backend that few sessions and networks need, in one file that is loaded by need: a page lists each such file. */
export { controlledParts } from "./controlled-parts.ts";
export { openTeams } from "./threads/open.ts";
export { timeTiles } from "./tile-times.ts";
export { openWide } from "./wide.ts";
