/**
 * Threads that help the one that runs networks: they are started, told of kernels and memory, watched and ended here. `division.ts` has the work that they
 * share, one kernel at a time: a run that finds the team busy computes alone.
 */
import type { Thread } from "@nnhal/backend/threads";
import type { Phase, TensorData } from "@nnhal/operations";
import { whenCollected } from "@nnhal/utils";
import { systemTimer, within } from "@nnhal/utils/time";
import type { Message } from "../helper/messages.ts";
import { wordCount, words } from "../helper/words.ts";
import { createDivision, wake } from "./division.ts";

/** A team of threads, with the one that it belongs to. */
export interface Team {
  /** True if the team has nothing to do, and all threads are there. */
  isFree(): boolean;
  /** True while threads may still write outputs of work that was given up. */
  isAstray(): boolean;
  /** A number for a kernel. */
  nextKernel(): number;
  /** Sends a message to each thread; does nothing once the team is closed. */
  post(message: Message): void;
  /**
   * Computes the phases of a kernel, of which the threads share the last. The team must be free. `pieces`: the memory of its inputs and outputs, each an array over
   * all of a shared buffer. Returns false if a thread could not compute its range: the phase must be computed anew. Throws if a thread has ended, or
   * does not end its range; the team is closed then.
   */
  compute(
    kernel: number,
    pieces: readonly TensorData[],
    before: readonly Phase[],
    last: Phase,
  ): Generator<void, boolean, void>;
  close(): void;
}

/** Nanoseconds in which threads start. */
const startLimit = 10_000_000_000n;

/** Settings of a team. */
export interface TeamSettings {
  /** At least 2, with the one that opens it. */
  readonly threads: number;
  readonly start: () => Thread;
  /** Milliseconds without an end of a range after which a thread counts as lost. Default: 30,000. */
  readonly patience?: number;
}

/** Opens a team. Rejects if a thread does not start. */
export async function openTeam({ threads, start, patience = 30_000 }: TeamSettings): Promise<Team> {
  const control = new Int32Array(new SharedArrayBuffer(4 * wordCount));
  const others: Thread[] = [];
  const ids = new WeakMap<object, number>();
  let lastId = 0;
  let isOver = false;

  const post = (message: Message) => {
    if (isOver) return;
    const command = Atomics.add(control, words.command, 1) + 1;
    for (const thread of others) thread.post({ ...message, command });
    wake(control);
  };

  /** The number of a piece of memory, which the threads get to know. */
  function idOf(data: TensorData): number {
    const known = ids.get(data.buffer);
    if (known !== undefined) return known;
    const id = ++lastId;
    ids.set(data.buffer, id);
    post({ kind: "piece", id, data });
    whenCollected(data.buffer, id, forget);
    return id;
  }
  const forget = (id: number) => post({ kind: "forget", id });

  const close = () => {
    isOver = true;
    for (const thread of others) thread.end();
  };

  const failureOf = (idle: number): Error | undefined => {
    const ended = others.find((thread) => thread.ended() !== undefined)?.ended();
    if (ended !== undefined) return new Error(`a thread of the reference has ended: ${ended.message}`);
    if (idle < patience) return undefined;
    return new Error(`a thread of the reference has computed nothing in ${patience} ms`);
  };
  const division = createDivision(control, threads, (idle) => {
    const failure = failureOf(idle);
    if (failure === undefined) return;
    close();
    throw failure;
  });
  const isAstray = () => (isOver ? others.some((thread) => thread.ended() === undefined) : division.isAstray());

  try {
    for (let count = 1; count < threads; count++) others.push(start());
    const begun = Promise.all(others.map((thread) => thread.next()));
    post({ kind: "begin", control });
    await within<unknown>(begun, startLimit, systemTimer, () => {
      throw new Error("the threads have not started within 10 s");
    });
  } catch (error) {
    close();
    throw error;
  }
  return {
    isFree: () => !isOver && !division.isBusy() && !division.isAstray() && failureOf(0) === undefined,
    isAstray,
    nextKernel: () => ++lastId,
    post,
    compute: (kernel, pieces, before, last) => division.compute(kernel, pieces.map(idOf), before, last),
    close,
  };
}
