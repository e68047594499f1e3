/** Starts threads of the reference in browsers, where only the application knows the addresses of its files. */
import { type Thread, threadOfPage, type WebWorker } from "@nnhal/backend/threads";

/** Starts a thread as the option of the backend does. */
export function startThread(start: (() => WebWorker) | undefined): Thread {
  if (start === undefined) throw new Error("in a page, the option startThread must start a worker");
  return threadOfPage(start());
}
