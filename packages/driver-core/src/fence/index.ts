/**
 * @nnhal/driver-core/fence: sync fences, by which executions wait for one another.
 */
export { createFence, type FenceSource, mergeFences, syncWait, usableFences } from "./fence.ts";
export { type FencedWork, startFenced } from "./fenced-work.ts";
