/**
 * Misuse never corrupts a later use: between valid calls, any number of invalid calls in any order change nothing.
 */
import { elementAt } from "@nnhal/operations";
import type { Device } from "@nnhal/types";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { Burst } from "./burst.ts";
import type { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { Memory } from "./memory.ts";
import { MemoryDesc } from "./memory-desc.ts";
import { Model } from "./model.ts";
import { addModel, compile, float32, openReference } from "./models.test-helper.ts";
import { NeuralNetworksError } from "./result-code.ts";

let device: Device;
let compilation: Compilation;
let other: Compilation;
let burst: Burst;
beforeAll(async () => {
  device = await openReference();
  compilation = await compile(addModel(), [device]);
  other = await compile(addModel(float32(3)), [device]);
  burst = await Burst.create(other);
});

/** A call on a subject. */
type Act<Subject> = (subject: Subject) => unknown;

/** The indexes of the invalid calls before each step. */
const plans = (steps: number) =>
  fc.array(fc.array(fc.nat(1_000), { maxLength: 4 }), { minLength: steps, maxLength: steps });

/** Runs the steps, with invalid calls before each, which must all be refused. */
async function mix<Subject>(
  subject: Subject,
  steps: readonly Act<Subject>[],
  mischief: readonly Act<Subject>[],
  plan: readonly (readonly number[])[],
): Promise<void> {
  for (const [index, step] of steps.entries()) {
    for (const choice of elementAt(plan, index)) {
      const attempt = async () => elementAt(mischief, choice % mischief.length)(subject);
      await expect(attempt()).rejects.toBeInstanceOf(NeuralNetworksError);
    }
    await step(subject);
  }
}

const missing = JSON.parse("null");
const closed = () => {
  const memory = Memory.allocate(8);
  memory.close();
  return memory;
};

describe("calls that are refused", () => {
  it("do not change an execution", async () => {
    const mischief: readonly Act<Execution>[] = [
      (execution) => execution.setInput(2, new Float32Array(2)),
      (execution) => execution.setInput(0, new Float32Array(3)),
      (execution) => execution.setInput(1, new Float32Array(2), [3]),
      (execution) => execution.setInput(0, JSON.parse("{}").absent),
      (execution) => execution.setInputFromMemory(1, closed()),
      (execution) => execution.setInputFromMemory(0, Memory.allocate(8), { offset: 4 }),
      (execution) => execution.setInputFromMemory(0, missing),
      (execution) => execution.setOutput(0, new Float32Array(1)),
      (execution) => execution.setOutput(-1, new Float32Array(2)),
      (execution) => execution.setOutputFromMemory(0, Memory.allocate(4)),
      (execution) => execution.setTimeout(-1n),
      (execution) => execution.setLoopTimeout(-1n),
      (execution) => execution.compute(),
      (execution) => execution.startCompute(),
      (execution) => execution.burstCompute(burst),
      (execution) => execution.startComputeWithDependencies([missing]),
      (execution) => execution.startComputeWithDependencies([]),
      (execution) => execution.getDuration("inDriver"),
      (execution) => execution.getOutputOperandDimensions(0),
      (execution) => execution.getOutputOperandRank(0),
    ];
    const steps = [
      (execution: Execution) => execution.setInput(0, Float32Array.of(1, 2)),
      (execution: Execution) => execution.setInput(1, Float32Array.of(10, 20)),
    ];
    await fc.assert(
      fc.asyncProperty(plans(steps.length + 1), async (plan) => {
        const execution = new Execution(compilation);
        const output = new Float32Array(2);
        await mix(execution, [...steps, () => execution.setOutput(0, output)], mischief, plan);
        await execution.compute();
        expect([...output]).toEqual([11, 22]);
      }),
      { numRuns: 60 },
    );
  });

  it("do not change a model", async () => {
    const mischief: readonly Act<Model>[] = [
      (model) => model.addOperand({ type: JSON.parse('"TENSOR"') }),
      (model) => model.addOperand({ type: "INT32", dimensions: [1] }),
      (model) => model.addOperand(float32(-1)),
      (model) => model.setOperandValue(9, 1),
      (model) => model.setOperandValue(0, new Float32Array(3)),
      (model) => model.setOperandValueFromMemory(0, closed(), 0, 8),
      (model) => model.setOperandValueFromMemory(0, Memory.allocate(8), 4, 8),
      (model) => model.setOperandValueFromModel(0, addModel()),
      (model) => model.setOperandValueFromModel(0, new Model()),
      (model) => model.setOperandSymmPerChannelQuantParams(0, { scales: [1], channelDim: 0 }),
      (model) => model.setOperandExtensionData(0, Uint8Array.of(1)),
      (model) => model.addOperation("ABS", [0], [9]),
      (model) => model.addOperation(JSON.parse('"ABZ"'), [0], [0]),
      (model) => model.identifyInputsAndOutputs([0, 0], []),
      (model) => model.identifyInputsAndOutputs([9], []),
      (model) => model.getExtensionOperandType("com.example.a", -1),
      (model) => model.hal,
      (model) => model.getSupportedOperationsForDevices([device]),
    ];
    const steps: readonly Act<Model>[] = [
      (model) => [float32(2), float32(2), { type: "INT32" } as const, float32(2)].map((one) => model.addOperand(one)),
      (model) => model.setOperandValue(2, 0),
      (model) => model.addOperation("ADD", [0, 1, 2], [3]),
      (model) => model.identifyInputsAndOutputs([0, 1], [3]),
    ];
    await fc.assert(
      fc.asyncProperty(plans(steps.length), async (plan) => {
        const model = new Model();
        await mix(model, steps, mischief, plan);
        model.finish();
        expect(model.hal).toEqual(addModel().hal);
      }),
      { numRuns: 60 },
    );
  });

  it("do not change a descriptor", async () => {
    const mischief: readonly Act<MemoryDesc>[] = [
      (desc) => desc.addInputRole(missing, 0),
      (desc) => desc.addInputRole(compilation, 2),
      (desc) => desc.addInputRole(compilation, 0, 0),
      (desc) => desc.addOutputRole(compilation, 0, 2),
      (desc) => desc.setDimensions([-1]),
      (desc) => desc.setDimensions(missing),
      (desc) => Memory.createFromDesc(desc),
    ];
    const steps: readonly Act<MemoryDesc>[] = [
      (desc) => desc.addInputRole(compilation, 0),
      (desc) => desc.addOutputRole(compilation, 0),
      (desc) => desc.setDimensions([2]),
      (desc) => desc.finish(),
    ];
    await fc.assert(
      fc.asyncProperty(plans(steps.length), async (plan) => {
        const desc = new MemoryDesc();
        await mix(desc, steps, mischief, plan);
        expect(() => desc.addInputRole(other, 0)).toThrow(NeuralNetworksError);
        const memory = await Memory.createFromDesc(desc);
        const plain = Memory.allocate(8);
        await Memory.copy(plain, memory);
        memory.close();
      }),
      { numRuns: 30 },
    );
  });
});
