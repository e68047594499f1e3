/** Worker threads that compute inputs. A thread that exits or times out fails its current input and is replaced. */
import type { Worker } from "node:worker_threads";
import { expectKnownOptions, type OptionNames } from "@nnhal/operations";
import type { Answer, Input, Opening, Request } from "./messages.ts";
import { BatchError, type Computed, messageOf, type Problem } from "./task.ts";

/** A thread, such as a Worker of Node.js. */
export type BatchThread = Pick<Worker, "on" | "postMessage" | "terminate">;

/** Options of a pool. */
export interface PoolOptions {
  readonly threads: number;
  /** Starts a thread that calls `serveBatch`. */
  start(): BatchThread;
  /** Milliseconds that computing an input may take. */
  readonly deadline: number;
  /** Called with warnings. Equal ones are reported once. */
  readonly onNote?: ((message: string) => void) | undefined;
}

const poolOptions: OptionNames<PoolOptions> = { threads: true, start: true, deadline: true, onNote: true };

/** A task whose model is read when a thread needs it. */
export interface PoolTask extends Omit<Opening, "model"> {
  model(): Promise<Uint8Array>;
}

/** A pool of threads that compute. */
export interface Pool {
  readonly threads: number;
  /**
   * Waits for a free thread and computes. The input's memory may move to the thread. Rejects with a BatchError if the task
   * cannot run, or if the pool is closed.
   */
  compute(task: PoolTask, input: Input): Promise<Computed | Problem>;
  /** Ends the threads. */
  close(): Promise<void>;
}

interface Thread {
  worker: BatchThread | undefined;
  /** Open tasks, the last used at the end. */
  tasks: string[];
  /** Rejects the current wait for an answer: the thread has ended. */
  lose: (error: Error) => void;
  take: (answer: Answer) => void;
}

/** Milliseconds for a thread to start and to prepare a model: large ones take minutes on slow machines. */
const openingDeadline = 900_000;
/** Maximum number of models that a thread keeps. */
const mostTasks = 2;

/** Thrown if a thread ended or was terminated. */
class LostThread extends Error {}

/** Creates a pool. Threads are started when they are needed. Throws a RangeError for an unknown option. */
export function createPool(options: PoolOptions): Pool {
  expectKnownOptions("createPool", options, poolOptions);
  const { threads: count, start, deadline, onNote = () => {} } = options;
  const said = new Set<string>();
  const none = () => {};
  const all = Array.from({ length: count }, (): Thread => ({ worker: undefined, tasks: [], lose: none, take: none }));
  const idle = [...all];
  const waiting: ((thread: Thread) => void)[] = [];
  let isClosed = false;

  const acquire = async (task: string): Promise<Thread> => {
    const best = idle.findIndex(({ tasks }) => tasks.at(-1) === task);
    const [thread] = idle.splice(Math.max(best, 0), 1);
    return thread ?? new Promise((resolve) => waiting.push(resolve));
  };
  const release = (thread: Thread) => {
    const next = waiting.shift();
    if (next === undefined) idle.push(thread);
    else next(thread);
  };
  const started = (thread: Thread): BatchThread => {
    if (thread.worker !== undefined) return thread.worker;
    const worker = start();
    const loseConnection = (reason: string) => {
      if (thread.worker !== worker) return;
      thread.worker = undefined;
      thread.tasks = [];
      thread.lose(new LostThread(reason));
    };
    worker.on("message", (answer: Answer) => {
      if (!("note" in answer)) return thread.take(answer);
      if (!said.has(answer.note)) onNote(answer.note);
      said.add(answer.note);
    });
    worker.on("error", (error) => loseConnection(messageOf(error)));
    worker.on("exit", (code) => loseConnection(`it ended with the code ${code}`));
    thread.worker = worker;
    return worker;
  };
  const ask = (thread: Thread, request: Request): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const worker = started(thread);
      const most = request.ask === "compute" ? deadline : openingDeadline;
      const timer = setTimeout(() => {
        thread.lose(new LostThread(`it took longer than ${most / 1000} s`));
        thread.worker = undefined;
        thread.tasks = [];
        void worker.terminate();
      }, most);
      const end = (settle: () => void) => {
        clearTimeout(timer);
        thread.lose = none;
        thread.take = none;
        settle();
      };
      thread.lose = (error) => end(() => reject(error));
      thread.take = (answer) => end(() => resolve(answer));
      worker.postMessage(request, request.ask === "compute" ? findOwnBuffer(request.input.bytes) : []);
    });
  const expectDone = (answer: Answer) => {
    if ("failed" in answer) throw new BatchError(answer.failed);
  };
  const prepare = async (thread: Thread, { task, model, options }: PoolTask) => {
    if (thread.tasks.includes(task)) {
      thread.tasks = [...thread.tasks.filter((each) => each !== task), task];
      return;
    }
    const bytes = await model();
    const [oldest] = thread.tasks;
    if (oldest !== undefined && thread.tasks.length >= mostTasks) {
      thread.tasks = thread.tasks.slice(1);
      expectDone(await ask(thread, { ask: "close", task: oldest }));
    }
    try {
      expectDone(await ask(thread, { ask: "open", task, model: bytes, options }));
    } catch (error) {
      if (error instanceof LostThread)
        throw new BatchError(`the thread ended while it opened the model: ${error.message}`);
      throw error;
    }
    thread.tasks.push(task);
  };
  return {
    threads: count,
    async compute(task, input) {
      if (isClosed) throw new BatchError("the pool is closed");
      const thread = await acquire(task.task);
      try {
        await prepare(thread, task);
        const answer = await ask(thread, { ask: "compute", task: task.task, input });
        if ("computed" in answer) return answer.computed;
        throw new BatchError("failed" in answer ? answer.failed : "the thread gave an answer to another question");
      } catch (error) {
        // The failure is not the input's.
        if (isClosed) throw new BatchError("the pool is closed");
        if (error instanceof LostThread)
          return { problem: `the input ${input.name} ended its thread: ${error.message}` };
        throw error;
      } finally {
        release(thread);
      }
    },
    async close() {
      isClosed = true;
      await Promise.all(all.map(({ worker }) => worker?.terminate()));
    },
  };
}

/** Returns the buffer of bytes for transfer instead of a copy; none if it has more content. */
function findOwnBuffer({ buffer, length }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === length ? [buffer] : [];
}
