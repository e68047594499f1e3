/** The end of bursts: by their context, by an invalid queue, and by nothing else. */
import { requestData, writeRequest } from "@nnhal/driver-core/burst";
import { ErrorStatus, MeasureTiming } from "@nnhal/types";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectExecution, expectThat, mismatch } from "../check.ts";
import { runTrial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { openBurst, openRawBurst } from "./open.ts";

/** A burst that executes, and what executes a packet of it. */
async function ready(bench: Bench) {
  const small = await smallModel(bench);
  const preparedModel = await prepare(bench, small.model);
  const burst = await openRawBurst(bench, preparedModel);
  const trial = (salt: number) => trialFor(small, [sampleValues(small.type, 6, salt)]);
  const packet = (salt: number) => {
    const { request } = trial(salt);
    const slots = request.pools.map((pool) =>
      pool.kind === "memory" ? burst.slotOf(pool.memory) : mismatch("no memory"),
    );
    return requestData(writeRequest(request, MeasureTiming.NO, slots));
  };
  expectExecution("a burst", await burst.ask(packet(0)), ErrorStatus.NONE);
  return { preparedModel, burst, trial, packet };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The prepared model of a burst executes still, and serves another. */
async function goesOn(bench: Bench, { preparedModel, trial }: Awaited<ReturnType<typeof ready>>): Promise<void> {
  await runTrial(preparedModel, trial(1));
  const { burst } = await openBurst(bench, preparedModel);
  if (burst === null) mismatch("configureExecutionBurst: there is no burst after one has ended");
  expectExecution("the next burst", await burst.compute(trial(2).request), ErrorStatus.NONE);
}

/** Ways to write over the words of a queue. */
const corruptions: readonly { readonly what: string; spoil(words: Int32Array): void }[] = [
  { what: "all ones", spoil: (words) => words.fill(-1) },
  { what: "all zeros", spoil: (words) => words.fill(0) },
  {
    what: "noise",
    spoil(words) {
      let state = 1;
      for (let index = 0; index < words.length; index++) {
        state = Math.imul(state, 1_103_515_245) + 12_345;
        words[index] = state;
      }
    },
  },
];

export const endCases: readonly SuiteCase[] = [
  ...group("ends", "1.2", {
    async "a context that is closed serves no more, and closing it twice is closing it once"(bench) {
      const all = await ready(bench);
      const { burst, packet } = all;
      const { context } = burst;
      if (context.close === undefined) return;
      const closed: unknown = context.close();
      await closed;
      const again: unknown = context.close();
      await again;
      // The queue of results may hold a packet that ends a burst.
      while (burst.hasMore());
      burst.send(packet(1));
      await pause(50);
      expectThat(!burst.hasMore(), () => "IBurstContext.close: a request is answered though the context is closed");
      await goesOn(bench, all);
    },
    async "freeMemory after the context is closed does nothing"(bench) {
      const all = await ready(bench);
      const { context } = all.burst;
      const closed: unknown = context.close?.();
      await closed;
      const forgotten: unknown = context.freeMemory(0);
      await forgotten;
      await goesOn(bench, all);
    },
  }),
  ...casesOf(
    "ends",
    "1.2",
    corruptions,
    ({ what }) => `a request queue that is overwritten with ${what} ends its own burst at most`,
    async (bench, { spoil }) => {
      const all = await ready(bench);
      spoil(all.burst.requests);
      await pause(20);
      await goesOn(bench, all);
      const closed: unknown = all.burst.context.close?.();
      await bench.watch.within("IBurstContext.close of a burst whose queue is overwritten", async () => closed);
    },
  ),
];
