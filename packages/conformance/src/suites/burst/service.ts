/**
 * Starting, using and ending a burst.
 */

import { createChannel } from "@nnhal/driver-core/burst";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type FmqDescriptor, MeasureTiming } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectExecution, expectOrdered, expectStatus, expectThat, expectUnmeasured, mismatch } from "../check.ts";
import { expectShapes, type Trial, trialFor } from "../execution.ts";
import { type SmallModel, sampleValues } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { newMemory } from "../values.ts";
import { configureOf, openBurst, openRawBurst } from "./open.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

async function startService(bench: Bench, facts: Parameters<typeof smallModel>[1] = {}) {
  const small = await smallModel(bench, facts);
  const preparedModel = await prepare(bench, small.model);
  const { burst, ...outcome } = await openBurst(bench, preparedModel);
  expectStatus("configureExecutionBurst", outcome, NONE);
  return { small, preparedModel, burst: burst ?? mismatch("configureExecutionBurst: NONE without a burst") };
}

function trial(small: SmallModel, salt = 0): Trial {
  return trialFor(small, [sampleValues(small.type, 6, salt)]);
}

/** The two queues of a burst. */
interface Queues {
  readonly requests: FmqDescriptor<"FmqRequestDatum">;
  readonly results: FmqDescriptor<"FmqResultDatum">;
}

/** A queue that cannot be used, with one that can. */
interface WrongQueue {
  readonly what: string;
  spoil(right: Queues): Partial<Queues>;
}

const wrongQueues: readonly WrongQueue[] = [
  {
    what: "a request queue in 16 bytes",
    spoil: ({ requests }) => ({ requests: { ...requests, memory: newMemory(16) } }),
  },
  {
    what: "a result queue in 16 bytes",
    spoil: ({ results }) => ({ results: { ...results, memory: newMemory(16) } }),
  },
  {
    what: "a request queue without a handle",
    spoil: ({ requests }) => ({ requests: { ...requests, memory: { ...requests.memory, handle: null } } }),
  },
  {
    what: "a result queue without a handle",
    spoil: ({ results }) => ({ results: { ...results, memory: { ...results.memory, handle: null } } }),
  },
  { what: "a request queue of capacity 0", spoil: ({ requests }) => ({ requests: { ...requests, capacity: 0 } }) },
  {
    what: "a result queue of more than its memory holds",
    spoil: ({ results }) => ({ results: { ...results, capacity: 1 << 20 } }),
  },
];

function rightQueues(): Queues {
  return {
    requests: createChannel("FmqRequestDatum", 1024, newMemory).descriptor,
    results: createChannel("FmqResultDatum", 1024, newMemory).descriptor,
  };
}

export const serviceCases: readonly SuiteCase[] = [
  ...group("service", "1.2", {
    async "a request is executed, and its shapes come back"(bench) {
      const { small, burst } = await startService(bench);
      const one = trial(small);
      const { fallback, ...result } = await burst.compute(one.request);
      expectThat(!fallback, () => `a burst did not take the request: ${result.message}`);
      expectExecution("a burst", result, NONE);
      expectShapes("a burst", result, one.request);
      expectUnmeasured("a burst", result.timing);
      one.check("a burst");
    },
    async "a request without queues is executed, and its shapes come back"(bench) {
      const small = await smallModel(bench);
      const preparedModel = await prepare(bench, small.model);
      const { context } = await openRawBurst(bench, preparedModel);
      if (context.execute === undefined) endAsUnsupported("direct bursts");
      for (const measure of [MeasureTiming.NO, MeasureTiming.YES]) {
        const one = trial(small);
        const result = await context.execute(one.request, measure);
        expectExecution("IBurstContext.execute", result, NONE);
        expectShapes("IBurstContext.execute", result, one.request);
        one.check("IBurstContext.execute");
      }
      const wrong = { ...trial(small).request, inputs: [] };
      const refused = await context.execute(wrong, MeasureTiming.NO);
      expectExecution("IBurstContext.execute without inputs", refused, INVALID_ARGUMENT, GENERAL_FAILURE);
    },
    async "a hundred requests, one after the other"(bench) {
      const { small, burst } = await startService(bench);
      for (let salt = 0; salt < 100; salt++) {
        const one = trial(small, salt);
        expectExecution("a burst", await burst.compute(one.request), NONE);
        one.check("a burst");
      }
    },
    async "durations are reported if they are asked for"(bench) {
      const { small, burst } = await startService(bench);
      const { timing } = await burst.compute(trial(small).request, { measure: MeasureTiming.YES });
      expectOrdered("a burst", timing);
    },
    async "shapes that only the execution finds come back"(bench) {
      const { small, burst } = await startService(bench, { outputDimensions: [0, 0] });
      const one = trial(small);
      const result = await burst.compute(one.request);
      expectExecution("a burst", result, NONE);
      const found = JSON.stringify(result.outputShapes.map(({ dimensions }) => dimensions));
      expectThat(found === "[[2,3]]", () => `a burst: expected shapes [[2,3]], got ${found}`);
    },
    async "an output that does not fit is reported"(bench) {
      const { small, burst } = await startService(bench);
      const { request } = trial(small);
      const outputs = request.outputs.map((output) => ({ ...output, location: { ...output.location, length: 1 } }));
      expectExecution(
        "a burst",
        await burst.compute({ ...request, outputs }),
        OUTPUT_INSUFFICIENT_SIZE,
        GENERAL_FAILURE,
      );
    },
    async "the ordinary call executes while a burst is open"(bench) {
      const { small, preparedModel, burst } = await startService(bench);
      const [ordinary, inBurst] = [trial(small, 1), trial(small, 2)];
      const [first, second] = await Promise.all([
        preparedModel.execute(ordinary.request),
        burst.compute(inBurst.request),
      ]);
      expectExecution("execute", first, NONE);
      expectExecution("a burst", second, NONE);
      ordinary.check("execute");
      inBurst.check("a burst");
    },
    async "two bursts of one prepared model"(bench) {
      const { small, preparedModel, burst } = await startService(bench);
      const { burst: other } = await openBurst(bench, preparedModel);
      const trials = [trial(small, 1), trial(small, 2)];
      const results = await Promise.all([
        burst.compute(elementAt(trials, 0).request),
        other?.compute(elementAt(trials, 1).request),
      ]);
      for (const [index, result] of results.entries()) {
        if (result === undefined) mismatch("configureExecutionBurst: there is no second burst");
        expectExecution("a burst", result, NONE);
        elementAt(trials, index).check(`burst ${index}`);
      }
    },
    async "a closed burst falls back, and the next one works"(bench) {
      const { small, preparedModel, burst } = await startService(bench);
      await burst.close();
      const { fallback } = await burst.compute(trial(small).request);
      expectThat(fallback, () => "a burst that is closed takes a request");
      const { burst: next } = await openBurst(bench, preparedModel);
      expectExecution(
        "the next burst",
        (await next?.compute(trial(small).request)) ?? mismatch("there is no next burst"),
        NONE,
      );
    },
    async "a result that does not fit its queue is a failure without shapes, and no fallback"(bench) {
      // A rank of ten gives one output twelve data, and there are two outputs: the small queue holds 8.
      const dimensions = [1, 1, 2, 3];
      const small = await smallModel(bench, { layout: "pair", dimensions });
      const preparedModel = await prepare(bench, small.model);
      const one = trialFor(small, [sampleValues(small.type, 6), sampleValues(small.type, 6, 1)]);
      const { burst } = await openBurst(bench, preparedModel, { resultCapacity: 8 });
      const { fallback, ...result } = (await burst?.compute(one.request)) ?? mismatch("there is no burst");
      expectThat(!fallback, () => "a burst with a small result queue: the fallback flag is set");
      expectExecution("a burst with a small result queue", result, GENERAL_FAILURE);
    },
    async "no callback is INVALID_ARGUMENT"(bench) {
      const configure = await configureOf(bench, await prepare(bench, (await smallModel(bench)).model));
      const { requests, results } = rightQueues();
      const { context, ...outcome } = await configure(null, requests, results);
      bench.after(() => context?.close?.());
      expectStatus("configureExecutionBurst without a callback", outcome, INVALID_ARGUMENT);
      expectThat(context === null, () => "configureExecutionBurst without a callback: a context beside the error");
    },
  }),
  ...casesOf(
    "service",
    "1.2",
    wrongQueues,
    ({ what }) => `${what} is INVALID_ARGUMENT`,
    async (bench, { what, spoil }) => {
      const configure = await configureOf(bench, await prepare(bench, (await smallModel(bench)).model));
      const right = rightQueues();
      const { requests, results } = { ...right, ...spoil(right) };
      const noMemories = { getMemories: () => ({ status: INVALID_ARGUMENT, buffers: [] }) };
      const { context, ...outcome } = await configure(noMemories, requests, results);
      bench.after(() => context?.close?.());
      expectStatus(`configureExecutionBurst with ${what}`, outcome, INVALID_ARGUMENT, GENERAL_FAILURE);
      expectThat(context === null, () => `configureExecutionBurst with ${what}: a context beside the error`);
    },
  ),
];
