/**
 * The public vectors through the programming model: each model is built operand by operand, and executed in every way that
 * there is. `NNHAL_VECTOR_WAYS=all` takes every vector; otherwise half of the sample runs.
 */

import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import {
  Burst,
  Compilation,
  Execution,
  Memory,
  MemoryDesc,
  Model,
  NeuralNetworksError,
  ResultCode,
} from "@nnhal/runtime";
import { everyWay } from "@nnhal/test-kit/samples";
import { type Device, type Operand, operandTypeNames, operandTypes } from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { areThere } from "../vectors/all.test-helper.ts";
import { findDifference } from "../vectors/compare.ts";
import type { Example, ExampleSubgraph } from "../vectors/example.ts";
import { sampleOfVectors } from "./vector-sample.test-helper.ts";

let device: Device;
let examples: readonly Example[] = [];
beforeAll(async () => {
  const opened = await openDevice({ backend: referenceBackend });
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  device = opened;
  examples = (await sampleOfVectors()).filter((_, index) => everyWay || index % 2 === 0);
}, 120_000);

/** Builds a model the way an application does. */
function build(graph: ExampleSubgraph, example: Example): Model {
  const model = new Model();
  for (const [index, operand] of graph.operands.entries()) {
    const { type, dimensions, scale, zeroPoint, lifetime, channelQuant, data } = operand;
    model.addOperand({ type, dimensions, scale, zeroPoint });
    if (channelQuant !== null) model.setOperandSymmPerChannelQuantParams(index, channelQuant);
    if (lifetime === "NO_VALUE") model.setOperandValue(index, null);
    if (data === null) continue;
    if (lifetime === "CONSTANT_COPY") model.setOperandValue(index, data);
    if (lifetime === "CONSTANT_REFERENCE") {
      const memory = Memory.allocate(data.length);
      memory.map().set(data);
      model.setOperandValueFromMemory(index, memory, 0, data.length);
    }
    if (lifetime === "SUBGRAPH") {
      const referenced = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
      model.setOperandValueFromModel(index, build(elementAt(example.referenced, referenced), example));
    }
  }
  // Last first: `finish` puts them into an order in which they can be executed.
  for (const { type, inputs, outputs } of graph.operations.toReversed()) model.addOperation(type, inputs, outputs);
  model.identifyInputsAndOutputs(graph.inputIndexes, graph.outputIndexes);
  model.relaxComputationFloat32toFloat16(example.isRelaxed);
  model.finish();
  return model;
}

/** Room for each output: at least a byte, since it may be without elements. */
function roomFor({ main }: Example): Uint8Array[] {
  return main.outputIndexes.map(
    (index) => new Uint8Array(Math.max(1, elementAt(main.operands, index).data?.length ?? 0)),
  );
}

function withArrays(execution: Execution, { main }: Example, outputs: readonly Uint8Array[]): void {
  for (const [index, operand] of main.inputIndexes.entries())
    execution.setInput(index, elementAt(main.operands, operand).data);
  for (const [index, bytes] of outputs.entries()) execution.setOutput(index, bytes);
}

/** Bytes of an output of the shape that the execution gave it. */
function sizeOf({ type }: Operand, dimensions: readonly number[]): number {
  const name = operandTypeNames.get(type);
  return dimensions.reduce((size, extent) => size * extent, name === undefined ? 0 : operandTypes[name].elementSize);
}

function shapeOf(execution: Execution, index: number): readonly number[] {
  return execution.getOutputOperandRank(index) === 0 ? [] : execution.getOutputOperandDimensions(index);
}

/** Executes an example; resolves to the execution and its outputs. */
type Way = (compilation: Compilation, example: Example) => Promise<[Execution, readonly Uint8Array[]]>;

const plainly =
  (run: (execution: Execution, compilation: Compilation) => Promise<void>): Way =>
  async (compilation, example) => {
    const execution = new Execution(compilation);
    const outputs = roomFor(example);
    withArrays(execution, example, outputs);
    if (example.spec === "V1_3/while_infinite_loop") execution.setLoopTimeout(1_000_000n);
    await run(execution, compilation);
    return [execution, outputs];
  };

const ways: Readonly<Record<string, Way>> = {
  compute: plainly((execution) => execution.compute()),
  startCompute: plainly((execution) => execution.startCompute().wait()),
  async burstCompute(compilation, example) {
    using burst = await Burst.create(compilation);
    return await plainly((execution) => execution.burstCompute(burst))(compilation, example);
  },
  startComputeWithDependencies: plainly(async (execution, compilation) => {
    const { operands, outputIndexes } = compilation.hal.main;
    const isOpen = outputIndexes.some((index) => elementAt(operands, index).dimensions.includes(0));
    const started = execution.startComputeWithDependencies([]);
    if (!isOpen) return (await started).wait();
    await expect(started).rejects.toMatchObject({ code: ResultCode.BAD_DATA });
    await execution.compute();
  }),
  async "compute from memories"(compilation, example) {
    const execution = new Execution(compilation);
    const outputs = roomFor(example);
    for (const [index, operand] of example.main.inputIndexes.entries()) {
      const { data } = elementAt(example.main.operands, operand);
      if (data === null || data.length === 0) {
        execution.setInput(index, data);
        continue;
      }
      const memory = Memory.allocate(data.length + 8);
      memory.map().set(data, 4);
      execution.setInputFromMemory(index, memory, { offset: 4, length: data.length });
    }
    const memories = outputs.map((bytes) => Memory.allocate(bytes.length + 8));
    for (const [index, memory] of memories.entries()) {
      execution.setOutputFromMemory(index, memory, { offset: 4, length: elementAt(outputs, index).length });
    }
    if (example.spec === "V1_3/while_infinite_loop") execution.setLoopTimeout(1_000_000n);
    await execution.compute();
    for (const [index, memory] of memories.entries()) {
      const { length } = elementAt(outputs, index);
      elementAt(outputs, index).set(memory.map().subarray(4, 4 + length));
      const around = [...memory.map().subarray(0, 4), ...memory.map().subarray(4 + length)];
      expect(around, "bytes around an output").toEqual(new Array(8).fill(0));
    }
    return [execution, outputs];
  },
  async "compute from the device's memory"(compilation, example) {
    const execution = new Execution(compilation);
    const outputs = roomFor(example);
    const of = async (side: "addInputRole" | "addOutputRole", index: number) => {
      const desc = new MemoryDesc();
      desc[side](compilation, index);
      desc.finish();
      return Memory.createFromDesc(desc);
    };
    for (const [index, operand] of example.main.inputIndexes.entries()) {
      const { data } = elementAt(example.main.operands, operand);
      if (data === null || data.length === 0) {
        execution.setInput(index, data);
        continue;
      }
      const memory = await of("addInputRole", index);
      const from = Memory.allocate(data.length);
      from.map().set(data);
      await Memory.copy(from, memory);
      execution.setInputFromMemory(index, memory);
    }
    const memories: Memory[] = [];
    for (const index of outputs.keys()) {
      const memory = await of("addOutputRole", index);
      memories.push(memory);
      execution.setOutputFromMemory(index, memory);
    }
    if (example.spec === "V1_3/while_infinite_loop") execution.setLoopTimeout(1_000_000n);
    await execution.compute();
    const { operands, outputIndexes } = compilation.hal.main;
    for (const [index, memory] of memories.entries()) {
      const size = sizeOf(elementAt(operands, elementAt(outputIndexes, index)), shapeOf(execution, index));
      if (size === 0) continue;
      const to = Memory.allocate(size);
      await Memory.copy(memory, to);
      elementAt(outputs, index).set(to.map().subarray(0, elementAt(outputs, index).length));
    }
    return [execution, outputs];
  },
};

/** Compilations, each for all ways. */
const compilations = new Map<Example, Promise<Compilation>>();
afterAll(async () => {
  for (const compilation of compilations.values()) (await compilation.catch(() => undefined))?.close();
});

async function compile(example: Example): Promise<Compilation> {
  const compilation = new Compilation(build(example.main, example), [device]);
  await compilation.finish();
  return compilation;
}

function compilationOf(example: Example): Promise<Compilation> {
  const known = compilations.get(example) ?? compile(example);
  compilations.set(example, known);
  return known;
}

/** The problem of an example; undefined if it passes. */
async function problemOf(example: Example, way: Way): Promise<string | undefined> {
  try {
    const [execution, outputs] = await way(await compilationOf(example), example);
    if (example.expectFailure) return "it had to fail";
    const shapes = outputs.map((_, index) => ({ dimensions: shapeOf(execution, index), isSufficient: true }));
    return findDifference(example, shapes, (index) => elementAt(outputs, index));
  } catch (error) {
    if (error instanceof NeuralNetworksError) return example.expectFailure ? undefined : error.message;
    throw error;
  }
}

describe.skipIf(!areThere)("the public vectors through the programming model", { timeout: 1_800_000 }, () => {
  it.each(Object.entries(ways))("pass by %s", async (_name, way) => {
    const problems: string[] = [];
    for (const example of examples) {
      const problem = await problemOf(example, way);
      if (problem !== undefined) problems.push(`${example.name}: ${problem}`);
    }
    expect(problems.slice(0, 20), `${problems.length} of ${examples.length} failed`).toEqual([]);
    expect(examples.length).toBeGreaterThan(everyWay ? 6000 : 100);
  });
});
