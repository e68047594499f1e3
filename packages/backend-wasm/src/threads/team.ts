/**
 * Threads that compute the units of a step together. The first thread, which runs the network, divides a step into parts; it and the others take parts until
 * none is left, and the step ends when all are done. Others look for work for a moment after each step, then sleep.
 */
import { startScript, type Thread } from "@nnhal/backend/threads";
import { systemTimer, within } from "@nnhal/utils/time";
import type { WasmMemory, WasmModule } from "../web-assembly.ts";
import { threadProgram } from "./thread-program.ts";
import { wordCount, words } from "./words.ts";

/** A module whose steps a team computes. */
export interface TeamProgram {
  /**
   * Computes the units [begin, end) of the step with a number, of which `own` computes a part in this thread. Throws if a part did, or if a
   * thread does not end its part: the memory is not to be used any more then.
   */
  compute(step: number, begin: number, end: number, own: ComputePart): void;
  /** The other threads forget the module and its memory. */
  close(): void;
}

/** Computes a part of a step as a thread. */
type ComputePart = (begin: number, end: number, thread: number) => void;

/** A team of threads, with the one that it belongs to. */
export interface Team {
  /** At least 2. */
  readonly threads: number;
  /** Work of a step from which on it is divided: some tens of microseconds, of which waking the others takes a part. */
  readonly leastWork: number;
  /** Gives a module to all threads. `steps`: the names of the functions of its steps. Rejects if a thread cannot make an instance of it. */
  add(module: WasmModule, memory: WasmMemory, steps: readonly string[]): Promise<TeamProgram>;
  close(): void;
}

/** Parts of a step for each thread: a thread that is late, or slow, leaves its parts to the others. */
const partsPerThread = 4;

/** Looks at the number of parts that are done, before the first thread sleeps: some tens of microseconds. */
const looks = 20_000;

/** Milliseconds without an end of a part after which a thread counts as lost. */
const patience = 30_000;

/** Nanoseconds in which threads start. */
const startLimit = 10_000_000_000n;

/** Opens a team. Rejects if the platform has no threads, or no memory that they can share. */
export async function openTeam(threads: number): Promise<Team> {
  const control = new Int32Array(new SharedArrayBuffer(4 * wordCount));
  const others: Thread[] = [];
  let programs = 0;
  let lost: Error | undefined;
  /** Sends a message to each thread. Its answers may come later. */
  const send = (messageOf: (thread: number) => object): Promise<unknown> => {
    const command = Atomics.add(control, words.command, 1) + 1;
    const answers = others.map((thread, place) => {
      thread.post({ ...messageOf(place + 1), command });
      return thread.next();
    });
    wake(control);
    return Promise.all(answers.map(async (answer) => throwFailure(await answer)));
  };
  const close = () => {
    lost ??= new Error("the threads are closed");
    for (const thread of others) thread.end();
  };
  try {
    for (let count = 1; count < threads; count++) others.push(startScript(threadProgram, "nnhal-wasm"));
    const begun = send(() => ({ kind: "begin", control }));
    await within<unknown>(begun, startLimit, systemTimer, () => {
      throw new Error("the threads have not started within 10 s");
    });
  } catch (error) {
    close();
    throw error;
  }
  return {
    threads,
    leastWork: 2 ** 14,
    async add(module, memory, steps) {
      const id = programs++;
      await send((thread) => ({ kind: "add", id, module, memory, steps, thread }));
      return {
        compute(step, begin, end, own) {
          if (lost !== undefined) throw lost;
          const parts = Math.min(end - begin, partsPerThread * threads);
          control[words.program] = id;
          control[words.step] = step;
          control[words.begin] = begin;
          control[words.units] = end - begin;
          control[words.parts] = parts;
          computeTogether(control, parts, own);
        },
        close() {
          if (lost === undefined) send(() => ({ kind: "drop", id })).catch(() => {});
        },
      };
    },
    close,
  };

  function computeTogether(shared: Int32Array<SharedArrayBuffer>, parts: number, own: ComputePart): void {
    const [begin = 0, units = 0] = shared.subarray(words.begin, words.units + 1);
    const place = (part: number) => begin + Math.floor((units * part) / parts);
    Atomics.store(shared, words.done, 0);
    Atomics.store(shared, words.left, parts);
    wake(shared);
    let failure: { readonly error: unknown } | undefined;
    for (let left = parts; left > 0; left = Atomics.load(shared, words.left)) {
      if (Atomics.compareExchange(shared, words.left, left, left - 1) !== left) continue;
      try {
        own(place(left - 1), place(left), 0);
      } catch (error) {
        failure = { error };
      }
      Atomics.add(shared, words.done, 1);
    }
    if (!isDone(shared, parts)) {
      lost = new Error(`a thread has not ended its part of a step in ${patience / 1000} s`);
      throw lost;
    }
    if (failure !== undefined) throw failure.error;
    if (Atomics.exchange(shared, words.failed, 0) !== 0)
      throw new Error("a thread could not compute its part of a step");
  }
}

/** Waits until all parts are done. False if none has ended for long. */
function isDone(control: Int32Array<SharedArrayBuffer>, parts: number): boolean {
  for (let look = 0; look < looks; look++) if (Atomics.load(control, words.done) === parts) return true;
  for (;;) {
    const done = Atomics.load(control, words.done);
    if (done === parts) return true;
    if (!waitForChange(control, done)) return false;
  }
}

/** Waits until another part is done, sleeping if this thread may sleep: that of a page must not. */
function waitForChange(control: Int32Array<SharedArrayBuffer>, done: number): boolean {
  Atomics.store(control, words.waiting, 1);
  try {
    return Atomics.wait(control, words.done, done, patience) !== "timed-out";
  } catch {
    const begun = performance.now();
    while (Atomics.load(control, words.done) === done) if (performance.now() - begun > patience) return false;
    return true;
  } finally {
    Atomics.store(control, words.waiting, 0);
  }
}

/** Lets threads that sleep look for work, or for a message. */
function wake(control: Int32Array<SharedArrayBuffer>): void {
  Atomics.add(control, words.signal, 1);
  if (Atomics.load(control, words.sleeping) > 0) Atomics.notify(control, words.signal);
}

/** Throws if an answer says that a thread has failed. */
function throwFailure(answer: unknown): void {
  const { failure }: { readonly failure?: unknown } = Object(answer);
  if (failure !== undefined) throw new Error(`a thread failed: ${failure}`);
}
