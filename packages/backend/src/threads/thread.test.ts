/** Threads of Node.js that run a script. */
import { expect, it } from "vitest";
import { startScript, threadOfPage, type WebWorker } from "./thread.ts";

const echo = `const { parentPort } = require("node:worker_threads");
parentPort.on("message", (message) => {
  if (message === "exit") process.exit(3);
  if (message === "throw") throw new Error("thrown in the thread");
  parentPort.postMessage(message);
});
`;

it("answers come in order, whether they are waited for or not", async () => {
  const thread = startScript(echo, "test");
  const first = thread.next();
  thread.post(1);
  thread.post(2);
  expect([await first, await thread.next()]).toEqual([1, 2]);
  thread.post(3);
  thread.post(4);
  expect([await thread.next(), await thread.next()]).toEqual([3, 4]);
  expect(thread.ended()).toBeUndefined();
  thread.end();
  await expect(thread.next()).rejects.toThrow("the thread has ended");
});

it.each([
  ["exit", "the thread has ended"],
  ["throw", "thrown in the thread"],
])("a thread that ends by %s rejects all answers, and says why it has ended", async (message, reason) => {
  const thread = startScript(echo, "test");
  const answers = [thread.next(), thread.next()];
  thread.post(message);
  for (const answer of answers) await expect(answer).rejects.toThrow(reason);
  await expect(thread.next()).rejects.toThrow(reason);
  expect(thread.ended()?.message).toBe(reason);
  thread.end();
});

it("a worker of a page is a thread too", async () => {
  const posted: unknown[] = [];
  let hasEnded = false;
  let isFreed = false;
  const worker: WebWorker = {
    onmessage: () => {},
    onerror: () => {},
    postMessage: (message) => void posted.push(message),
    terminate() {
      hasEnded = true;
    },
  };
  const thread = threadOfPage(worker, () => {
    isFreed = true;
  });
  thread.post(1);
  expect(posted).toEqual([1]);
  worker.onmessage({ data: 2 });
  expect(await thread.next()).toBe(2);
  const [failing, later] = [thread.next(), thread.next()];
  worker.onerror({ message: "no such file" });
  await expect(failing).rejects.toThrow("no such file");
  await expect(later).rejects.toThrow("no such file");
  expect([thread.ended()?.message, hasEnded, isFreed]).toEqual(["no such file", false, false]);
  thread.end();
  expect([thread.ended()?.message, hasEnded, isFreed]).toEqual(["no such file", true, true]);
});

it("a worker of a page whose file is not there says nothing of its own", async () => {
  const worker: WebWorker = { onmessage() {}, onerror() {}, postMessage() {}, terminate() {} };
  const thread = threadOfPage(worker);
  worker.onerror({});
  await expect(thread.next()).rejects.toThrow("the worker cannot be loaded");
});
