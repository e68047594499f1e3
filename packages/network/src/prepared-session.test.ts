/**
 * The session on which `load` stands, as programs use it: on devices and states of their own, with times.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { createStates, importTflite } from "@nnhal/tflite";
import { createTraceRecorder, silentLogger } from "@nnhal/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStepTimer, type Load, measureModel } from "./measure.ts";
import { addingModel, passingModel, rememberingModel, unknownOperatorModel } from "./models.test-helper.ts";
import { type PreparedSessionOptions, prepareSession } from "./prepared-session.ts";

let device: OpenedDevice;
beforeAll(async () => {
  const opened = await openDevice({ backend: referenceBackend, log: silentLogger });
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  device = opened;
});
afterAll(() => device.close());

const floats = (...values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);
const numbers = (bytes: Uint8Array) => [...new Float32Array(bytes.slice().buffer)];

const prepare = (file: Uint8Array, options: Partial<PreparedSessionOptions> = {}) => {
  const imported = importTflite(file);
  return prepareSession({
    imported,
    selection: { devices: [device] },
    importEmpty: async () => imported,
    ...options,
  });
};

/** Two runs that count, on some inputs; times are their number. */
const twice = (...inputs: readonly Uint8Array[]): Load => {
  const values = inputs.map((bytes) => ({ bytes }));
  return {
    warm: (run) => run(values),
    async count(run) {
      await run(values);
      await run(values);
    },
    combine: (times) => times.length,
  };
};

describe("a prepared session", () => {
  it("runs on the states that it is given, and leaves there what a run leaves", async () => {
    const states = createStates(importTflite(rememberingModel()));
    const session = await prepare(rememberingModel(), { states });
    const run = async (value: number) => {
      const { values } = await session.compute([{ bytes: floats(value) }]);
      return numbers(elementAt(values, 0).bytes);
    };
    expect(await run(1)).toEqual([1, 2]);
    expect(await run(2)).toEqual([12, 24]);
    states.reset();
    expect(await run(2)).toEqual([2, 4]);
    expect(session.states).toBe(states);
    await session.close();
  });

  it("has the inputs of an execution: the user's, then the states", async () => {
    const session = await prepare(rememberingModel());
    const inputs = session.inputsOf([{ bytes: floats(5) }]);
    expect(inputs.map(({ bytes }) => bytes.length)).toEqual(session.imported.inputs.map(() => expect.any(Number)));
    expect(inputs).toHaveLength(2);
    expect(numbers(elementAt(inputs, 0).bytes)).toEqual([5]);
    await session.close();
  });

  it("tells a tracer what it does", async () => {
    const trace = createTraceRecorder();
    trace.start();
    const session = await prepare(addingModel(), { preparing: { trace } });
    await session.compute([{ bytes: floats(1, 2, 3, 4) }, { bytes: floats(1, 2, 3, 4) }]);
    await session.close();
    trace.stop();
    const names = JSON.stringify(trace.read());
    for (const mark of ["build model", "compile", "run"]) expect(names).toContain(mark);
  });

  it("says why no device takes a model", async () => {
    expect(() => importTflite(unknownOperatorModel())).toThrow("Frobnicate");
    const { problems } = await prepare(addingModel(), { selection: { devices: [] } }).then(
      () => ({ problems: [] }),
      (error: unknown) => error as { readonly problems: readonly string[] },
    );
    expect(problems).toEqual([expect.any(String)]);
  });
});

describe("measureModel", () => {
  it("times the whole and each operation, and steps if the session was prepared with their timer", async () => {
    const inputs = [floats(1, 2, 3, 4), floats(1, 2, 3, 4)];
    const plain = await prepare(addingModel());
    const whole = await measureModel(plain, twice(...inputs));
    expect(whole).toMatchObject({ total: 2, operations: [2] });
    expect([whole.steps.size, whole.untimed]).toEqual([0, undefined]);
    await plain.close();
    const timer = createStepTimer();
    const timing = await prepare(addingModel(), { preparing: { onStep: timer.onStep } });
    const { plan, steps } = await measureModel(timing, twice(...inputs), timer);
    expect(plan).toBe(timing.compilation.plan);
    expect([...steps]).toEqual([[plan.steps[0], 2]]);
    await timing.close();
  });

  it("leaves the states as they are", async () => {
    const session = await prepare(rememberingModel());
    await session.compute([{ bytes: floats(1) }]);
    await measureModel(session, twice(floats(7)));
    const { values } = await session.compute([{ bytes: floats(2) }]);
    expect(numbers(elementAt(values, 0).bytes)).toEqual([12, 24]);
    await session.close();
  });

  it("rejects for inputs with which the model cannot run", async () => {
    const session = await prepare(passingModel({ shape: [1, 2] }));
    await expect(measureModel(session, twice(floats(1)))).rejects.toMatchObject({ code: "FAILED" });
    await session.close();
  });

  it("says why operations are not timed, and has the times of the whole", async () => {
    let compiled = 0;
    const limited = {
      ...device,
      prepareModel: (...given: Parameters<typeof device.prepareModel>) => {
        if (compiled++ > 0) throw new Error("only one model");
        return device.prepareModel(...given);
      },
    };
    const session = await prepare(addingModel(), { selection: { devices: [limited] } });
    const inputs = [floats(1, 2, 3, 4), floats(1, 2, 3, 4)];
    const { total, operations, apart, untimed } = await measureModel(session, twice(...inputs));
    expect([total, operations, apart]).toEqual([2, [], undefined]);
    expect(untimed).toMatchObject({ code: "CANNOT_RUN" });
    await session.close();
  });
});
