/**
 * Speed of engines beside the reference, which has 1 in everything: the ratio of the sums of the least times of some operations
 * as networks have them, so that what takes long counts. These are the numbers in the backends' src/capabilities.ts.
 *
 * The energy is that of the whole processor for one run, if the system has RAPL counters that this process may read: the last line of
 * a kind says "measured" then, and its numbers may stand in the field `energy`. Else it says "derived": the energy is taken to be in
 * proportion to the time.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source apps/cli/bench/capabilities.ts [ROUNDS] [ENGINE…]`, where an
 * engine is one of those below.
 */

import { gpujsBackend } from "@nnhal/backend-gpujs";
import { ortBackend } from "@nnhal/backend-ort";
import { referenceBackend } from "@nnhal/backend-reference";
import { tfjsBackend } from "@nnhal/backend-tfjs";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import type { Device, OperandTypeName, OperationTypeName } from "@nnhal/types";
import { type EnergyMeter, openEnergyMeter } from "../src/energy.ts";

const rounds = Number(process.argv[2] ?? 15);
const wanted = process.argv.slice(3);
const engines = [
  ["ort", ortBackend({ threads: 1 })] as const,
  ...(["node", "wasm", "cpu"] as const).map((engine) => [`tfjs-${engine}`, tfjsBackend({ engine })] as const),
  ...(["webgpu", "headlessgl", "webasm", "cpu"] as const).map(
    (mode) => [`gpujs-${mode}`, gpujsBackend({ mode })] as const,
  ),
].filter(([name]) => wanted.length === 0 || wanted.includes(name));

/** Runs an operation once. */
type Contestant = () => Promise<unknown>;

interface Kind {
  readonly tensor: OperandTypeName;
  readonly bias: OperandTypeName;
  readonly size: number;
  readonly scale: number;
  readonly zeroPoint: number;
}

const kinds = {
  float: { tensor: "TENSOR_FLOAT32", bias: "TENSOR_FLOAT32", size: 4, scale: 0, zeroPoint: 0 },
  quantised: {
    tensor: "TENSOR_QUANT8_ASYMM",
    bias: "TENSOR_INT32",
    size: 1,
    scale: 0.5,
    zeroPoint: 128,
  },
} satisfies Record<string, Kind>;

const count = (shape: readonly number[]) => shape.reduce((product, extent) => product * extent, 1);

/** Builds a model of one operation: [shape] of each tensor operand, then INT32 scalars. */
async function prepare(
  device: Device,
  kind: Kind,
  operation: OperationTypeName,
  { input, constants, bias, scalars, output }: Shapes,
): Promise<Contestant> {
  const model = new Model();
  const { tensor, scale, zeroPoint } = kind;
  const inputs: number[] = [];
  const add = (type: OperandTypeName, dimensions: readonly number[], itsScale: number, itsZeroPoint: number) =>
    model.addOperand({ type, dimensions, scale: itsScale, zeroPoint: itsZeroPoint });
  const inputIndex = add(tensor, input, scale, zeroPoint);
  inputs.push(inputIndex);
  for (const shape of constants) {
    const index = add(tensor, shape, scale, zeroPoint);
    model.setOperandValue(index, new Uint8Array(count(shape) * kind.size));
    inputs.push(index);
  }
  if (bias !== undefined) {
    const index = add(kind.bias, [bias], scale * scale, 0);
    model.setOperandValue(index, new Uint8Array(4 * bias));
    inputs.push(index);
  }
  for (const value of scalars) {
    const index = add("INT32", [], 0, 0);
    model.setOperandValue(index, new Uint8Array(Int32Array.of(value).buffer));
    inputs.push(index);
  }
  const outputIndex = add(tensor, output, scale, zeroPoint);
  model.addOperation(operation, inputs, [outputIndex]);
  model.identifyInputsAndOutputs([inputIndex], [outputIndex]);
  model.finish();
  const compilation = new Compilation(model, [device]);
  await compilation.finish();
  const from = new Uint8Array(count(input) * kind.size);
  const to = new Uint8Array(count(output) * kind.size);
  return async () => {
    const execution = new Execution(compilation);
    execution.setInput(0, from);
    execution.setOutput(0, to);
    await execution.compute();
  };
}

interface Shapes {
  readonly input: readonly number[];
  readonly constants: readonly (readonly number[])[];
  readonly bias?: number;
  readonly scalars: readonly number[];
  readonly output: readonly number[];
}

const same = 1;
const image = [1, 28, 28, 64];

const operations: readonly (readonly [title: string, OperationTypeName, Shapes])[] = [
  [
    "CONV_2D 3x3",
    "CONV_2D",
    { input: image, constants: [[64, 3, 3, 64]], bias: 64, scalars: [same, 1, 1, 1], output: image },
  ],
  [
    "CONV_2D 1x1",
    "CONV_2D",
    { input: image, constants: [[64, 1, 1, 64]], bias: 64, scalars: [same, 1, 1, 1], output: image },
  ],
  [
    "DEPTHWISE_CONV_2D",
    "DEPTHWISE_CONV_2D",
    { input: image, constants: [[1, 3, 3, 64]], bias: 64, scalars: [same, 1, 1, 1, 1], output: image },
  ],
  [
    "FULLY_CONNECTED",
    "FULLY_CONNECTED",
    { input: [1, 1024], constants: [[512, 1024]], bias: 512, scalars: [1], output: [1, 512] },
  ],
  ["ADD", "ADD", { input: image, constants: [image], scalars: [0], output: image }],
  [
    "AVERAGE_POOL_2D",
    "AVERAGE_POOL_2D",
    { input: image, constants: [], scalars: [same, 1, 1, 3, 3, 0], output: image },
  ],
];

async function leastTimes(contestants: readonly Contestant[]): Promise<number[]> {
  const least = contestants.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++) {
    for (const [place, run] of contestants.entries()) {
      const start = performance.now();
      await run();
      least[place] = Math.min(elementAt(least, place), performance.now() - start);
    }
  }
  return least;
}

/** Milliseconds for which an operation runs while its energy is counted: the counters move about once a millisecond. */
const energyTime = 500;

/** Joules of the whole processor for one run that takes `time` milliseconds. */
async function energyOf(run: Contestant, time: number, counter: EnergyMeter): Promise<number> {
  const runs = Math.max(3, Math.ceil(energyTime / time));
  counter.readUsed();
  for (let i = 0; i < runs; i++) await run();
  return counter.readUsed() / runs;
}

async function open(backend: Parameters<typeof openDevice>[0]["backend"]): Promise<Device | undefined> {
  const device = await openDevice({ backend });
  return "unavailable" in device ? undefined : device;
}

const meter = openEnergyMeter();
if ("unavailable" in meter) console.log(`energy is derived from the time: ${meter.unavailable}`);
else console.log(`energy is measured: ${meter.zones.join(", ")}`);
const reference = await open(referenceBackend);
if (reference === undefined) throw new Error("there is no reference");
for (const [engine, backend] of engines) {
  const device = await open(backend);
  if (device === undefined) {
    console.log(`${engine}: not here`);
    continue;
  }
  for (const [name, kind] of Object.entries(kinds)) {
    const sums = { ours: 0, theirs: 0 };
    const joules = { ours: 0, theirs: 0 };
    for (const [title, code, shapes] of operations) {
      const pair = [await prepare(reference, kind, code, shapes), await prepare(device, kind, code, shapes)];
      const times = await leastTimes(pair);
      const [theirs, ours] = [elementAt(times, 0), elementAt(times, 1)];
      sums.ours += ours;
      sums.theirs += theirs;
      if (!("unavailable" in meter)) {
        joules.theirs += await energyOf(elementAt(pair, 0), theirs, meter);
        joules.ours += await energyOf(elementAt(pair, 1), ours, meter);
      }
      console.log(`${engine} ${name} ${title}: ${ours.toFixed(3)} ms beside ${theirs.toFixed(3)} ms`);
    }
    const time = (sums.ours / sums.theirs).toFixed(3);
    const energy = joules.theirs > 0 ? `${(joules.ours / joules.theirs).toFixed(3)} (measured)` : `${time} (derived)`;
    console.log(`${engine} ${name}: time ${time}, energy ${energy}`);
  }
}
