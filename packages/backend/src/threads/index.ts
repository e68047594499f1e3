/** @nnhal/backend/threads: threads that help an engine to compute. Loaded by engines that are asked for more than one. */
export { type OpenedThreads, openThreads } from "./open.ts";
export { startScript, type Thread, threadOfNode, threadOfPage, threadsOfNode, type WebWorker } from "./thread.ts";
