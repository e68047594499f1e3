/**
 * A network on the device beside the same network as gpu.js kernels that one would write first: one for each operation, nested lists in
 * and out, weights as arguments of each call, and results read back between them. Both in one process, interleaved; the ratio is
 * that of the least times.
 *
 * Run from the top of the repository:
 * `npx tsx --conditions=@nnhal/source packages/backend-gpujs/bench/naive.ts [ROUNDS] [MODE…]`.
 */
import { openDevice } from "@nnhal/driver-core/device";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { gpujsBackend } from "../src/index.ts";
import { type Gpu, loadGpuJs } from "../src/machine/gpujs.ts";
import { type ModeName, modeNames } from "../src/machine/machine.ts";

const rounds = Number(process.argv[2] ?? 10);
const wanted = process.argv.slice(3);
const modes = modeNames.filter((mode) => wanted.length === 0 || wanted.includes(mode));

/** A network like the beginning of MobileNet: each block is depthwise 3x3 and pointwise, with biases and RELU6. */
const size = 32;
const channels = [16, 32, 64, 64, 128];
const strides = [1, 2, 1, 2];

const random = (length: number) => Float32Array.from({ length }, (_, index) => Math.sin(index * 12.9898) * 0.1);

interface Layer {
  readonly kind: "depthwise" | "pointwise";
  readonly height: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly stride: number;
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}

function layersOf(): Layer[] {
  const layers: Layer[] = [];
  let height = size;
  strides.forEach((stride, block) => {
    const [inputs, outputs] = [channels[block], channels[block + 1]];
    const depthwise = { kind: "depthwise", height, inputs, outputs: inputs, stride } as const;
    layers.push({ ...depthwise, weights: random(9 * inputs), bias: random(inputs) });
    height /= stride;
    const pointwise = { kind: "pointwise", height, inputs, outputs, stride: 1 } as const;
    layers.push({ ...pointwise, weights: random(inputs * outputs), bias: random(outputs) });
  });
  return layers;
}

/** Runs the network once. */
type Contestant = (input: Float32Array) => Promise<Float32Array>;

const relu6 = 3;
const same = 1;

async function onDevice(mode: ModeName, layers: readonly Layer[]): Promise<Contestant | string> {
  const device = await openDevice({ backend: gpujsBackend({ mode }) });
  if ("unavailable" in device) return device.unavailable;
  const model = new Model();
  const tensor = (dimensions: readonly number[], values?: Float32Array) => {
    const index = model.addOperand({ type: "TENSOR_FLOAT32", dimensions, scale: 0, zeroPoint: 0 });
    if (values !== undefined) model.setOperandValue(index, new Uint8Array(values.buffer));
    return index;
  };
  const int = (value: number) => {
    const index = model.addOperand({ type: "INT32", dimensions: [], scale: 0, zeroPoint: 0 });
    model.setOperandValue(index, new Uint8Array(Int32Array.of(value).buffer));
    return index;
  };
  const first = tensor([1, size, size, channels[0]]);
  let last = first;
  for (const { kind, height, inputs, outputs, stride, weights, bias } of layers) {
    const extent = height / stride;
    const output = tensor([1, extent, extent, outputs]);
    const isDepthwise = kind === "depthwise";
    const filter = tensor(isDepthwise ? [1, 3, 3, inputs] : [outputs, 1, 1, inputs], weights);
    const scalars = [same, stride, stride, ...(isDepthwise ? [1] : []), relu6].map(int);
    const operands = [last, filter, tensor([outputs], bias), ...scalars];
    model.addOperation(isDepthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D", operands, [output]);
    last = output;
  }
  model.identifyInputsAndOutputs([first], [last]);
  model.finish();
  const compilation = new Compilation(model, [device]);
  await compilation.finish();
  const extent = size / strides.reduce((product, stride) => product * stride, 1);
  return async (input) => {
    const execution = new Execution(compilation);
    const output = new Float32Array(extent * extent * channels[channels.length - 1]);
    execution.setInput(0, new Uint8Array(input.buffer));
    execution.setOutput(0, new Uint8Array(output.buffer));
    await execution.compute();
    return output;
  };
}

/** [rows][columns][channels] of a list. */
function nested(values: Float32Array, rows: number, columns: number, depth: number): Float32Array[][] {
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) =>
      values.slice((row * columns + column) * depth, (row * columns + column + 1) * depth),
    ),
  );
}

async function naive(mode: ModeName, layers: readonly Layer[]): Promise<Contestant> {
  const { GPU } = await loadGpuJs();
  // gpu.js looks for WebGPU there; the device has started it already.
  if (mode === "webgpu") Object.defineProperty(globalThis, "navigator", { value: { gpu: {} }, configurable: true });
  const gpu = new GPU({ mode });
  const steps = layers.map((layer) => naiveLayer(gpu, layer));
  return async (input) => {
    let value: unknown = nested(input, size, size, channels[0]);
    for (const step of steps) value = await step(value);
    const rows = Array.isArray(value) ? value.flat() : [];
    return Float32Array.from(rows.flatMap((row) => [...row]));
  };
}

function naiveLayer(gpu: Gpu, { kind, height, inputs, outputs, stride, weights, bias }: Layer) {
  const extent = height / stride;
  const settings = { output: [outputs, extent, extent], loopMaxIterations: 1024, precision: "single" } as const;
  const kernel = (source: string) => Reflect.apply(gpu.createKernel, gpu, [source, settings]);
  // SAME: with a stride of 2 and an even extent all padding is behind. The sums are written as their definition has them, for any filter.
  const filterSize = kind === "depthwise" ? 3 : 1;
  const before = kind === "depthwise" && stride === 1 ? 1 : 0;
  const sum =
    kind === "depthwise"
      ? "sum += a[y][x][this.thread.x] * w[ky][kx][this.thread.x];"
      : `for (let i = 0; i < ${inputs}; i++) { sum += a[y][x][i] * w[this.thread.x][i]; }`;
  const convolve = kernel(`function (a, w) {
  let sum = 0;
  for (let ky = 0; ky < ${filterSize}; ky++) {
    for (let kx = 0; kx < ${filterSize}; kx++) {
      const y = this.thread.z * ${stride} + ky - ${before};
      const x = this.thread.y * ${stride} + kx - ${before};
      if (y >= 0 && y < ${height} && x >= 0 && x < ${height}) {
        ${sum}
      }
    }
  }
  return sum;
}`);
  const add = kernel("function (a, b) { return a[this.thread.z][this.thread.y][this.thread.x] + b[this.thread.x]; }");
  const clip = kernel(
    "function (a) { return Math.min(Math.max(a[this.thread.z][this.thread.y][this.thread.x], 0), 6); }",
  );
  const filter = kind === "depthwise" ? nested(weights, 3, 3, inputs) : nested(weights, 1, outputs, inputs)[0];
  return async (value: unknown): Promise<unknown> => clip(await add(await convolve(value, filter), bias));
}

async function leastTimes(contestants: readonly Contestant[], input: Float32Array): Promise<number[]> {
  const least = contestants.map(() => Number.POSITIVE_INFINITY);
  for (let round = -2; round < rounds; round++) {
    for (const [place, run] of contestants.entries()) {
      const start = performance.now();
      await run(input);
      if (round >= 0) least[place] = Math.min(least[place], performance.now() - start);
    }
  }
  return least;
}

const layers = layersOf();
const input = random(size * size * channels[0]);
for (const mode of modes) {
  const device = await onDevice(mode, layers);
  if (typeof device === "string") {
    console.log(`${mode}: ${device}`);
    continue;
  }
  const contestants = [device, await naive(mode, layers)];
  const [ours, theirs] = await Promise.all(contestants.map((run) => run(input)));
  const difference = Math.max(...ours.map((value, index) => Math.abs(value - theirs[index])));
  const [our, their] = await leastTimes(contestants, input);
  const ratio = (their / our).toFixed(2);
  console.log(`${mode}: ${our.toFixed(2)} ms, naive ${their.toFixed(2)} ms, ratio ${ratio}, difference ${difference}`);
}
