import { elementAt } from "@nnhal/operations";
import { addExample, bytesOf } from "@nnhal/test-kit/examples";
import { declaredShapes, type FakeBehaviour, fakeDevice } from "@nnhal/test-kit/fake-device";
import { ErrorStatus, type ExecuteOptions } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { CaseResult } from "../result.ts";
import type { Example } from "./example.ts";
import { matchesText, runVectors, type VectorsOptions } from "./run.ts";
import { casesOf } from "./variant.ts";

/** Adds as the example says. */
const adding: FakeBehaviour = {
  execute({ input, output, model }) {
    const left = new Float32Array(input(0).slice().buffer);
    const right = new Float32Array(model.operandValues.slice(0, 12).buffer);
    output(0).set(bytesOf(left.map((value, index) => value + elementAt(right, index))));
    return { outputShapes: [{ dimensions: [1, 3], isSufficient: true }] };
  },
};

async function run(behaviour: FakeBehaviour, examples: readonly Example[], options?: VectorsOptions) {
  const device = fakeDevice(behaviour);
  const results: CaseResult[] = [];
  for await (const result of runVectors(device, examples, options)) results.push(result);
  return { device, results };
}

/** The one result of one example. */
async function resultOf(behaviour: FakeBehaviour, more: Partial<Example> = {}, options?: VectorsOptions) {
  const { results } = await run(behaviour, [addExample(more)], options);
  expect(results).toHaveLength(1);
  return elementAt(results, 0);
}

const reason = async (...args: Parameters<typeof resultOf>) => {
  const result = await resultOf(...args);
  expect(result.verdict).toBe("failed");
  return result.reason;
};

const failing: FakeBehaviour = { execute: () => ({ status: ErrorStatus.GENERAL_FAILURE, message: "no" }) };
const refusing: FakeBehaviour = {
  prepareModel: () => ({ status: ErrorStatus.INVALID_ARGUMENT, message: "bad operand", preparedModel: null }),
};

describe("runVectors", () => {
  it("passes a device that returns the expected results, in every form", async () => {
    const { device, results } = await run(adding, [addExample()], { variants: true });
    const deviation = { type: "TENSOR_FLOAT32", elements: 3, differing: 0, largest: 0, sum: 0, error: 0 };
    const facts = { subject: "ADD", verdict: "passed", type: "TENSOR_FLOAT32", error: 0, deviations: [deviation] };
    expect(results).toEqual([
      { name: "add_made_up/add_made_up", ...facts },
      { name: "add_made_up/add_made_up [unspecified outputs]", ...facts },
    ]);
    expect(device.prepared.map(({ main }) => elementAt(main.operands, 3).dimensions)).toEqual([
      [1, 3],
      [0, 0],
    ]);
    expect(device.closed).toBe(2);
  });

  it("fails one that does not write, with the first difference", async () => {
    expect(await reason({})).toMatch(
      /^ADD output 0 element 0 \[0, 0\]: expected 11, got -4\d+, with an allowance of .*; 3 of 3 elements differ$/,
    );
  });

  it("fails one that does not find a shape it was not told", async () => {
    const { results } = await run(
      { execute: (execution) => ({ ...adding.execute?.(execution), outputShapes: declaredShapes(execution.model) }) },
      [addExample()],
      { variants: true },
    );
    expect(results.map(({ verdict, reason: why }) => [verdict, why])).toEqual([
      ["passed", undefined],
      ["failed", "ADD output 0: expected shape 1x3, got 0x0"],
    ]);
  });

  it("fails an error status of each call with its message", async () => {
    expect(await reason(failing)).toBe("execute: GENERAL_FAILURE: no");
    expect(await reason(refusing)).toBe("prepareModel: INVALID_ARGUMENT: bad operand");
    const invalid = { status: ErrorStatus.INVALID_ARGUMENT, message: "bad model", supported: [], reasons: [] };
    expect(await reason({ getSupportedOperations: () => invalid })).toBe(
      "getSupportedOperations: INVALID_ARGUMENT: bad model",
    );
  });

  it("fails a status and a prepared model that contradict each other", async () => {
    const none = { status: ErrorStatus.NONE, preparedModel: null };
    expect(await reason({ prepareModel: () => none })).toBe("prepareModel: NONE with no prepared model");
    expect(await reason({ prepareModel: () => none }, { expectFailure: true })).toMatch(/NONE with no prepared model/);
  });

  it("fails an output written past its end", async () => {
    const overflow: FakeBehaviour = {
      execute(execution) {
        execution.pool(1)[12] = 1;
        return adding.execute?.(execution);
      },
    };
    expect(await reason(overflow)).toBe("execute: the byte 0 after the end of output 0 was written");
  });

  it("does not prepare a model with an operation that is not supported", async () => {
    const unsupported: FakeBehaviour = {
      getSupportedOperations: () => ({ status: ErrorStatus.NONE, supported: [false], reasons: ["ADD: not today"] }),
    };
    const { device, results } = await run(unsupported, [addExample(), addExample({ expectFailure: true })]);
    expect(results.map(({ verdict, reason: why }) => [verdict, why])).toEqual([
      ["unsupported", "ADD: not today"],
      ["unsupported", "ADD: not today"],
    ]);
    expect(device.prepared).toEqual([]);
  });

  it("fails an answer about another number of operations", async () => {
    const many = { status: ErrorStatus.NONE, supported: [true, true], reasons: [undefined, undefined] };
    expect(await reason({ getSupportedOperations: () => many })).toBe(
      "getSupportedOperations: 2 answers about 1 operations",
    );
  });

  it("goes on after a device that throws, rejects or never answers", async () => {
    const broken: FakeBehaviour = {
      getSupportedOperations(model) {
        if (model.relaxComputationFloat32toFloat16) throw new TypeError("cannot read that");
        return { status: ErrorStatus.NONE, supported: [true], reasons: [undefined] };
      },
      execute(execution) {
        if (execution.model.referenced.length === 0) return adding.execute?.(execution);
        return execution.model.referenced.length === 1 ? Promise.reject(new Error("lost")) : new Promise(() => {});
      },
    };
    const { main } = addExample();
    const { results } = await run(
      broken,
      [
        addExample({ isRelaxed: true }),
        addExample({ referenced: [main], expectFailure: true }),
        addExample({ referenced: [main, main] }),
        addExample(),
      ],
      { timeLimit: 200 },
    );
    expect(results.map(({ verdict, reason: why = "" }) => [verdict, why.replace(/ \(at .*/, "")])).toEqual([
      ["failed", "threw TypeError: cannot read that"],
      ["failed", "threw Error: lost"],
      ["failed", "no answer within 200 ms"],
      ["passed", ""],
    ]);
    expect(results.map(({ isLost }) => isLost)).toEqual([undefined, undefined, true, undefined]);
  });

  it("runs only what the filter lets through", async () => {
    const { results } = await run(adding, [addExample(), addExample({ name: "other/other" })], {
      variants: true,
      filter: (vectorCase) => matchesText(vectorCase, "OTHER"),
    });
    expect(results.map(({ name }) => name)).toEqual(["other/other", "other/other [unspecified outputs]"]);
  });

  it("frees the prepared model whatever the execution comes to", async () => {
    expect((await run(failing, [addExample()])).device.closed).toBe(1);
    expect((await run({ execute: () => Promise.reject(new Error("lost")) }, [addExample()])).device.closed).toBe(1);
  });
});

describe("an example that has to fail", () => {
  it("passes if it is not prepared, or not executed", async () => {
    expect(await resultOf(refusing, { expectFailure: true })).toMatchObject({ verdict: "passed" });
    expect(await resultOf(failing, { expectFailure: true })).toMatchObject({ verdict: "passed" });
  });

  it("passes if the model is called invalid from the start, and prepareModel agrees", async () => {
    const invalid = { status: ErrorStatus.INVALID_ARGUMENT, supported: [], reasons: [] };
    const behaviour = { ...refusing, getSupportedOperations: () => invalid };
    expect(await resultOf(behaviour, { expectFailure: true })).toMatchObject({ verdict: "passed" });
  });

  it("fails if both succeed, whatever the outputs hold", async () => {
    expect(await reason(adding, { expectFailure: true })).toBe(
      "the model is wrong, but it was prepared and executed without an error",
    );
  });
});

describe("the endless loop", () => {
  const endless = { spec: "V1_3/while_infinite_loop", expectFailure: true };
  const makeEnding = (status: ErrorStatus): FakeBehaviour => ({ execute: () => ({ status, message: "the loop" }) });

  it("passes if the execution misses its deadline, with a loop timeout of 1 ms", async () => {
    let seen: ExecuteOptions | undefined;
    const persistent: FakeBehaviour = {
      execute({ options }) {
        seen = options;
        return { status: ErrorStatus.MISSED_DEADLINE_PERSISTENT };
      },
    };
    expect(await resultOf(persistent, endless)).toMatchObject({ verdict: "passed" });
    expect(seen).toEqual({ loopTimeoutDuration: 1_000_000n });
    expect(await resultOf(makeEnding(ErrorStatus.MISSED_DEADLINE_TRANSIENT), endless)).toMatchObject({
      verdict: "passed",
    });
  });

  it("fails on any other outcome, and if it is not prepared", async () => {
    expect(await reason(makeEnding(ErrorStatus.GENERAL_FAILURE), endless)).toBe(
      "execute: expected MISSED_DEADLINE_TRANSIENT or MISSED_DEADLINE_PERSISTENT, got GENERAL_FAILURE: the loop",
    );
    expect(await reason(makeEnding(ErrorStatus.NONE), endless)).toMatch(/got NONE/);
    expect(await reason(refusing, endless)).toBe("prepareModel: INVALID_ARGUMENT: bad operand");
  });

  it("leaves other executions the default timeout", async () => {
    let seen: ExecuteOptions | undefined;
    await resultOf({
      execute({ options }) {
        seen = options;
        return {};
      },
    });
    expect(seen).toEqual({});
  });
});

describe("matchesText", () => {
  const cases = casesOf(addExample(), true);
  const [written, unspecified] = [elementAt(cases, 0), elementAt(cases, 1)];

  it("finds a part of the name, the spec or the form, in either case", () => {
    for (const text of ["made_up", "ADD_MADE", "V1_0/", ""]) expect(matchesText(written, text)).toBe(true);
    expect(matchesText(unspecified, "[unspecified")).toBe(true);
    expect(matchesText(written, "[unspecified")).toBe(false);
    expect(matchesText(written, "V1_1/")).toBe(false);
  });

  it("finds the whole name of the operation", () => {
    const renamed = elementAt(casesOf(addExample({ name: "sum/sum", spec: "V1_0/sum" }), false), 0);
    expect(matchesText(renamed, "add")).toBe(true);
    expect(matchesText(renamed, "ad")).toBe(false);
  });
});
