/**
 * Models over several devices have the results of one device, and failures fall back to the CPU if that is allowed.
 */
import { androidPolicy } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import { type Device, ErrorStatus, OperationType, type OperationTypeName, operationTypeNames } from "@nnhal/types";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { Compilation, type CompilationOptions } from "../compilation.ts";
import { Execution } from "../execution.ts";
import { Model } from "../model.ts";
import { float32, openReference } from "../models.test-helper.ts";
import { ResultCode } from "../result-code.ts";
import { chain, divideGuarded, makeDoublingLoop, makeFailing, requestOf } from "./divided.test-helper.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

/** The reference device under another name, taking only some operations, with a given performance. */
function limit(name: string, takes: readonly OperationTypeName[], execTime = 0.5): Device {
  const { capabilities } = reference.getCapabilities();
  const info = { execTime, powerUsage: execTime };
  const operandPerformance = capabilities.operandPerformance.map(({ type }) => ({ type, info }));
  return {
    ...reference,
    name,
    getCapabilities: () => ({ status: ErrorStatus.NONE, capabilities: { ...capabilities, operandPerformance } }),
    getSupportedOperations(model) {
      const supported = model.main.operations.map(({ type }) => takes.some((one) => OperationType[one] === type));
      const reasons = model.main.operations.map(({ type }, index) =>
        supported[index] ? undefined : `${operationTypeNames.get(type)} is not for ${name}`,
      );
      return { status: ErrorStatus.NONE, supported, reasons };
    },
  };
}

const android = { policy: androidPolicy };

async function compute(model: Model, devices: readonly Device[], options: CompilationOptions, inputs: number[][]) {
  const compilation = new Compilation(model, devices, options);
  await compilation.finish();
  const execution = new Execution(compilation);
  inputs.forEach((values, index) => {
    execution.setInput(index, Float32Array.from(values));
  });
  const { operands, outputIndexes } = model.hal.main;
  const outputs = outputIndexes.map(
    (operand) => new Float32Array(elementAt(operands, operand).dimensions.reduce((a, b) => a * b, 1)),
  );
  outputs.forEach((output, index) => {
    execution.setOutput(index, output);
  });
  await execution.compute();
  const shapes = outputs.map((_, index) => execution.getOutputOperandDimensions(index));
  compilation.close();
  return { values: outputs.map((output) => [...output]), shapes, plan: compilation };
}

describe("a model over several devices", () => {
  it("has the same result as on one", async () => {
    const devices = [limit("a", ["FLOOR", "NEG"]), limit("b", ["ABS"])];
    const model = chain();
    const compilation = new Compilation(model, devices, android);
    await compilation.finish();
    expect(compilation.plan.steps).toHaveLength(3);
    expect(compilation.deviceNames).toEqual(["a", "b"]);
    const divided = await compute(model, devices, android, [[-1.5, 2.5]]);
    expect(divided.values).toEqual([[-2, -2]]);
    expect(divided.shapes).toEqual([[2]]);
  });

  it("reports OUTPUT_INSUFFICIENT_SIZE with the shapes", async () => {
    const devices = [limit("a", ["FLOOR", "NEG"]), limit("b", ["ABS"])];
    const divided = await divideGuarded(chain().hal, devices, android);
    if (!("plan" in divided)) throw new Error(divided.message);
    expect(await divided.preparedModel.execute(requestOf([1, 2], { room: 1 }))).toMatchObject({
      status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
      outputShapes: [{ dimensions: [2], isSufficient: false }],
    });
  });

  it("runs at the same time as itself", async () => {
    const compilation = new Compilation(chain(), [limit("a", ["FLOOR", "NEG"]), limit("b", ["ABS"])], android);
    await compilation.finish();
    const results = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const execution = new Execution(compilation);
        execution.setInput(0, Float32Array.of(index, -index));
        const output = new Float32Array(2);
        execution.setOutput(0, output);
        await execution.compute();
        return [...output];
      }),
    );
    expect(results).toEqual(Array.from({ length: 50 }, (_, index) => [-index, -index]));
  });

  it("agrees with one device bit for bit on random graphs", async () => {
    const names = ["ABS", "NEG", "FLOOR", "SQUARED"] as const;
    const graphs = fc.array(fc.tuple(fc.constantFrom(...names), fc.nat(), fc.nat()), { minLength: 1, maxLength: 20 });
    const splits = fc.array(fc.nat(1), { minLength: 4, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(graphs, splits, async (rows, split) => {
        const model = new Model();
        const activation = model.addOperand({ type: "INT32" });
        model.setOperandValue(activation, 0);
        const input = model.addOperand(float32(3));
        const values = [input];
        const read = new Set<number>();
        for (const [name, first, second] of rows) {
          const a = elementAt(values, first % values.length);
          const b = elementAt(values, second % values.length);
          const result = model.addOperand(float32(3));
          if (name === "SQUARED") model.addOperation("MUL", [a, b, activation], [result]);
          else model.addOperation(name, [a], [result]);
          for (const operand of name === "SQUARED" ? [a, b] : [a]) read.add(operand);
          values.push(result);
        }
        // Operands that are not read are outputs, and so are some that are read.
        const outputs = values.slice(1).filter((operand, index) => !read.has(operand) || index % 5 === 0);
        model.identifyInputsAndOutputs([input], outputs);
        model.finish();
        const operations: OperationTypeName[] = ["ABS", "NEG", "FLOOR", "MUL"];
        const devices = [0, 1].map((device) =>
          limit(
            `d${device}`,
            operations.filter((_, index) => split[index] === device),
          ),
        );
        const inputs = [[-1.5, 0.25, 3.75]];
        const alone = await compute(model, [reference], {}, inputs);
        const divided = await compute(model, devices, android, inputs);
        expect(divided.values).toEqual(alone.values);
      }),
      { numRuns: 60 },
    );
  });
});

describe("interpreted control flow", () => {
  it.each([
    [1, 128],
    [100, 100],
    [99, 198],
  ])("loops from %i to %i with condition and body on different devices", async (start, end) => {
    const devices = [limit("a", ["LESS"]), limit("b", ["ADD"])];
    const result = await compute(makeDoublingLoop(100), devices, { ...android, cpu: reference }, [[start]]);
    expect(result.values).toEqual([[end]]);
  });

  it("keeps the loop timeout", async () => {
    const devices = [limit("a", ["LESS"]), limit("b", ["ADD"])];
    const compilation = new Compilation(makeDoublingLoop(Number.POSITIVE_INFINITY), devices, {
      ...android,
      cpu: reference,
    });
    await compilation.finish();
    expect(compilation.plan.steps).toMatchObject([{ kind: "while" }]);
    const execution = new Execution(compilation);
    execution.setLoopTimeout(1_000_000n);
    execution.setInput(0, Float32Array.of(0));
    execution.setOutput(0, new Float32Array(1));
    await expect(execution.compute()).rejects.toThrow(
      expect.objectContaining({ code: ResultCode.MISSED_DEADLINE_TRANSIENT }),
    );
  });

  it("allows exactly the loop timeout", async () => {
    const devices = [limit("a", ["LESS"]), limit("b", ["ADD"])];
    // On this clock no time passes.
    const compilation = new Compilation(makeDoublingLoop(100), devices, { ...android, cpu: reference, now: () => 1n });
    await compilation.finish();
    const execution = new Execution(compilation);
    execution.setLoopTimeout(0n);
    const output = new Float32Array(1);
    execution.setInput(0, Float32Array.of(1));
    execution.setOutput(0, output);
    await execution.compute();
    expect([...output]).toEqual([128]);
  });
});

describe("fallback", () => {
  const input = [[-1.5, 2.5]];
  const expected = [[-2, -2]];
  const breakIt = (at: "prepare" | "execute", status?: ErrorStatus) => [
    limit("a", ["FLOOR", "NEG"]),
    makeFailing(limit("b", ["ABS"]), at, status),
  ];

  it("prepares the whole model on the CPU if a device cannot prepare its part", async () => {
    const told: string[] = [];
    const onFallback = (message: string) => told.push(message);
    const result = await compute(chain(), breakIt("prepare"), { ...android, cpu: reference, onFallback }, input);
    expect(result.values).toEqual(expected);
    expect(told).toEqual(["the whole model is prepared on nnhal-reference: b: broken"]);
  });

  it("does not prepare the whole model on the CPU again if the CPU is the only device", async () => {
    const told: string[] = [];
    let prepared = 0;
    const cpu: Device = {
      ...reference,
      async prepareModel() {
        prepared++;
        return { status: ErrorStatus.GENERAL_FAILURE, message: "broken", preparedModel: null };
      },
    };
    const options = { cpu, onFallback: (message: string) => told.push(message) };
    await expect(compute(chain(), [cpu], options, input)).rejects.toThrow("broken");
    expect([prepared, told]).toEqual([1, []]);
  });

  it("prepares a failing step on the CPU once, however often it fails", async () => {
    let prepared = 0;
    const cpu: Device = {
      ...reference,
      prepareModel(model, options) {
        prepared++;
        return reference.prepareModel(model, options);
      },
    };
    const compilation = new Compilation(chain(), [...breakIt("execute"), cpu], { ...android, cpu });
    await compilation.finish();
    for (let count = 0; count < 3; count++) {
      const execution = new Execution(compilation);
      const output = new Float32Array(2);
      execution.setInput(0, Float32Array.of(-1.5, 2.5));
      execution.setOutput(0, output);
      await execution.compute();
      expect([...output]).toEqual([-2, -2]);
    }
    expect(prepared).toBe(1);
  });

  it("runs a failing step again on the CPU, and only that one", async () => {
    const told: string[] = [];
    const onFallback = (message: string) => told.push(message);
    const result = await compute(chain(), breakIt("execute"), { ...android, cpu: reference, onFallback }, input);
    expect(result.values).toEqual(expected);
    expect(told).toEqual(["the step of operations 2 runs again on nnhal-reference"]);
  });

  it("runs the whole model again, and no step, if a step fails on the CPU", async () => {
    const told: string[] = [];
    const onFallback = (message: string) => told.push(message);
    let prepared = 0;
    // Its first prepared model fails: the one of the step.
    const cpu: Device = {
      ...reference,
      prepareModel: (model, options) =>
        (prepared++ === 0 ? makeFailing(reference, "execute") : reference).prepareModel(model, options),
    };
    const devices = [limit("a", ["FLOOR", "NEG"]), cpu];
    const result = await compute(chain(), devices, { ...android, cpu, onFallback }, input);
    expect(result.values).toEqual(expected);
    expect(told).toEqual(["the whole model runs again on nnhal-reference"]);
  });

  it("does not happen with partition 2, nor without a CPU", async () => {
    const options = { ...android, cpu: reference, partition: 2 } as const;
    await expect(compute(chain(), breakIt("prepare"), options, input)).rejects.toThrow("b: broken");
    await expect(compute(chain(), breakIt("execute"), options, input)).rejects.toThrow("broken");
    await expect(compute(chain(), breakIt("execute"), android, input)).rejects.toThrow("broken");
  });

  it("does not happen after a missed deadline", async () => {
    const missed = breakIt("execute", ErrorStatus.MISSED_DEADLINE_TRANSIENT);
    await expect(compute(chain(), missed, { ...android, cpu: reference }, input)).rejects.toThrow(
      expect.objectContaining({ code: ResultCode.MISSED_DEADLINE_TRANSIENT }),
    );
  });

  it("with partition 0 everything runs on the CPU", async () => {
    const compilation = new Compilation(chain(), breakIt("prepare"), { ...android, cpu: reference, partition: 0 });
    await compilation.finish();
    expect(compilation.deviceNames).toEqual(["nnhal-reference"]);
    expect(() => new Compilation(chain(), breakIt("prepare"), { partition: 0 })).toThrow(
      expect.objectContaining({ code: ResultCode.BAD_DATA }),
    );
  });

  it("does not happen if the model is the cause", async () => {
    const unable = [limit("a", ["FLOOR"]), limit("b", ["ABS"])];
    await expect(compute(chain(), unable, android, input)).rejects.toThrow("no device supports operation 3 of 3");
  });
});
