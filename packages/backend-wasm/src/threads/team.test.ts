/** Threads that compute the units of a step together. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeModule } from "../assembler/module.ts";
import { type WasmMemory, webAssembly } from "../web-assembly.ts";
import { openTeam, type Team, type TeamProgram } from "./team.ts";

const units = 1000;
/** Where the thread of each unit is written. */
const threadPlace = 4 * units;

/** A module with two steps. The first counts up a number for each unit, and writes the thread beside it; the second always traps. */
const bytes = writeModule({ module: "env", name: "memory", pages: 1, maximum: 1, shared: true }, [
  {
    name: "count",
    params: ["i32", "i32", "i32"],
    results: [],
    isExported: true,
    write(code) {
      code.block((done) => {
        code.loop((again) => {
          code.get(0).get(1).op("i32.ge_s").brIf(done);
          const address = () => code.get(0).i32(4).op("i32.mul");
          address();
          address();
          code.op("i32.load", 0).i32(1).op("i32.add").op("i32.store", 0);
          address();
          code.get(2).op("i32.store", threadPlace);
          code.get(0).i32(1).op("i32.add").set(0);
          code.br(again);
        });
      });
    },
  },
  {
    name: "trap",
    params: ["i32", "i32", "i32"],
    results: [],
    isExported: true,
    write: (code) => void code.op("unreachable"),
  },
]);

type Step = (begin: number, end: number, thread: number) => void;

/** The module for a team, with its numbers and the steps of this thread. */
async function openProgram(team: Team) {
  const api = webAssembly();
  if (api === undefined) throw new Error("there is no WebAssembly");
  const module = await api.compile(bytes);
  const memory: WasmMemory = new api.Memory({ initial: 1, maximum: 1, shared: true });
  const { exports } = new api.Instance(module, { env: { memory } });
  const program = await team.add(module, memory, ["count", "trap"]);
  return { program, numbers: new Int32Array(memory.buffer), own: exports.count as Step, trap: exports.trap as Step };
}

describe("a team of threads", () => {
  let team: Team;
  let program: TeamProgram;
  let numbers: Int32Array;
  let own: Step;
  let trap: Step;
  beforeAll(async () => {
    team = await openTeam(3);
    ({ program, numbers, own, trap } = await openProgram(team));
  });
  afterAll(() => team.close());

  it("computes each unit of a range once, and no other", () => {
    const bound = fc.integer({ min: 0, max: units });
    fc.assert(
      fc.property(bound, bound, (one, other) => {
        const [begin, end] = [Math.min(one, other), Math.max(one, other)];
        if (begin === end) return;
        numbers.fill(0);
        program.compute(0, begin, end, own);
        for (let unit = 0; unit < units; unit++)
          if (numbers[unit] !== (unit >= begin && unit < end ? 1 : 0))
            throw new Error(`unit ${unit}: ${numbers[unit]}`);
      }),
      { numRuns: 300 },
    );
  });

  it("gives parts to other threads, under numbers of their own", () => {
    const threads = new Set<number>();
    const slow: Step = (begin, end, thread) => {
      own(begin, end, thread);
      // The others have time to wake up.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    };
    for (let run = 0; run < 100 && threads.size < 3; run++) {
      program.compute(0, 0, units, slow);
      for (const thread of numbers.subarray(threadPlace / 4, threadPlace / 4 + units)) threads.add(thread);
    }
    expect([...threads].sort()).toEqual([0, 1, 2]);
  });

  it("throws what a part throws in this thread, and says that another one failed", () => {
    // Any thread may take the only part.
    expect(() => program.compute(1, 0, 1, trap)).toThrow(/^unreachable|a thread could not compute/);
    const others: Step = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    expect(() => program.compute(1, 0, 12, others)).toThrow("a thread could not compute its part of a step");
    numbers.fill(0);
    program.compute(0, 0, units, own);
    expect(new Set(numbers.subarray(0, units))).toEqual(new Set([1]));
  });

  it("computes several programs in turn, and forgets one that is closed", async () => {
    const second = await openProgram(team);
    numbers.fill(0);
    for (let run = 1; run <= 3; run++) {
      program.compute(0, 0, 10, own);
      second.program.compute(0, 0, 20, second.own);
      expect([numbers[9], second.numbers[9], second.numbers[19]]).toEqual([run, run, run]);
    }
    second.program.close();
    program.compute(0, 0, 10, own);
    expect(numbers[9]).toBe(4);
  });

  it("refuses a module that has no such memory", async () => {
    const api = webAssembly();
    if (api === undefined) throw new Error("there is no WebAssembly");
    const module = await api.compile(bytes);
    const memory = new api.Memory({ initial: 1, maximum: 2, shared: true });
    await expect(team.add(module, memory, ["count"])).rejects.toThrow("a thread failed: LinkError");
  });
});

it("a team that is closed computes nothing more", async () => {
  const team = await openTeam(2);
  const { program, own } = await openProgram(team);
  team.close();
  expect(() => program.compute(0, 0, 10, own)).toThrow("the threads are closed");
});
