/**
 * The longest time that an engine holds the event loop: for single operations on large operands, and for a crowd of clients with
 * endless loops, huge reductions, sorts, fills and conversions at once. Milliseconds: the gap of `monitorEventLoopDelay`, what of it is
 * time of the processor (a busy machine adds delays of its own), and how long the execution takes. Best of some rounds.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source apps/cli/bench/gaps.ts [ENGINE] [ROUNDS] [OPERATION]`,
 * where ENGINE is reference, tfjs or gpujs.
 */

import { monitorEventLoopDelay } from "node:perf_hooks";
import { gpujsBackend } from "@nnhal/backend-gpujs";
import { referenceBackend } from "@nnhal/backend-reference";
import { tfjsBackend } from "@nnhal/backend-tfjs";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { Compilation, Execution, Model, type OperandValue } from "@nnhal/runtime";
import { type Device, type OperandTypeName, type OperationTypeName, Priority } from "@nnhal/types";

const engines = {
  reference: () => referenceBackend,
  tfjs: () => tfjsBackend({ engine: "wasm" }),
  gpujs: () => gpujsBackend({ mode: "webasm" }),
};
const [engine = "reference", rounds = "3", wanted] = process.argv.slice(2);

/** A tensor operand: type and extents; constants have values. */
type Operand = readonly [type: OperandTypeName, dimensions: readonly number[], value?: OperandValue | number];

/** One operation on zeros. */
interface Case {
  readonly name: string;
  readonly operation: OperationTypeName;
  readonly inputs: readonly (Operand | "omitted")[];
  readonly outputs: readonly Operand[];
}

const floats = (...dimensions: number[]): Operand => ["TENSOR_FLOAT32", dimensions];
const halfs = (...dimensions: number[]): Operand => ["TENSOR_FLOAT16", dimensions];
const integers = (...values: number[]): Operand => ["TENSOR_INT32", [values.length], Int32Array.from(values)];
const int = (value: number): Operand => ["INT32", [], value];
const real = (value: number): Operand => ["FLOAT32", [], value];
const yes = (value: boolean): Operand => ["BOOL", [], value ? 1 : 0];
const million = 1 << 20;

/** UNIDIRECTIONAL_SEQUENCE_LSTM without peepholes, projection and normalisation. */
const sequence = (times: number, size: number): Case => ({
  name: `LSTM over ${times} steps of ${size} units`,
  operation: "UNIDIRECTIONAL_SEQUENCE_LSTM",
  inputs: [
    floats(times, 1, size),
    ...[1, 2, 3, 4, 5, 6, 7, 8].map(() => floats(size, size)),
    ...(["omitted", "omitted", "omitted"] as const),
    ...[1, 2, 3, 4].map(() => floats(size)),
    ...(["omitted", "omitted"] as const),
    floats(1, size),
    floats(1, size),
    int(4),
    real(0),
    real(0),
    yes(true),
    ...(["omitted", "omitted", "omitted", "omitted"] as const),
  ],
  outputs: [floats(times, 1, size)],
});

const cases: readonly Case[] = [
  sequence(2000, 32),
  {
    name: "TOPK_V2 of 32768, all of them",
    operation: "TOPK_V2",
    inputs: [floats(32768), int(32768)],
    outputs: [floats(32768), ["TENSOR_INT32", [32768]]],
  },
  {
    name: "TOPK_V2 of 4 M, 1000 of them",
    operation: "TOPK_V2",
    inputs: [floats(4 * million), int(1000)],
    outputs: [floats(1000), ["TENSOR_INT32", [1000]]],
  },
  {
    name: "CONV_2D 112x112x32, 64 filters of 3x3",
    operation: "CONV_2D",
    inputs: [floats(1, 112, 112, 32), floats(64, 3, 3, 32), floats(64), int(1), int(1), int(1), int(0)],
    outputs: [floats(1, 112, 112, 64)],
  },
  {
    name: "DEPTHWISE_CONV_2D 224x224x64, 3x3",
    operation: "DEPTHWISE_CONV_2D",
    inputs: [floats(1, 224, 224, 64), floats(1, 3, 3, 64), floats(64), int(1), int(1), int(1), int(1), int(0)],
    outputs: [floats(1, 224, 224, 64)],
  },
  {
    name: "FULLY_CONNECTED 16x2048 with 2048 units",
    operation: "FULLY_CONNECTED",
    inputs: [floats(16, 2048), floats(2048, 2048), floats(2048), int(0)],
    outputs: [floats(16, 2048)],
  },
  {
    name: "ADD of 4 M",
    operation: "ADD",
    inputs: [floats(4 * million), floats(4 * million), int(0)],
    outputs: [floats(4 * million)],
  },
  { name: "LOGISTIC of 4 M", operation: "LOGISTIC", inputs: [floats(4 * million)], outputs: [floats(4 * million)] },
  {
    name: "SOFTMAX of 4 M",
    operation: "SOFTMAX",
    inputs: [floats(1, 4 * million), real(1)],
    outputs: [floats(1, 4 * million)],
  },
  {
    name: "REDUCE_SUM of 16 M",
    operation: "REDUCE_SUM",
    inputs: [floats(16, million), integers(0, 1), yes(false)],
    outputs: [floats(1)],
  },
  {
    name: "TRANSPOSE of 4 M",
    operation: "TRANSPOSE",
    inputs: [floats(2048, 2048), integers(1, 0)],
    outputs: [floats(2048, 2048)],
  },
  { name: "TILE to 16 M", operation: "TILE", inputs: [floats(million), integers(16)], outputs: [floats(16 * million)] },
  { name: "FILL of 16 M", operation: "FILL", inputs: [integers(16, million), real(1)], outputs: [floats(16, million)] },
  {
    name: "RESHAPE of 16 M",
    operation: "RESHAPE",
    inputs: [floats(16, million), integers(16 * million)],
    outputs: [floats(16 * million)],
  },
  { name: "ABS of 4 M float16", operation: "ABS", inputs: [halfs(4 * million)], outputs: [halfs(4 * million)] },
  {
    name: "AVERAGE_POOL_2D 256x256x32, 7x7",
    operation: "AVERAGE_POOL_2D",
    inputs: [floats(1, 256, 256, 32), int(1), int(1), int(1), int(7), int(7), int(0)],
    outputs: [floats(1, 256, 256, 32)],
  },
  {
    name: "RESIZE_BILINEAR 256x256x16 to 512x512",
    operation: "RESIZE_BILINEAR",
    inputs: [floats(1, 256, 256, 16), int(512), int(512)],
    outputs: [floats(1, 512, 512, 16)],
  },
];

const bytesOf = { TENSOR_FLOAT16: 2, TENSOR_BOOL8: 1 } as Readonly<Record<string, number>>;
const sizeOf = ([type, dimensions]: Operand) =>
  dimensions.reduce((count, extent) => count * extent, bytesOf[type] ?? 4);

/** Builds the model of a case. */
function modelOf({ operation, inputs, outputs }: Case): Model {
  const model = new Model();
  const add = (operand: Operand | "omitted") => {
    if (operand === "omitted") {
      const index = model.addOperand({ type: "TENSOR_FLOAT32", dimensions: [] });
      model.setOperandValue(index, null);
      return index;
    }
    const [type, dimensions, value] = operand;
    const index = model.addOperand(dimensions.length === 0 ? { type } : { type, dimensions });
    if (value !== undefined) model.setOperandValue(index, value);
    return index;
  };
  const given = inputs.map(add);
  const results = outputs.map(add);
  model.addOperation(operation, given, results);
  model.identifyInputsAndOutputs(
    given.filter((_, place) => inputs[place] !== "omitted" && elementAt(inputs, place)[2] === undefined),
    results,
  );
  model.finish();
  return model;
}

/** An execution of a case, again and again. */
async function prepare(
  one: Case,
  device: Device,
  priority: Priority,
): Promise<(deadline?: bigint) => Promise<unknown>> {
  const compilation = new Compilation(modelOf(one), [device]);
  compilation.setPriority?.(priority);
  await compilation.finish();
  const inputs = one.inputs.filter((input) => input !== "omitted").filter(([, , value]) => value === undefined);
  const pools = inputs.map((input) => noise(sizeOf(input)));
  const results = one.outputs.map((output) => new Uint8Array(sizeOf(output)));
  return () => {
    const execution = new Execution(compilation);
    for (const [index, bytes] of pools.entries()) execution.setInput(index, bytes);
    for (const [index, bytes] of results.entries()) execution.setOutput(index, bytes);
    return execution.compute();
  };
}

/** Floats in (-1, 1) that repeat after a while; as float16 they are numbers too. */
function noise(length: number): Uint8Array {
  const pattern = Float32Array.from({ length: 4099 }, (_, index) => Math.sin(index * index));
  const bytes = new Uint8Array(pattern.buffer);
  const all = new Uint8Array(length);
  for (let at = 0; at < length; at += bytes.length) all.set(bytes.subarray(0, length - at), at);
  return all;
}

/** Adds 0 to a number while it is less than 1: without end. */
function endless(): Model {
  const body = new Model();
  const condition = new Model();
  const scalar = { type: "TENSOR_FLOAT32", dimensions: [1] } as const;
  {
    const x = condition.addOperand(scalar);
    const limit = condition.addOperand(scalar);
    condition.setOperandValue(limit, Float32Array.of(1));
    const verdict = condition.addOperand({ type: "TENSOR_BOOL8", dimensions: [1] });
    condition.addOperation("LESS", [x, limit], [verdict]);
    condition.identifyInputsAndOutputs([x], [verdict]);
    condition.finish();
  }
  {
    const x = body.addOperand(scalar);
    const zero = body.addOperand(scalar);
    body.setOperandValue(zero, Float32Array.of(0));
    const none = body.addOperand({ type: "INT32" });
    body.setOperandValue(none, 0);
    const sum = body.addOperand(scalar);
    body.addOperation("ADD", [x, zero, none], [sum]);
    body.identifyInputsAndOutputs([x], [sum]);
    body.finish();
  }
  const model = new Model();
  const references = [condition, body].map((referenced) => {
    const index = model.addOperand({ type: "SUBGRAPH" });
    model.setOperandValueFromModel(index, referenced);
    return index;
  });
  const x = model.addOperand(scalar);
  const result = model.addOperand(scalar);
  model.addOperation("WHILE", [...references, x], [result]);
  model.identifyInputsAndOutputs([x], [result]);
  model.finish();
  return model;
}

/** Measured times, in milliseconds. */
interface Measured {
  /** The greatest delay of the event loop. */
  readonly gap: number;
  /** The most time of the processor between two turns of the event loop: the gap that a machine with nothing else to do has. */
  readonly held: number;
  readonly all: number;
}

/** The best of some rounds. */
async function measure(run: () => Promise<unknown>, times = Number(rounds)): Promise<Measured> {
  let best: Measured = { gap: Number.POSITIVE_INFINITY, held: Number.POSITIVE_INFINITY, all: 0 };
  for (let round = 0; round < times; round++) {
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    await new Promise((resolve) => setTimeout(resolve, 20));
    delays.reset();
    const start = performance.now();
    let isOver = false;
    let held = 0;
    let before = process.cpuUsage();
    const watch = () => {
      const { user, system } = process.cpuUsage(before);
      before = process.cpuUsage();
      held = Math.max(held, (user + system) / 1e3);
      if (!isOver) setImmediate(watch);
    };
    setImmediate(watch);
    await run();
    const all = performance.now() - start;
    await new Promise((resolve) => setTimeout(resolve, 20));
    isOver = true;
    delays.disable();
    best = { gap: Math.min(best.gap, delays.max / 1e6), held: Math.min(best.held, held), all };
  }
  return best;
}

const format = ({ gap, held, all }: Measured) =>
  `gap ${gap.toFixed(1)}, of the processor ${held.toFixed(1)}, all ${all.toFixed(1)}`;

const backend = Object.hasOwn(engines, engine) ? engines[engine as keyof typeof engines]() : undefined;
if (backend === undefined) throw new Error(`there is no engine ${engine}`);
const device = await openDevice({ backend });
if ("unavailable" in device) throw new Error(device.unavailable);
const runs: (() => Promise<unknown>)[] = [];
for (const one of cases) {
  if (wanted !== undefined && !one.name.startsWith(wanted)) continue;
  try {
    const run = await prepare(one, device, Priority.MEDIUM);
    await run();
    runs.push(run);
    console.log(`${one.name}: ${format(await measure(run))}`);
  } catch (error) {
    console.log(`${one.name}: ${error instanceof Error ? error.message : error}`);
  }
}
const loop = new Compilation(endless(), [device]);
await loop.finish();
const runEndless = async () => {
  const execution = new Execution(loop);
  execution.setInput(0, Float32Array.of(0));
  execution.setOutput(0, new Float32Array(1));
  execution.setLoopTimeout?.(2_000_000_000n);
  await execution.compute().catch(() => {});
};
const crowd = await measure(
  () => Promise.all([runEndless(), runEndless(), ...runs.map((run) => run()), ...runs.map((run) => run())]),
  1,
);
console.log(`a crowd of ${2 * runs.length + 2}: ${format(crowd)}`);
await device.close();
