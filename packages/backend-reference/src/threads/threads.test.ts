/** Several threads compute what one does, to the bit, and whatever ends them becomes a status. */
import type { BackendSession } from "@nnhal/backend";
import { runExample } from "@nnhal/test-kit/run-example";
import { ErrorStatus, type Model } from "@nnhal/types";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createReferenceBackend } from "../reference-backend.ts";
import { type FakeThread, fakeThread } from "./fake-thread.test-helper.ts";
import {
  compile,
  type Extents,
  kinds,
  network,
  type Outcome,
  openThreads,
  runOn,
  sessionOf,
  someFloats,
  withLateness,
} from "./networks.test-helper.ts";
import { openTeam, type Team } from "./team.ts";

const imageOf = ({ height, width, channels }: Extents, from?: number) =>
  new Uint8Array(someFloats(height * width * channels, from).buffer);

/** Large enough that others come in time: some ten milliseconds of one thread. */
const large: Extents = { height: 48, width: 48, channels: 16, filters: 32 };
const largeNetwork = network(large, ["depthwise", "scale", "pool", "softmax"]);

async function resultOf(session: BackendSession, model: Model, inputs: readonly Uint8Array[]): Promise<Outcome> {
  const executable = await compile(session, model);
  const outcome = await runOn(executable, model, inputs);
  executable.close();
  return outcome;
}

describe.each([2, 3])("%i threads", { timeout: 60_000 }, (threads) => {
  let team: Team;
  let alone: BackendSession;
  let together: BackendSession;
  beforeAll(async () => {
    team = await openThreads(threads);
    [alone, together] = [await sessionOf(), await sessionOf(withLateness(team))];
  });
  afterAll(() => together.close());

  it("have the results of one, in each run of any network", async () => {
    const extent = fc.integer({ min: 1, max: 12 });
    const extents = fc.record({ height: extent, width: extent, channels: extent, filters: extent });
    await fc.assert(
      fc.asyncProperty(extents, fc.array(fc.constantFrom(...kinds), { maxLength: 6 }), async (given, row) => {
        const model = network(given, row);
        const [one, several] = [await compile(alone, model), await compile(together, model)];
        // Constants are widened in the first run, kept in the second, and dropped before the third.
        for (const from of [1, 2, 3]) {
          if (from === 3) several.releaseScratch?.();
          const inputs = [imageOf(given, from)];
          const expected = await runOn(one, model, inputs);
          expect(expected.result.status).toBe(ErrorStatus.NONE);
          expect(await runOn(several, model, inputs)).toEqual(expected);
        }
        several.close();
        one.close();
      }),
      { numRuns: 40 },
    );
  });

  it("compute several runs at once", async () => {
    const [one, several] = [await compile(alone, largeNetwork), await compile(together, largeNetwork)];
    const inputs = [1, 2, 3, 4].map((from) => [imageOf(large, from)]);
    const expected: Outcome[] = [];
    for (const each of inputs) expected.push(await runOn(one, largeNetwork, each));
    const outcomes = await Promise.all(inputs.map((each) => runOn(several, largeNetwork, each)));
    expect(outcomes).toEqual(expected);
  });

  it("end a run whose deadline passes while they compute, and compute the next one", async () => {
    const executable = await compile(together, largeNetwork);
    const inputs = [imageOf(large)];
    const expected = await resultOf(alone, largeNetwork, inputs);
    let ended = 0;
    for (let asks = 1; ; asks += 2) {
      let left = asks;
      const now = () => (left-- > 0 ? 0n : 2n);
      const { result } = await runOn(executable, largeNetwork, inputs, { now, deadline: 1n });
      expect(await runOn(executable, largeNetwork, inputs)).toEqual(expected);
      if (result.status === ErrorStatus.NONE) break;
      expect(result.status).toBe(ErrorStatus.MISSED_DEADLINE_TRANSIENT);
      ended++;
    }
    expect(ended).toBeGreaterThan(2);
  });

  it("end a run that is stopped", async () => {
    const executable = await compile(together, largeNetwork);
    const stop = new AbortController();
    const running = runOn(executable, largeNetwork, [imageOf(large)], { signal: stop.signal });
    stop.abort();
    expect((await running).result.status).toBe(ErrorStatus.MISSED_DEADLINE_TRANSIENT);
    expect(await runOn(executable, largeNetwork, [imageOf(large)])).toEqual(
      await resultOf(alone, largeNetwork, [imageOf(large)]),
    );
  });
});

/** A session with a thread that does what the test says. `act`: called at each pause of work that is divided. */
async function sessionWith(thread: FakeThread, act: () => void, patience?: number) {
  const team = await openTeam({ threads: 2, start: () => thread, ...(patience !== undefined && { patience }) });
  const session = await sessionOf({
    ...team,
    *compute(...given) {
      const steps = team.compute(...given);
      try {
        for (let step = steps.next(); ; step = steps.next()) {
          if (step.done) return step.value;
          act();
          yield;
        }
      } finally {
        steps.return(false);
      }
    },
  });
  return { team, executable: await compile(session, largeNetwork), close: () => session.close() };
}

describe("a thread with a range", () => {
  const inputs = [imageOf(large)];
  let expected: Outcome;
  beforeAll(async () => {
    expected = await resultOf(await sessionOf(), largeNetwork, inputs);
  });

  it("that ends leaves the run with an error, and later runs to one thread", async () => {
    const thread = fakeThread();
    const { team, executable, close } = await sessionWith(thread, () => {
      if (thread.takeRange()) thread.crash();
    });
    expect((await runOn(executable, largeNetwork, inputs)).result).toEqual({
      status: ErrorStatus.GENERAL_FAILURE,
      message: "operation 1 (CONV_2D): a thread of the reference has ended: it has crashed",
      outputShapes: [],
    });
    expect(team.isFree()).toBe(false);
    expect(await runOn(executable, largeNetwork, inputs)).toEqual(expected);
    await close();
  });

  it("that does not end it counts as lost after some time", async () => {
    const thread = fakeThread();
    const { executable, close } = await sessionWith(thread, thread.takeRange, 20);
    const { result } = await runOn(executable, largeNetwork, inputs);
    expect(result).toMatchObject({
      status: ErrorStatus.GENERAL_FAILURE,
      message: expect.stringContaining("a thread of the reference has computed nothing in 20 ms"),
    });
    expect(await runOn(executable, largeNetwork, inputs)).toEqual(expected);
    await close();
  });

  it("that it cannot compute leaves the phase to the first thread", async () => {
    const thread = fakeThread();
    let failures = 0;
    const { team, executable, close } = await sessionWith(thread, () => {
      if (!thread.takeRange()) return;
      failures++;
      thread.endRange("failed");
    });
    expect(await runOn(executable, largeNetwork, inputs)).toEqual(expected);
    expect(failures).toBeGreaterThan(0);
    expect(team.isFree()).toBe(true);
    await close();
  });

  it("of a run that has ended is waited for before others help again", async () => {
    const thread = fakeThread();
    const stop = new AbortController();
    const { team, executable, close } = await sessionWith(thread, () => {
      if (!stop.signal.aborted && thread.takeRange()) stop.abort();
    });
    const { result } = await runOn(executable, largeNetwork, inputs, { signal: stop.signal });
    expect(result.status).toBe(ErrorStatus.MISSED_DEADLINE_TRANSIENT);
    expect([team.isAstray(), team.isFree()]).toEqual([true, false]);
    expect(await runOn(executable, largeNetwork, inputs)).toEqual(expected);
    expect(team.isAstray()).toBe(true);
    thread.endRange();
    expect([team.isAstray(), team.isFree()]).toEqual([false, true]);
    expect(await runOn(executable, largeNetwork, inputs)).toEqual(expected);
    await close();
  });
});

afterEach(() => vi.unstubAllEnvs());

describe("the threads of a backend", { timeout: 60_000 }, () => {
  const choicesOf = async (threads?: number) => {
    const session = await createReferenceBackend(threads === undefined ? {} : { threads }).open();
    if ("unavailable" in session) throw new Error(session.unavailable);
    await session.close();
    return session.choices;
  };

  it("are one by default, of which nothing is said", async () => {
    expect(await choicesOf()).toBeUndefined();
    vi.stubEnv("NNHAL_REFERENCE_THREADS", "");
    expect([await choicesOf(), await choicesOf(1)]).toEqual([undefined, undefined]);
  });

  it("are the option, else the environment variable, and do not keep a process alive that has not closed them", async () => {
    const code = `import { createReferenceBackend } from "@nnhal/backend-reference";
const open = async (options) => (await createReferenceBackend(options).open()).choices;
process.env.NNHAL_REFERENCE_THREADS = "3";
console.log(JSON.stringify([await open({ threads: 2 }), await open({}), await open({ threads: 1 })]));
`;
    expect(JSON.parse((await runExample(code)).stdout)).toEqual([
      [{ subject: "threads", chosen: "2" }],
      [{ subject: "threads", chosen: "3" }],
      null,
    ]);
  });

  it.each([0, 65, 1.5, Number.NaN])("are refused if they are %d", async (threads) => {
    expect(await createReferenceBackend({ threads }).open()).toEqual({
      unavailable: `${threads} is not a valid number of threads`,
      remedy: "set threads or NNHAL_REFERENCE_THREADS to a whole number from 1 to 64",
    });
  });

  it("are one where there is no shared memory, and the choices say so", async () => {
    const shared = globalThis.SharedArrayBuffer;
    Reflect.deleteProperty(globalThis, "SharedArrayBuffer");
    try {
      expect(await choicesOf(2)).toEqual([
        {
          subject: "threads",
          chosen: "1",
          reason: expect.stringContaining("2 threads were asked for: there is no SharedArrayBuffer"),
        },
      ]);
    } finally {
      Object.defineProperty(globalThis, "SharedArrayBuffer", { value: shared, configurable: true, writable: true });
    }
  });
});
