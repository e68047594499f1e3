/** The thread's side of the pool: opens tasks, and computes one input after the other. */
import type { MessagePort } from "node:worker_threads";
import type { Answer, Computer, Opening, Request } from "./messages.ts";
import { BatchError, messageOf } from "./task.ts";

/** Opens a task. `note`: receives warnings. Rejects with an Error that tells why the task cannot run. */
export type OpenTask = (opening: Opening, note: (message: string) => void) => Promise<Computer>;

/** Answers the pool at the other end of a port. */
export function serveBatch(port: Pick<MessagePort, "on" | "postMessage">, open: OpenTask): void {
  const opened = new Map<string, Computer>();
  const send = (answer: Answer) => port.postMessage(answer);
  const answer = async (request: Request): Promise<Answer> => {
    if (request.ask === "open") {
      opened.set(request.task, await open(request, (note) => send({ note })));
      return { done: true };
    }
    const computer = opened.get(request.task);
    if (computer === undefined) throw new BatchError(`the thread has not opened the task ${request.task}`);
    if (request.ask === "compute") return { computed: await computer.compute(request.input) };
    opened.delete(request.task);
    await computer.close();
    return { done: true };
  };
  port.on("message", (request: Request) => {
    answer(request).then(send, (error: unknown) => send({ failed: messageOf(error) }));
  });
}
