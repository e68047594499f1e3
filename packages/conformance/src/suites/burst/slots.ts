/** Memory slots: the service's questions to its client, and the facts that it may rely on. */

import { type BurstResultPacket, writeRequest } from "@nnhal/driver-core/burst";
import { elementAt } from "@nnhal/operations";
import { type BurstMemories, ErrorStatus, MeasureTiming, type Request } from "@nnhal/types";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectExecution, expectSame, expectThat, mismatch } from "../check.ts";
import { trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { openBurst, openRawBurst, type RawBurst } from "./open.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

async function ready(bench: Bench, answer?: (right: BurstMemories) => BurstMemories) {
  const small = await smallModel(bench);
  const burst = await openRawBurst(bench, await prepare(bench, small.model), answer && { answer });
  const trial = (salt: number) => trialFor(small, [sampleValues(small.type, 6, salt)]);
  return { burst, trial };
}

function slotsOf(burst: RawBurst, { pools }: Request): number[] {
  return pools.map((pool) => (pool.kind === "memory" ? burst.slotOf(pool.memory) : mismatch("no memory")));
}

function ask(burst: RawBurst, request: Request, slots = slotsOf(burst, request)): Promise<BurstResultPacket> {
  return burst.ask(writeRequest(request, MeasureTiming.NO, slots));
}

const wrongAnswers: readonly { readonly what: string; answer(right: BurstMemories): BurstMemories }[] = [
  { what: "an error", answer: () => ({ status: GENERAL_FAILURE, buffers: [] }) },
  { what: "too few memories", answer: ({ buffers }) => ({ status: NONE, buffers: buffers.slice(1) }) },
  { what: "too many memories", answer: ({ buffers }) => ({ status: NONE, buffers: [...buffers, ...buffers] }) },
];

export const slotCases: readonly SuiteCase[] = [
  ...group("slots", "1.2", {
    async "a slot is asked for once, sorted, and each once"(bench) {
      const { burst, trial } = await ready(bench);
      const { request } = trial(0);
      for (let turn = 0; turn < 3; turn++) expectExecution("a burst", await ask(burst, request), NONE);
      const all = burst.asked.flat();
      expectSame(
        "the slots that the service asks for",
        all,
        [...new Set(all)].sort((a, b) => a - b),
      );
      expectSame("the slots that the service asks for", all, slotsOf(burst, request));
    },
    async "a slot that is freed is asked for again"(bench) {
      const { burst, trial } = await ready(bench);
      const { request } = trial(0);
      expectExecution("a burst", await ask(burst, request), NONE);
      const slots = slotsOf(burst, request);
      const forgotten: unknown = burst.context.freeMemory(elementAt(slots, 0));
      await forgotten;
      expectExecution("a burst after freeMemory", await ask(burst, request), NONE);
      expectSame("the slots that the service asks for after freeMemory", burst.asked[1] ?? [], [slots[0]]);
    },
    async "freeing a slot that is not known does nothing"(bench) {
      const { burst, trial } = await ready(bench);
      for (const slot of [7, 0x7fff_ffff, -1]) {
        const forgotten: unknown = burst.context.freeMemory(slot);
        await forgotten;
      }
      expectExecution("a burst", await ask(burst, trial(0).request), NONE);
    },
    async "a slot that stands for nothing is INVALID_ARGUMENT"(bench) {
      const { burst, trial } = await ready(bench);
      const { request } = trial(0);
      const first = elementAt(slotsOf(burst, request), 0);
      for (const wrong of [99, -1, 0x7fff_ffff]) {
        const result = await ask(burst, request, [first, wrong]);
        expectExecution(`a burst with slot ${wrong}`, result, INVALID_ARGUMENT, GENERAL_FAILURE);
      }
      expectExecution("a burst afterwards", await ask(burst, request), NONE);
    },
    async "a client frees memory that is known, that is not, and that was"(bench) {
      const small = await smallModel(bench);
      const { burst } = await openBurst(bench, await prepare(bench, small.model));
      if (burst === null) mismatch("configureExecutionBurst: there is no burst");
      const { request } = trialFor(small, [sampleValues(small.type, 6)]);
      const keys = ["input", "output"];
      expectExecution("a burst", await burst.compute(request, { keys }), NONE);
      for (const key of ["input", "nothing", "input"]) await burst.freeMemory(key);
      expectExecution("a burst after freeMemory", await burst.compute(request, { keys }), NONE);
    },
    async "memory that is freed and comes again under its slot is the new memory"(bench) {
      const small = await smallModel(bench);
      const { burst } = await openBurst(bench, await prepare(bench, small.model));
      if (burst === null) mismatch("configureExecutionBurst: there is no burst");
      for (let salt = 0; salt < 5; salt++) {
        const trial = trialFor(small, [sampleValues(small.type, 6, salt)]);
        expectExecution("a burst", await burst.compute(trial.request, { keys: ["input", "output"] }), NONE);
        trial.check(`a burst with memory ${salt}`);
        for (const key of ["input", "output"]) await burst.freeMemory(key);
      }
    },
  }),
  ...casesOf(
    "slots",
    "1.2",
    wrongAnswers,
    ({ what }) => `a client that answers ${what} about its slots gets an error, and may answer better next time`,
    async (bench, { what, answer }) => {
      let isWrong = true;
      const { burst, trial } = await ready(bench, (right) => (isWrong ? answer(right) : right));
      const one = trial(0);
      const result = await ask(burst, one.request);
      expectThat(result.status !== NONE, () => `a burst whose client answers ${what}: the request is executed`);
      expectExecution(`a burst whose client answers ${what}`, result, INVALID_ARGUMENT, GENERAL_FAILURE);
      isWrong = false;
      expectExecution("a burst afterwards", await ask(burst, one.request), NONE);
      one.check("a burst afterwards");
    },
  ),
];
