/** Executions that are set up once and repeated (AIDL 4 IExecution): VTS runs each twice; here also what each run may change. */
import { createFence } from "@nnhal/driver-core/fence";
import { ErrorStatus, type ExecuteOptions, MeasureTiming, type Request, type ReusableExecution } from "@nnhal/types";
import { type Bench, needMethod, prepare, smallModel } from "../bench.ts";
import { expectExecution, expectOrdered, expectStatus, expectThat, mismatch } from "../check.ts";
import { expectShapes, expectValues, trialFor } from "../execution.ts";
import { expectDone, expectLaunched, expectRefusedLaunch } from "../fenced/execute.ts";
import { createFailedFence } from "../fenced/launch.ts";
import { allocate, fill, role } from "../memory/buffers.ts";
import { sampleValues } from "../small-models.ts";
import { directly, group, type SuiteCase } from "../suite-case.ts";
import { bytesIn, bytesOf, emptyMemory, memoryWith, requestFor, sizeOf } from "../values.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;

/** A prepared small model whose requests can be set up. */
async function prepareReusable(bench: Bench, facts: Parameters<typeof smallModel>[1] = {}) {
  await needMethod(bench, "createReusableExecution");
  const small = await smallModel(bench, facts);
  const preparedModel = await prepare(bench, small.model);
  const create = preparedModel.createReusableExecution?.bind(preparedModel);
  if (create === undefined) mismatch("this prepared model has no reusable executions, but others of the device have");
  return {
    small,
    preparedModel,
    create,
    async setUp(request: Request, options?: ExecuteOptions): Promise<ReusableExecution> {
      const { execution, ...outcome } = await create(request, options);
      expectStatus("createReusableExecution", outcome, NONE);
      return execution ?? mismatch("createReusableExecution: NONE without a reusable execution");
    },
  };
}

/** A reusable execution on memory that each run can find other values in. */
async function setUpTrial(bench: Bench, options?: ExecuteOptions) {
  const { small, setUp } = await prepareReusable(bench);
  const { type } = small;
  const input = memoryWith(type, sampleValues(type, 6));
  const output = emptyMemory(sizeOf(type, [6]));
  const request = requestFor([input], [output]);
  const execution = await setUp(request, options);
  /** Puts other values there, and returns a check of their results. */
  const change = (salt: number) => {
    const values = sampleValues(type, 6, salt);
    bytesIn(input).set(bytesOf(type, values));
    bytesIn(output).fill(0);
    const [expected = []] = small.compute([values]);
    return (what: string) => expectValues(`${what}: output 0`, type, output, expected);
  };
  return { execution, request, change };
}

const cases = group("reusable", "1.3", {
  async "an execution is repeated on what its memory then holds"(bench) {
    const { execution, request, change } = await setUpTrial(bench);
    for (let run = 0; run < 4; run++) {
      const check = change(run);
      const result = await execution.execute();
      expectExecution("ReusableExecution.execute", result, NONE);
      expectShapes("ReusableExecution.execute", result, request);
      check(`ReusableExecution.execute, run ${run + 1}`);
    }
  },
  async "it is repeated behind fences, and waits for them"(bench) {
    const { execution, change } = await setUpTrial(bench);
    for (let run = 0; run < 3; run++) {
      const { fence, signal } = createFence();
      const check = change(run);
      const launched = await execution.executeFenced([fence]);
      const state = expectLaunched(launched).syncFence?.state ?? "absent";
      expectThat(state === "ACTIVE", () => {
        return `ReusableExecution.executeFenced, run ${run + 1}: its fence is ${state} before that which it waits for`;
      });
      signal();
      await expectDone(launched);
      check(`ReusableExecution.executeFenced, run ${run + 1}`);
    }
  },
  async "runs of both kinds follow one another"(bench) {
    const { execution, change } = await setUpTrial(bench);
    for (let run = 0; run < 4; run++) {
      const check = change(run);
      if (run % 2 === 0) expectExecution("ReusableExecution.execute", await execution.execute(), NONE);
      else await expectDone(await execution.executeFenced([]));
      check(`run ${run + 1}`);
    }
  },
  async "a wrong request is INVALID_ARGUMENT, when it is set up or in each run"(bench) {
    const { small, create } = await prepareReusable(bench);
    const { request } = trialFor(small, [sampleValues(small.type, 6)]);
    for (const wrong of [
      { ...request, inputs: [] },
      { ...request, outputs: [] },
      { ...request, pools: [] },
    ]) {
      const { execution, ...outcome } = await create(wrong);
      if (execution === null) expectStatus("createReusableExecution", outcome, INVALID_ARGUMENT);
      else {
        for (let run = 0; run < 2; run++) {
          expectExecution("ReusableExecution.execute", await execution.execute(), INVALID_ARGUMENT);
        }
        expectRefusedLaunch("of a wrong request", await execution.executeFenced([]), INVALID_ARGUMENT);
      }
    }
  },
  async "a run beside one that has not ended is GENERAL_FAILURE"(bench) {
    const { execution, change } = await setUpTrial(bench);
    const check = change(1);
    const { fence, signal } = createFence();
    const launched = await execution.executeFenced([fence]);
    expectLaunched(launched);
    expectExecution("ReusableExecution.execute beside a run", await execution.execute(), GENERAL_FAILURE);
    expectRefusedLaunch("beside a run", await execution.executeFenced([]), GENERAL_FAILURE);
    signal();
    await expectDone(launched);
    check("the run that was first");
    expectExecution("ReusableExecution.execute after the run", await execution.execute(), NONE);
  },
  async "two of one request run side by side"(bench) {
    const { small, setUp } = await prepareReusable(bench);
    const trials = [1, 2].map((salt) => trialFor(small, [sampleValues(small.type, 6, salt)]));
    const executions = await Promise.all(trials.map(({ request }) => setUp(request)));
    for (let run = 0; run < 2; run++) {
      const results = await Promise.all(executions.map((execution) => execution.execute()));
      for (const result of results) expectExecution("ReusableExecution.execute", result, NONE);
      for (const trial of trials) trial.check("ReusableExecution.execute");
    }
  },
  async "a run that fails does not end it"(bench) {
    const { execution, change } = await setUpTrial(bench);
    const late = await execution.execute({ deadline: 0n });
    expectExecution(
      "ReusableExecution.execute after its deadline",
      late,
      MISSED_DEADLINE_PERSISTENT,
      MISSED_DEADLINE_TRANSIENT,
    );
    // The text says INVALID_ARGUMENT; Android's sample drivers answer GENERAL_FAILURE.
    const refused = await execution.executeFenced([createFailedFence()]);
    expectRefusedLaunch("with a failed fence", refused, INVALID_ARGUMENT, GENERAL_FAILURE);
    const { fence, fail } = createFence();
    const launched = expectLaunched(await execution.executeFenced([fence]));
    fail();
    await launched.syncFence?.wait();
    const check = change(2);
    expectExecution("ReusableExecution.execute after a failure", await execution.execute(), NONE);
    check("ReusableExecution.execute after a failure");
  },
  async "each run is measured if it was set up so"(bench) {
    const { execution } = await setUpTrial(bench, { measure: MeasureTiming.YES });
    for (let run = 0; run < 2; run++) {
      const result = await execution.execute();
      expectExecution("ReusableExecution.execute", result, NONE);
      expectOrdered("ReusableExecution.execute", result.timing);
    }
  },
  async "an output of unknown dimensions is refused only behind fences"(bench) {
    const { small, setUp } = await prepareReusable(bench, { outputDimensions: [0, 3] });
    const trial = trialFor(small, [sampleValues(small.type, 6)]);
    const execution = await setUp(trial.request);
    for (let run = 0; run < 2; run++) {
      expectExecution("ReusableExecution.execute", await execution.execute(), NONE);
      trial.check("ReusableExecution.execute");
    }
    expectRefusedLaunch("with an open output", await execution.executeFenced([]), INVALID_ARGUMENT);
  },
  async "a buffer without a value is GENERAL_FAILURE in each run, until it has one"(bench) {
    const { small, preparedModel, setUp } = await prepareReusable(bench);
    const { type } = small;
    const buffer = await allocate(bench, { models: [preparedModel], inputs: [role(0)] });
    const output = emptyMemory(sizeOf(type, [6]));
    const execution = await setUp(requestFor([buffer.token], [output]));
    for (let run = 0; run < 2; run++) {
      const result = await execution.execute();
      expectExecution("ReusableExecution.execute on a buffer without a value", result, GENERAL_FAILURE);
    }
    for (const salt of [1, 2]) {
      const values = sampleValues(type, 6, salt);
      await fill(buffer.buffer, memoryWith(type, values));
      expectExecution("ReusableExecution.execute on a buffer with a value", await execution.execute(), NONE);
      expectValues("ReusableExecution.execute", type, output, small.compute([values])[0] ?? []);
    }
  },
  async "of a closed prepared model it is refused"(bench) {
    const { small, preparedModel, create, setUp } = await prepareReusable(bench);
    const { request } = trialFor(small, [sampleValues(small.type, 6)]);
    const execution = await setUp(request);
    preparedModel.close();
    expectExecution("ReusableExecution.execute after close", await execution.execute(), INVALID_ARGUMENT);
    const { execution: none, ...outcome } = await create(request);
    expectStatus("createReusableExecution after close", outcome, INVALID_ARGUMENT);
    if (none !== null) mismatch("createReusableExecution after close: a reusable execution beside the error");
  },
});

/** No version of HIDL has them. */
export const reusableCases: readonly SuiteCase[] = directly(cases);
