/** Atomic operations between two threads, in memory of JavaScript and in memory that processes share. */
import { once } from "node:events";
import { Worker, workerData } from "node:worker_threads";
import { mapAnew } from "@nnhal/driver-core/memory";
import { createSharedMemory } from "@nnhal/service/shared-memory";
import type { Memory } from "@nnhal/types";
import type { Tally } from "../result.ts";

/** Places of the words in which both threads count, of the one by which they take turns, and of one without atomic operations. */
const words = { added: 0, exchanged: 1, turn: 2, plain: 3 } as const;

/** Data of the other thread: the words themselves, or a memory that it maps. */
interface Shared {
  readonly words?: Int32Array;
  readonly memory?: Memory;
  readonly rounds: number;
}

/** Lets two threads count at the same time, and take turns, `rounds` times. `program`: a file that calls `serveAtomics` in a worker. */
export async function checkAtomics(program: string, rounds: number): Promise<Tally> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const problems: string[] = [];
  const shared = createSharedMemory(4096);
  const cases: [string, Shared | string][] = [
    ["between threads", { words: new Int32Array(new SharedArrayBuffer(16)), rounds }],
    ["in a memory file", "refused" in shared ? shared.refused : { memory: plainOf(shared), rounds }],
  ];
  for (const [name, given] of cases) {
    if (typeof given === "string") {
      counts.skipped++;
      problems.push(`atomic operations ${name}: ${given}`);
      continue;
    }
    const problem = await countTogether(program, given);
    if (problem === undefined) counts.passed++;
    else {
      counts.failed++;
      problems.push(`atomic operations ${name}: ${problem}`);
    }
  }
  if (!("refused" in shared)) shared.close();
  return { ...counts, problems };
}

/** Takes part as the other thread, if this thread was started for that. Returns whether it was. */
export function serveAtomics(): boolean {
  const given: Shared | null = workerData;
  if (given === null || given === undefined || !("rounds" in given)) return false;
  takePart(wordsOf(given), given.rounds, 1);
  return true;
}

async function countTogether(program: string, given: Shared): Promise<string | undefined> {
  const view = wordsOf(given);
  const worker = new Worker(program, { workerData: given });
  const ended = once(worker, "exit");
  await once(worker, "online");
  const lost = takePart(view, given.rounds, 0);
  const [code] = await ended;
  if (code !== 0) return `the other thread ended with ${code}`;
  const expected = 2 * given.rounds;
  const found = [view[words.added], view[words.exchanged]];
  if (found.some((count) => count !== expected))
    return `expected both to count ${expected}, got ${found.join(" and ")}`;
  return lost === 0 ? undefined : `${lost} values were not seen by the other thread after its turn began`;
}

/** Counts, then writes a plain value in each of its turns, and looks for that of the other thread. Returns how many were not there. */
function takePart(view: Int32Array, rounds: number, side: 0 | 1): number {
  for (let round = 0; round < rounds; round++) {
    Atomics.add(view, words.added, 1);
    let seen = Atomics.load(view, words.exchanged);
    for (let tries = 0; tries < 1e6; tries++) {
      const found = Atomics.compareExchange(view, words.exchanged, seen, seen + 1);
      if (found === seen) break;
      seen = found;
    }
  }
  let lost = 0;
  const turns = Math.min(rounds, 200);
  for (let turn = side; turn < 2 * turns; turn += 2) {
    const limit = Date.now() + 60_000;
    while (Atomics.load(view, words.turn) !== turn) {
      if (Date.now() > limit) throw new Error(`turn ${turn} did not come within a minute`);
    }
    if (view[words.plain] !== turn) lost++;
    view[words.plain] = turn + 1;
    Atomics.store(view, words.turn, turn + 1);
  }
  return lost;
}

function wordsOf({ words, memory }: Shared): Int32Array {
  if (words !== undefined) return words;
  const mapping = memory === undefined ? { unmappable: "there is no memory" } : mapAnew(memory);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  const { buffer, byteOffset } = mapping.bytes;
  return new Int32Array(buffer, byteOffset, 4);
}

/** Returns the part of a memory that another thread can receive. */
function plainOf({ name, size, handle }: Memory): Memory {
  return { name, size, handle: handle === null ? null : { ...handle } };
}
