/** Networks of a few operations, and sessions whose threads help with each of them, however small. */
import type { BackendSession, Executable, RunContext, RunResult } from "@nnhal/backend";
import { kernelBackend, viewModel } from "@nnhal/backend";
import type { ExtensionDefinition } from "@nnhal/operations";
import { fromSource } from "@nnhal/test-kit/from-source";
import { modelOf, operand as operandOf, subgraphOf } from "@nnhal/test-kit/models";
import { DeviceType, type Model, type Operand, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { loadLibrary } from "../helper/library.ts";
import { createEngine } from "../reference-backend.ts";
import { createScratch } from "../scratch.ts";
import { startThread } from "../start-node.ts";
import { helpBy } from "./helped.ts";
import { openTeam, type Team } from "./team.ts";

const { TENSOR_FLOAT32, INT32, FLOAT32 } = OperandType;
const { CONSTANT_COPY, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE } = OperandLifeTime;

/** Opens threads that run from sources. */
export const openThreads = (threads: number, patience?: number): Promise<Team> =>
  openTeam({ threads, start: () => startThread(undefined, fromSource), ...(patience !== undefined && { patience }) });

/** A session of the reference that computes with a team; without one, alone. */
export async function sessionOf(team?: Team, extensions: readonly ExtensionDefinition[] = []): Promise<BackendSession> {
  const find = await loadLibrary([], true);
  const helper = team && helpBy({ team, find, kept: createScratch(undefined, 1), least: { first: 0, later: 0 } });
  const backend = kernelBackend({
    name: "reference",
    deviceType: DeviceType.CPU,
    open: async () => createEngine({ extensions }, helper),
  });
  const session = await backend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}

/** A team whose first thread begins each kernel late, so that others take ranges. */
export function withLateness(team: Team): Team {
  const sleep = { units: 1, compute: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1) };
  return {
    ...team,
    compute: (kernel, pieces, before, last) => team.compute(kernel, pieces, [sleep, ...before], last),
  };
}

/** Prepares a model. */
export async function compile(
  session: BackendSession,
  model: Model,
  extensions: readonly ExtensionDefinition[] = [],
): Promise<Executable> {
  return session.compile(viewModel({ model, pools: [], extensions }), { preference: 1, priority: 1 });
}

const context: RunContext = { now: () => 0n, random: () => 0.5, loopTimeoutDuration: 1n, measure: false };

/** A result with the bytes of its output. */
export interface Outcome {
  readonly result: RunResult;
  readonly bytes: Uint8Array;
}

/** Runs a network of one output. */
export async function runOn(
  executable: Executable,
  model: Model,
  inputs: readonly Uint8Array[],
  limits: Partial<RunContext> = {},
): Promise<Outcome> {
  const { operands, inputIndexes, outputIndexes } = model.main;
  const dimensionsOf = (index: number | undefined) => operands[index ?? 0]?.dimensions ?? [];
  const given = inputs.map((bytes, at) => ({ bytes, dimensions: dimensionsOf(inputIndexes[at]) }));
  const dimensions = dimensionsOf(outputIndexes[0]);
  const bytes = new Uint8Array(4 * dimensions.reduce((product, extent) => product * extent, 1));
  const result = await executable.run(given, [{ bytes, dimensions }], { ...context, ...limits });
  return { result, bytes };
}

/** The extents of a network. */
export interface Extents {
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  readonly filters: number;
}

/** Elements in no order. */
export const someFloats = (count: number, from = 1) =>
  Float32Array.from({ length: count }, (_, at) => Math.sin(12.9898 * (at + from)));

/** Kinds of operations from an image to one of the same extents. */
export const kinds = ["depthwise", "pool", "relu", "logistic", "softmax", "double", "scale", "norm", "resize"] as const;
export type Kind = (typeof kinds)[number];

/** A convolution from `channels` to `filters`, operations of some kinds in a row, and a layer of two units. */
export function network({ height, width, channels, filters }: Extents, row: readonly Kind[]): Model {
  const operands: Operand[] = [];
  const operations: { type: number; inputs: number[]; outputs: number[] }[] = [];
  const values: Uint8Array[] = [];
  let offset = 0;
  const add = (type: number, lifetime: number, dimensions: readonly number[], length = 0) =>
    operands.push(operandOf({ type, lifetime, dimensions, location: { poolIndex: 0, offset, length } })) - 1;
  const constant = (type: number, dimensions: readonly number[], data: Float32Array | Int32Array) => {
    const index = add(type, CONSTANT_COPY, dimensions, data.byteLength);
    values.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    offset += data.byteLength;
    return index;
  };
  const floats = (...dimensions: number[]) =>
    constant(
      TENSOR_FLOAT32,
      dimensions,
      someFloats(
        dimensions.reduce((product, extent) => product * extent, 1),
        offset,
      ),
    );
  const int = (value: number) => constant(INT32, [], Int32Array.of(value));
  const float = (value: number) => constant(FLOAT32, [], Float32Array.of(value));
  const [none, one, three, same] = [int(0), int(1), int(3), int(1)];
  const image = [1, height, width, filters];
  const input = add(TENSOR_FLOAT32, SUBGRAPH_INPUT, [1, height, width, channels]);
  let last = add(TENSOR_FLOAT32, TEMPORARY_VARIABLE, image);
  operations.push({
    type: OperationType.CONV_2D,
    inputs: [input, floats(filters, 3, 3, channels), floats(filters), same, one, one, none],
    outputs: [last],
  });
  const inputsOf: Readonly<Record<Kind, (from: number) => [type: number, inputs: number[]]>> = {
    depthwise: (from) => [
      OperationType.DEPTHWISE_CONV_2D,
      [from, floats(1, 3, 3, filters), floats(filters), same, one, one, one, none],
    ],
    pool: (from) => [OperationType.AVERAGE_POOL_2D, [from, same, one, one, three, three, none]],
    relu: (from) => [OperationType.RELU, [from]],
    logistic: (from) => [OperationType.LOGISTIC, [from]],
    softmax: (from) => [OperationType.SOFTMAX, [from, float(0.5)]],
    double: (from) => [OperationType.ADD, [from, from, none]],
    scale: (from) => [OperationType.MUL, [from, floats(filters), none]],
    norm: (from) => [OperationType.L2_NORMALIZATION, [from]],
    resize: (from) => [OperationType.RESIZE_BILINEAR, [from, int(width), int(height)]],
  };
  for (const kind of row) {
    const [type, inputs] = inputsOf[kind](last);
    last = add(TENSOR_FLOAT32, TEMPORARY_VARIABLE, image);
    operations.push({ type, inputs, outputs: [last] });
  }
  const size = height * width * filters;
  const output = add(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [1, 2]);
  operations.push({
    type: OperationType.FULLY_CONNECTED,
    inputs: [last, floats(2, size), floats(2), none],
    outputs: [output],
  });
  const operandValues = new Uint8Array(offset);
  let at = 0;
  for (const bytes of values) {
    operandValues.set(bytes, at);
    at += bytes.length;
  }
  return modelOf(subgraphOf(operands, operations), { operandValues });
}
