/**
 * Networks on the device beside the same networks as gpu.js kernels that one would write first: one for each operation, nested lists in
 * and out, weights as arguments of each call, and results read back between them. Both in one process, interleaved; the ratio is
 * that of the least times, and of the medians. One network is the beginning of a MobileNet, the other works element by element.
 *
 * Run from the top of the repository:
 * `npx tsx --conditions=@nnhal/source packages/backend-gpujs/bench/naive.ts [ROUNDS] [MODE…]`.
 */
import { openDevice } from "@nnhal/driver-core/device";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import type { Device } from "@nnhal/types";
import { gpujsBackend } from "../src/index.ts";
import { type Gpu, loadGpuJs } from "../src/machine/gpujs.ts";
import { type ModeName, modeNames } from "../src/machine/machine.ts";

const rounds = Number(process.argv[2] ?? 200);
const warmUps = 50;
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

/** A model that is being built. */
function builder() {
  const model = new Model();
  const add = (type: "TENSOR_FLOAT32" | "INT32", dimensions: readonly number[], values?: Float32Array | Int32Array) => {
    const index = model.addOperand({ type, dimensions, scale: 0, zeroPoint: 0 });
    if (values !== undefined) model.setOperandValue(index, new Uint8Array(values.buffer));
    return index;
  };
  return {
    model,
    tensor: (dimensions: readonly number[], values?: Float32Array) => add("TENSOR_FLOAT32", dimensions, values),
    int: (value: number) => add("INT32", [], Int32Array.of(value)),
  };
}

async function compile(model: Model, device: Device, first: number, last: number, count: number): Promise<Contestant> {
  model.identifyInputsAndOutputs([first], [last]);
  model.finish();
  const compilation = new Compilation(model, [device]);
  await compilation.finish();
  return async (input) => {
    const execution = new Execution(compilation);
    const output = new Float32Array(count);
    execution.setInput(0, new Uint8Array(input.buffer));
    execution.setOutput(0, new Uint8Array(output.buffer));
    await execution.compute();
    return output;
  };
}

async function convolutions(device: Device, layers: readonly Layer[]): Promise<Contestant> {
  const { model, tensor, int } = builder();
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
  const extent = size / strides.reduce((product, stride) => product * stride, 1);
  return compile(model, device, first, last, extent * extent * channels[channels.length - 1]);
}

/** Operations with a vector along the channels, or with nothing but the element. */
const chain = ["ADD", "MUL", "TANH", "SUB", "LOGISTIC", "MUL", "ADD", "RELU6"] as const;
const chainShape = [64, 64, 16] as const;
const vector = random(16);
const isUnary = (name: string) => name === "TANH" || name === "LOGISTIC" || name === "RELU6";

async function elementwise(device: Device): Promise<Contestant> {
  const { model, tensor, int } = builder();
  const first = tensor([1, ...chainShape]);
  let last = first;
  for (const name of chain) {
    const output = tensor([1, ...chainShape]);
    model.addOperation(name, isUnary(name) ? [last] : [last, tensor([16], vector), int(0)], [output]);
    last = output;
  }
  return compile(model, device, first, last, 64 * 64 * 16);
}

/** [rows][columns][channels] of a list. */
function nest(values: Float32Array, rows: number, columns: number, depth: number): Float32Array[][] {
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) =>
      values.slice((row * columns + column) * depth, (row * columns + column + 1) * depth),
    ),
  );
}

async function gpuIn(mode: ModeName): Promise<Gpu> {
  const { GPU } = await loadGpuJs();
  // gpu.js looks for WebGPU there; the device has started it already.
  if (mode === "webgpu") Object.defineProperty(globalThis, "navigator", { value: { gpu: {} }, configurable: true });
  return new GPU({ mode });
}

type Step = (value: unknown) => Promise<unknown>;

function inSteps(steps: readonly Step[], [rows, columns, depth]: readonly number[]): Contestant {
  return async (input) => {
    let value: unknown = nest(input, rows, columns, depth);
    for (const step of steps) value = await step(value);
    const all = Array.isArray(value) ? value.flat() : [];
    return Float32Array.from(all.flatMap((row) => [...row]));
  };
}

const formulas: Readonly<Record<(typeof chain)[number], string>> = {
  ADD: "x + y",
  MUL: "x * y",
  SUB: "x - y",
  TANH: "Math.tanh(x)",
  LOGISTIC: "1 / (1 + Math.exp(-x))",
  RELU6: "Math.min(Math.max(x, 0), 6)",
};

function naiveChain(gpu: Gpu): Contestant {
  const settings = { output: [...chainShape].reverse(), loopMaxIterations: 1, precision: "single" } as const;
  const steps = chain.map((name): Step => {
    const args = isUnary(name) ? "a" : "a, b";
    const y = isUnary(name) ? "" : "const y = b[this.thread.x];";
    const source = `function (${args}) { const x = a[this.thread.z][this.thread.y][this.thread.x]; ${y} return ${formulas[name]}; }`;
    const kernel = Reflect.apply(gpu.createKernel, gpu, [source, settings]);
    return (value) => (isUnary(name) ? kernel(value) : kernel(value, vector));
  });
  return inSteps(steps, chainShape);
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
  const filter = kind === "depthwise" ? nest(weights, 3, 3, inputs) : nest(weights, 1, outputs, inputs)[0];
  return async (value: unknown): Promise<unknown> => clip(await add(await convolve(value, filter), bias));
}

/** The times of each contestant's runs, in order. */
async function timesOf(contestants: readonly Contestant[], input: Float32Array): Promise<number[][]> {
  const times = contestants.map((): number[] => []);
  for (let round = -warmUps; round < rounds; round++) {
    for (const [place, run] of contestants.entries()) {
      const start = performance.now();
      await run(input);
      if (round >= 0) times[place].push(performance.now() - start);
    }
  }
  return times.map((each) => each.sort((left, right) => left - right));
}

const layers = layersOf();
for (const mode of modes) {
  const device = await openDevice({ backend: gpujsBackend({ mode }) });
  if ("unavailable" in device) {
    console.log(`${mode}: ${device.unavailable}`);
    continue;
  }
  const gpu = await gpuIn(mode);
  const images = inSteps(
    layers.map((layer) => naiveLayer(gpu, layer)),
    [size, size, channels[0]],
  );
  for (const [title, ours, theirs, input] of [
    ["convolutions", await convolutions(device, layers), images, random(size * size * channels[0])],
    ["element by element", await elementwise(device), naiveChain(gpu), random(64 * 64 * 16)],
  ] as const) {
    const results = await Promise.all([ours, theirs].map((run) => run(input)));
    const difference = Math.max(...results[0].map((value, index) => Math.abs(value - results[1][index])));
    const times = await timesOf([ours, theirs], input);
    for (const [name, share] of [
      ["minimum", 0],
      ["median", 0.5],
    ] as const) {
      const [our, their] = times.map((sorted) => sorted[Math.floor(share * (sorted.length - 1))]);
      const ratio = (their / our).toFixed(2);
      console.log(`${mode} ${title}, ${name}: ${our.toFixed(2)} ms, naive ${their.toFixed(2)} ms, ratio ${ratio}`);
    }
    console.log(`${mode} ${title}: the outputs differ by at most ${difference}`);
  }
}
