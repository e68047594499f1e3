import { elementAt } from "@nnhal/operations";
import { addExample } from "@nnhal/test-kit/examples";
import { type FakeBehaviour, fakeDevice } from "@nnhal/test-kit/fake-device";
import {
  type Device,
  ErrorStatus,
  type ExecutionResult,
  type FencedResult,
  type Model,
  type Request,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { validateExecutionPreference, validateModel, validatePriority, validateRequest } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { type CaseResult, summarise } from "../result.ts";
import type { Example } from "../vectors/example.ts";
import { examples, twoOperations } from "./models.test-helper.ts";
import { type MutationsOptions, mutationSubjects, runMutations } from "./run.ts";

const invalid = { status: ErrorStatus.INVALID_ARGUMENT, message: "no" } as const;

/** Judges models and requests as validation does. */
const strict: FakeBehaviour = {
  getSupportedOperations: (model) => {
    const { operations } = model.main;
    return validateModel(model)
      ? { status: ErrorStatus.NONE, supported: operations.map(() => true), reasons: operations.map(() => undefined) }
      : { ...invalid, supported: [], reasons: [] };
  },
  prepareModel: (model) => (validateModel(model) ? undefined : { ...invalid, preparedModel: null }),
  execute: ({ model, request }) => (isRight(request, model) ? {} : { ...invalid, outputShapes: [] }),
};

/** The device has no buffers, so that no token is right. */
function isRight(request: Request, model: Model): boolean {
  return validateRequest(request, model) && request.pools.every(({ kind }) => kind === "memory");
}

/** A strict device that also looks at preferences and priorities. */
function strictDevice(behaviour: FakeBehaviour = strict): Device & { closed: number } {
  const device = fakeDevice(behaviour);
  const { prepareModel } = device;
  return Object.assign(device, {
    prepareModel: (...[model, options = {}]: Parameters<Device["prepareModel"]>) => {
      const { preference = 1, priority = 1 } = options;
      const isRight = validateExecutionPreference(preference) && validatePriority(priority);
      return isRight ? prepareModel(model, options) : Promise.resolve({ ...invalid, preparedModel: null });
    },
  });
}

async function run(device: Device, given: readonly Example[], options?: MutationsOptions): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for await (const result of runMutations(device, given, options)) results.push(result);
  return results;
}

/** The failures of a device in one class of mutants, without the example's name. */
async function failuresOf(device: Device, subject: string, given: readonly Example[] = [addExample()]) {
  const results = await run(device, given);
  return results.filter((result) => result.subject === subject && result.verdict === "failed");
}

describe("runMutations", () => {
  it("passes a device that refuses what is wrong and takes what is right", async () => {
    const device = strictDevice();
    const results = await run(device, examples);
    expect(results.filter(({ verdict }) => verdict === "failed")).toEqual([]);
    expect([...new Set(results.map(({ subject }) => subject))].sort()).toEqual([...mutationSubjects].sort());
    const originals = results.filter(({ subject }) => subject === "original");
    expect(originals.map(({ name, verdict }) => [name, verdict])).toEqual(examples.map(({ name }) => [name, "passed"]));
    expect(new Set(results.map(({ name }) => name)).size).toBe(results.length);
    // Models that were prepared for the requests are freed.
    await new Promise(setImmediate);
    expect(device.closed).toBe(examples.length);
  });

  it("fails a device that takes a wrong model at either call", async () => {
    const { getSupportedOperations: _, ...lenient } = strict;
    const [first] = await failuresOf(strictDevice(lenient), "operationType");
    expect(first).toEqual({
      name: "add_made_up/add_made_up operationType: main operation 0 (ADD) has type 106",
      subject: "operationType",
      verdict: "failed",
      reason: "getSupportedOperations: expected INVALID_ARGUMENT, got NONE",
    });
    const { prepareModel: __, ...careless } = strict;
    const failures = await failuresOf(strictDevice(careless), "operationType");
    expect(failures.map(({ reason }) => reason)).toEqual(
      new Array(3).fill("prepareModel: expected INVALID_ARGUMENT, got NONE"),
    );
  });

  it("fails another error than INVALID_ARGUMENT, and answers beside an error", async () => {
    const general = { status: ErrorStatus.GENERAL_FAILURE, message: "broken" } as const;
    const [failure] = await failuresOf(
      strictDevice({
        ...strict,
        prepareModel: (model) => (validateModel(model) ? undefined : { ...general, preparedModel: null }),
      }),
      "operandScale",
    );
    expect(failure?.reason).toBe("prepareModel: expected INVALID_ARGUMENT, got GENERAL_FAILURE: broken");
    const talkative = strictDevice({
      ...strict,
      getSupportedOperations: (model) =>
        validateModel(model)
          ? { status: ErrorStatus.NONE, supported: [true], reasons: [undefined] }
          : { ...invalid, supported: [false], reasons: ["no"] },
    });
    const beside = elementAt(await failuresOf(talkative, "operandScale"), 0);
    expect(beside.reason).toBe("getSupportedOperations: answers about operations of a wrong model");
  });

  it("fails a preference and a priority that the device takes", async () => {
    const device = fakeDevice(strict);
    expect(await failuresOf(device, "executionPreference")).toHaveLength(2);
    expect(await failuresOf(device, "executionPriority")).toHaveLength(2);
  });

  it("fails a device that refuses what is right, and does not judge its requests", async () => {
    const refusing = strictDevice({ getSupportedOperations: () => ({ ...invalid, supported: [], reasons: [] }) });
    const results = await run(refusing, [addExample()]);
    expect(results[0]).toMatchObject({
      subject: "original",
      verdict: "failed",
      reason: "getSupportedOperations: INVALID_ARGUMENT: no",
    });
    const requests = results.filter(({ subject }) => subject === "removeRequestInput");
    expect(requests).toMatchObject([{ verdict: "skipped", reason: expect.stringContaining("refuses the model") }]);
  });

  it("says what a device does not support, and judges its refusals all the same", async () => {
    const partial = strictDevice({
      ...strict,
      getSupportedOperations: (model) =>
        validateModel(model)
          ? { status: ErrorStatus.NONE, supported: [false], reasons: ["ADD: not today"] }
          : { ...invalid, supported: [], reasons: [] },
    });
    const { failed, bySubject, reasons } = await summarise(runMutations(partial, [addExample()]));
    expect(failed).toBe(0);
    expect(bySubject.get("original")).toMatchObject({ unsupported: 1 });
    expect(bySubject.get("operandScale")).toMatchObject({ passed: 4 });
    expect(bySubject.get("removeRequestInput")).toMatchObject({ unsupported: 1 });
    expect(reasons.get("ADD: not today")).toBeGreaterThan(1);
  });

  it("does not mutate a model that is wrong on purpose", async () => {
    const results = await run(strictDevice(), [addExample({ expectFailure: true })]);
    expect(results).toEqual([
      {
        name: "add_made_up/add_made_up",
        subject: "original",
        verdict: "skipped",
        reason: "the example's own model is wrong",
      },
    ]);
  });

  it("fails a call that throws or takes too long, and goes on", async () => {
    const throwing = strictDevice({
      ...strict,
      getSupportedOperations: (model) => {
        if (model.main.operations[0]?.type === 106) throw new TypeError("who would do that");
        return strict.getSupportedOperations?.(model) ?? { ...invalid, supported: [], reasons: [] };
      },
    });
    const failures = await failuresOf(throwing, "operationType");
    expect(failures.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^threw TypeError: who would do that/),
    ]);

    const slow = strictDevice({
      ...strict,
      execute: ({ request, model }) =>
        request.inputs.length === 0 ? new Promise(() => {}) : strict.execute?.(execution(request, model)),
    });
    const results = await run(slow, [addExample()], { timeLimit: 20 });
    expect(results.filter(({ verdict }) => verdict === "failed")).toMatchObject([
      { subject: "removeRequestInput", reason: "no answer within 20 ms" },
    ]);
  });
});

type FakeExecution = Parameters<NonNullable<FakeBehaviour["execute"]>>[0];
function execution(request: FakeExecution["request"], model: FakeExecution["model"]): FakeExecution {
  const none = () => new Uint8Array(0);
  return { request, model, options: undefined, input: none, output: none, pool: none };
}

describe("wrong requests", () => {
  const timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
  const wrongly = async (result: Partial<ExecutionResult>) => {
    const device = strictDevice({
      ...strict,
      execute: ({ request, model }) =>
        isRight(request, model) ? {} : { ...invalid, outputShapes: [], timing, ...result },
    });
    return (await failuresOf(device, "removeRequestOutput")).map(({ reason }) => reason);
  };

  it("are refused with nothing beside the error", async () => {
    expect(await wrongly({})).toEqual([]);
    expect(await wrongly({ status: ErrorStatus.NONE })).toEqual(["execute: expected INVALID_ARGUMENT, got NONE: no"]);
    const shape = { dimensions: [1, 3], isSufficient: true };
    expect(await wrongly({ outputShapes: [shape] })).toEqual(["execute: 1 output shapes beside an error"]);
    expect(await wrongly({ timing: { ...timing, timeInDriver: 5n } })).toEqual(["execute: a duration beside an error"]);
  });

  /** A strict device with fenced executions. */
  function fencedDevice(fenced: Partial<FencedResult>): Device {
    const device = strictDevice();
    const { prepareModel } = device;
    return Object.assign(device, {
      prepareModel: async (...args: Parameters<Device["prepareModel"]>) => {
        const { preparedModel, ...outcome } = await prepareModel(...args);
        if (preparedModel === null) return { preparedModel, ...outcome };
        const executeFenced = async () => ({ ...invalid, syncFence: null, callback: null, ...fenced });
        return { ...outcome, preparedModel: { ...preparedModel, executeFenced } };
      },
    });
  }

  it("are refused by fenced executions too, if a device has them", async () => {
    const reasonsOf = async (fenced: Partial<FencedResult>, subject: string) =>
      (await failuresOf(fencedDevice(fenced), subject)).map(({ reason }) => reason);
    expect(await reasonsOf({}, "removeRequestInput")).toEqual([]);
    const accepted = { status: ErrorStatus.NONE } as const;
    for (const subject of ["removeRequestInput", "nullFence"]) {
      expect(await reasonsOf(accepted, subject)).toEqual(["executeFenced: expected INVALID_ARGUMENT, got NONE: no"]);
    }
    const callback: FencedResult["callback"] = {
      getExecutionInfo: async () => ({ ...invalid, timingLaunched: timing, timingFenced: timing }),
    };
    expect(await reasonsOf({ callback }, "nullFence")).toEqual(["executeFenced: a callback beside an error"]);
  });

  it("with a fence that is none need a device that has fences", async () => {
    const results = await run(strictDevice(), [addExample()]);
    expect(results.filter(({ subject }) => subject === "nullFence")).toMatchObject([
      { verdict: "unsupported", reason: "the device has no fenced executions" },
    ]);
  });
});

describe("a part of the mutants", () => {
  it("is the same each time, and the rest is counted", async () => {
    const whole = await summarise(runMutations(strictDevice(), examples));
    const part = await summarise(runMutations(strictDevice(), examples, { sample: 8 }));
    expect(part.total).toBe(whole.total);
    expect(part.reasons.get("not in the sample of one in 8")).toBeGreaterThan(part.total / 2);
    expect(part.passed).toBeGreaterThan(whole.passed / 16);
    expect(part.bySubject.get("original")).toEqual(whole.bySubject.get("original"));
    const names = async () => (await run(strictDevice(), examples, { sample: 8 })).map(({ name }) => name);
    expect(await names()).toEqual(await names());
  });

  it("can be what comes after some results", async () => {
    const given = [addExample(), twoOperations];
    const options = { sample: 4 };
    const results = await run(strictDevice(), given, options);
    for (const skip of [1, 7, results.length - 1]) {
      expect(await run(strictDevice(), given, { ...options, skip }), `skip ${skip}`).toEqual(results.slice(skip));
    }
    // Requests need the prepared model, also where the run begins with one of them.
    const request = results.findIndex(({ subject }) => subject === "requestLocation");
    expect((await run(strictDevice(), given, { ...options, skip: request }))[0]).toEqual(results[request]);
  });

  it("can be those of some examples", async () => {
    const results = await run(strictDevice(), examples, { filter: ({ name }) => name === "two_operations" });
    expect(results.length).toBeGreaterThan(100);
    expect(results.every(({ name }) => name.startsWith("two_operations"))).toBe(true);
  });

  it("is announced case by case, except cases that do not run", async () => {
    const started: string[] = [];
    const results = await run(strictDevice(), [addExample()], { onStart: ({ name }) => void started.push(name) });
    expect(started).toEqual(results.filter(({ verdict }) => verdict !== "skipped").map(({ name }) => name));
  });
});
