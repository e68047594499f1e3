/**
 * Random graphs over random devices: what several compute together is to the bit what one computes. The graphs are those of
 * Android's own test of its partitioner: up to 100 operations of twelve kinds on small matrices, each kind with each
 * activation on exactly one device, which is a driver of some HAL version, with some intermediate sizes left open.
 */

import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { androidPolicy, costPolicy } from "@nnhal/driver-core/partition";
import { asV1_0, asV1_1, asV1_2, asV1_3, liftDevice, noncompliantOperations } from "@nnhal/driver-core/versions";
import { elementAt } from "@nnhal/operations";
import {
  Compilation,
  type CompilationOptions,
  Execution,
  Model,
  NeuralNetworksError,
  ResultCode,
} from "@nnhal/runtime";
import { everyWay } from "@nnhal/test-kit/samples";
import {
  type Device,
  ErrorStatus,
  type HidlVersion,
  hidlVersions,
  OperandLifeTime,
  OperandType,
  type OperationTypeName,
} from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { partOf } from "../graphs/parts.ts";
import { createRandom, type Random } from "../random/random.ts";

/** With NNHAL_VECTOR_WAYS=all three times as many. */
const SEEDS = everyWay ? 225 : 75;
const MOST_OPERATIONS = 100;
const MOST_DEVICES = 5;
const SENTINEL = 0xcd;

let reference: Device;
beforeAll(async () => {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  reference = device;
});

const activated = ["ADD", "MUL", "SUB"] as const satisfies readonly OperationTypeName[];
const binary = ["MAXIMUM"] as const satisfies readonly OperationTypeName[];
const unary = ["LOGISTIC", "TANH", "NEG", "SIN", "HARD_SWISH"] as const satisfies readonly OperationTypeName[];
const kinds = [...activated, ...binary, ...unary, "ELU", "TRANSPOSE", "RNN"] as const;

interface Graph {
  readonly model: Model;
  readonly size: number;
  readonly outputCount: number;
}

/** A graph of square matrices. `isOpen`: some intermediate results have no known size. */
function drawGraph(random: Random, isOpen: boolean): Graph {
  const size = random.integer(1, 8);
  const model = new Model();
  const matrix = { type: "TENSOR_FLOAT32", dimensions: [size, size] } as const;
  const numbers = (count: number) => Float32Array.from({ length: count }, () => random.next() * 2 - 1);
  const weights = (...dimensions: number[]) => {
    const operand = model.addOperand({ type: "TENSOR_FLOAT32", dimensions });
    model.setOperandValue(operand, numbers(dimensions.reduce((a, b) => a * b, 1)));
    return operand;
  };
  const activation = () => {
    const operand = model.addOperand({ type: "INT32" });
    model.setOperandValue(operand, random.integer(0, 3));
    return operand;
  };
  const inputs = Array.from({ length: random.integer(1, 3) }, () => model.addOperand(matrix));
  const values = [...inputs];
  const read = new Set<number>();
  const results: number[] = [];
  const count = random.integer(1, MOST_OPERATIONS);
  const open = new Set<number>();
  for (let index = 0; index < count; index++) {
    const kind = random.pick(kinds);
    // Picks mostly new values, so that graphs get long.
    const pick = () =>
      elementAt(values, Math.max(0, values.length - 1 - Math.floor(random.next() ** 2 * values.length)));
    const take = () => {
      const operand = random.chance(0.1) ? weights(size, size) : pick();
      read.add(operand);
      return operand;
    };
    const first = take();
    const result = () => {
      const isUnknown = isOpen && random.chance(0.05);
      const operand = model.addOperand(isUnknown ? { ...matrix, dimensions: [0, 0] } : matrix);
      if (isUnknown) open.add(operand);
      results.push(operand);
      return operand;
    };
    const produced = kind === "RNN" ? [result(), result()] : [result()];
    model.addOperation(kind, [first, ...argumentsOf(kind)], produced);
    values.push(...produced);

    function argumentsOf(name: (typeof kinds)[number]): number[] {
      if (name === "RNN") return [weights(size, size), weights(size, size), weights(size), take(), activation()];
      if (name === "TRANSPOSE") {
        const order = model.addOperand({ type: "TENSOR_INT32", dimensions: [2] });
        model.setOperandValue(order, Int32Array.of(1, 0));
        return [order];
      }
      if (name === "ELU") {
        const alpha = model.addOperand({ type: "FLOAT32" });
        model.setOperandValue(alpha, 0.5);
        return [alpha];
      }
      if (activated.some((one) => one === name)) return [take(), activation()];
      return binary.some((one) => one === name) ? [take()] : [];
    }
  }
  // Results that no operation reads are outputs, and so are some that are read; an output's size may be open too.
  const outputs = results.filter((operand) => !read.has(operand) || (!open.has(operand) && random.chance(0.1)));
  model.identifyInputsAndOutputs(inputs, outputs);
  model.finish();
  return { model, size, outputCount: outputs.length };
}

/** By operation its code and its activation: the unit that devices are given. */
function signatures({ main, operandValues }: Model["hal"]): string[] {
  return main.operations.map(({ type, inputs }) => {
    const last = elementAt(main.operands, elementAt(inputs, inputs.length - 1));
    const isScalar = last.type === OperandType.INT32 && last.lifetime === OperandLifeTime.CONSTANT_COPY;
    return isScalar ? `${type} ${operandValues[last.location.offset]}` : String(type);
  });
}

const faces = { "1.0": asV1_0, "1.1": asV1_1, "1.2": asV1_2, "1.3": asV1_3 } as const;

/** Number of drawn devices of each HAL version. */
type Versions = Map<HidlVersion, number>;

/**
 * Draws devices such that exactly one takes each signature. Each is a driver of a random HAL version that can express its
 * operations.
 */
function drawDevices(random: Random, { model: { hal } }: Graph, drawn: Versions): Device[] {
  const count = random.integer(1, MOST_DEVICES);
  const owner = new Map<string, number>();
  const all = signatures(hal);
  for (const signature of all) {
    if (!owner.has(signature)) owner.set(signature, random.integer(0, count - 1));
  }
  return Array.from({ length: count }, (_, share) => {
    const takes = (signature: string) => owner.get(signature) === share;
    const able = hidlVersions.filter((version) =>
      noncompliantOperations(hal, version).every((operation) => !takes(elementAt(all, operation))),
    );
    const version = random.pick(able);
    drawn.set(version, (drawn.get(version) ?? 0) + 1);
    const device: Device = {
      ...partOf(reference, `driver-${share}`, () => true),
      getSupportedOperations(asked: Model["hal"]) {
        const supported = signatures(asked).map(takes);
        const reasons = supported.map((yes) => (yes ? undefined : "another driver's"));
        return { status: ErrorStatus.NONE, supported, reasons };
      },
    };
    return liftDevice(device.name, faces[version](device));
  });
}

async function compile(model: Model, devices: readonly Device[], options: CompilationOptions = {}) {
  const compilation = new Compilation(model, devices, options);
  await compilation.finish();
  return compilation;
}

/** The outputs' bytes, in base64: strings are compared much faster than elements. */
async function compute(compilation: Compilation, { model, size }: Graph, seed: number): Promise<string[]> {
  const random = createRandom(seed);
  const execution = new Execution(compilation);
  const { inputIndexes, outputIndexes } = model.hal.main;
  for (const input of inputIndexes.keys()) {
    execution.setInput(
      input,
      Float32Array.from({ length: size * size }, () => random.next() * 4 - 2),
    );
  }
  const outputs = outputIndexes.map((_, output) => {
    const bytes = new Uint8Array(4 * size * size).fill(SENTINEL);
    execution.setOutput(output, bytes);
    return bytes;
  });
  await execution.compute();
  for (const output of outputIndexes.keys()) {
    expect(execution.getOutputOperandDimensions(output)).toEqual([size, size]);
  }
  return outputs.map((bytes) => Buffer.from(bytes.buffer).toString("base64"));
}

describe("random graphs over random devices", { timeout: 120_000 }, () => {
  it(`agree with one device to the bit, for ${SEEDS} seeds`, async () => {
    let steps = 0;
    let undivided = 0;
    let operations = 0;
    const versions: Versions = new Map();
    for (let seed = 0; seed < SEEDS; seed++) {
      const random = createRandom(seed);
      const graph = drawGraph(random, random.chance(0.3));
      const devices = drawDevices(random, graph, versions);
      const whole = await compile(graph.model, [reference]);
      const expected = await compute(whole, graph, seed);
      whole.close();
      operations += graph.model.hal.main.operations.length;
      const policy = random.pick([androidPolicy, costPolicy]);
      let divided: Compilation;
      try {
        divided = await compile(graph.model, devices, { policy });
      } catch (error) {
        // Only where a size is not known may nothing be divided; the CPU makes that good.
        expect(error, `seed ${seed}`).toBeInstanceOf(NeuralNetworksError);
        expect(error).toMatchObject({
          code: ResultCode.OP_FAILED,
          message: expect.stringContaining("has no known size"),
        });
        undivided++;
        divided = await compile(graph.model, devices, { policy, cpu: reference });
      }
      steps += divided.plan.steps.length;
      expect(await compute(divided, graph, seed), `seed ${seed}`).toEqual(expected);
      // A second execution finds the memory of the first.
      expect(await compute(divided, graph, seed), `seed ${seed} again`).toEqual(expected);
      divided.close();
    }
    // The seeds serve their purpose: long graphs, many steps, devices of all versions, some graphs that cannot be divided.
    for (const version of hidlVersions) expect(versions.get(version), version).toBeGreaterThan(SEEDS / 20);
    expect(operations).toBeGreaterThan(SEEDS * 30);
    expect(steps).toBeGreaterThan(SEEDS * 5);
    expect(undivided).toBeGreaterThan(SEEDS / 20);
    expect(undivided).toBeLessThan(SEEDS / 2);
  });
});
