/** Models of a few operands and operations, and sessions over an engine that keeps a record. */
import {
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
  type Subgraph,
} from "@nnhal/types";
import type { BackendSession, CompileOptions, RunContext } from "../contract.ts";
import { viewModel } from "../graph.ts";
import { fakeBackend, type Handle } from "./fake-engine.test-helper.ts";
import type { KernelEngine, KernelTable } from "./kernel.ts";

const { TENSOR_FLOAT32, INT32, SUBGRAPH } = OperandType;
const life = OperandLifeTime;

export const operand = (lifetime: number, dimensions: number[] = [2], more: Partial<Operand> = {}): Operand => ({
  type: TENSOR_FLOAT32,
  dimensions,
  numberOfConsumers: 1,
  scale: 0,
  zeroPoint: 0,
  lifetime,
  location: { poolIndex: 0, offset: 0, length: 0 },
  extraParams: { kind: "none" },
  ...more,
});
export const input = operand(life.SUBGRAPH_INPUT);
export const output = operand(life.SUBGRAPH_OUTPUT);
export const temporary = operand(life.TEMPORARY_VARIABLE);
export const none = operand(life.CONSTANT_COPY, [], { type: INT32, location: { poolIndex: 0, offset: 8, length: 4 } });
export const weights = operand(life.CONSTANT_COPY, [2], { location: { poolIndex: 0, offset: 0, length: 8 } });
export const subgraph = (offset: number) =>
  operand(life.SUBGRAPH, [], { type: SUBGRAPH, location: { poolIndex: 0, offset, length: 0 } });
/** [10, 20], then 0 for NONE. */
export const operandValues = new Uint8Array(12);
operandValues.set(new Uint8Array(Float32Array.of(10, 20).buffer));

export const plus = (inputs: number[], outputs: number[]): Operation => ({ type: OperationType.ADD, inputs, outputs });

export const modelOf = (main: Subgraph, referenced: Subgraph[] = []): Model => ({
  main,
  referenced,
  operandValues,
  pools: [],
  relaxComputationFloat32toFloat16: false,
  extensionNameToPrefix: [],
});

/** out = ((in + weights) + in) + weights */
export const chain = modelOf({
  operands: [input, weights, none, temporary, temporary, output],
  operations: [plus([0, 1, 2], [3]), plus([3, 0, 2], [4]), plus([4, 1, 2], [5])],
  inputIndexes: [0],
  outputIndexes: [5],
});

export const context: RunContext = {
  now: process.hrtime.bigint,
  loopTimeoutDuration: 1_000_000_000n,
  measure: false,
  random: Math.random,
};

export async function openOver(kernels: KernelTable<Handle>, more: Partial<KernelEngine<Handle>> = {}) {
  const { backend, record } = fakeBackend(kernels, more);
  const session = await backend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return { session, record };
}

export const compile = (session: BackendSession, model: Model, more: Partial<CompileOptions> = {}) =>
  session.compile(viewModel({ model, pools: [] }), { preference: 1, priority: 1, ...more });

export async function runOn(session: BackendSession, model: Model, ...values: number[][]) {
  const executable = await compile(session, model);
  const bytes = new Uint8Array(8);
  const inputs = values.map((list) => ({ bytes: new Uint8Array(Float32Array.from(list).buffer), dimensions: [2] }));
  const result = await executable.run(inputs, [{ bytes, dimensions: [2] }], context);
  executable.close();
  return { ...result, values: [...new Float32Array(bytes.buffer)] };
}
