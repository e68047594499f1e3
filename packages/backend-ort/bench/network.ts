/**
 * Compares a .tflite network on the device, from end to end, with the same ONNX model that a program runs directly: in its own form, with
 * unsigned weights on any processor, and in the float form of a quantised network. Runs are interleaved. Prints least and median times in milliseconds.
 *
 * Run from the top of the repository:
 * `npx tsx --conditions=@nnhal/source packages/backend-ort/bench/network.ts MODEL [ROUNDS] [THREADS]`.
 */
import { readFileSync } from "node:fs";
import { viewModel } from "@nnhal/backend";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt, elementCount } from "@nnhal/operations";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { importTflite } from "@nnhal/tflite";
import { type Device, type Model as HalModel, OperandLifeTime, OperandType } from "@nnhal/types";
import * as ort from "onnxruntime-node";
import { sessionOptions } from "../src/engine.ts";
import { portableForms } from "../src/forms.ts";
import { lowerGraph, modelOf } from "../src/lower.ts";
import { formsOfThisProcessor } from "../src/onnx-model.ts";
import { ortBackend } from "../src/ort-backend.ts";

const [path = "", roundsText = "50", threadsText = "1"] = process.argv.slice(2);
const [rounds, threads] = [Number(roundsText), Number(threadsText)];
const { TENSOR_QUANT8_ASYMM, TENSOR_FLOAT32, TENSOR_INT32 } = OperandType;
const bytesOfPool = ({ handle, size }: HalModel["pools"][number]): Uint8Array => {
  if (handle === null || !("buffer" in handle)) throw new Error("the pools of an imported model are buffers");
  return new Uint8Array(handle.buffer, handle.byteOffset, size);
};

/** The network with all 8-bit tensors, and biases, as floats. */
function floatForm(model: HalModel): HalModel {
  const pools = model.pools.map(bytesOfPool);
  const chunks: Float32Array[] = [];
  let length = 0;
  const operands = model.main.operands.map((operand) => {
    const isBias = operand.type === TENSOR_INT32 && operand.scale > 0;
    if (operand.type !== TENSOR_QUANT8_ASYMM && !isBias) return operand;
    const plain = { ...operand, type: TENSOR_FLOAT32, scale: 0, zeroPoint: 0 };
    const { lifetime, location, scale, zeroPoint } = operand;
    if (lifetime !== OperandLifeTime.CONSTANT_REFERENCE && lifetime !== OperandLifeTime.CONSTANT_COPY) return plain;
    const source =
      lifetime === OperandLifeTime.CONSTANT_COPY ? model.operandValues : elementAt(pools, location.poolIndex);
    const bytes = source.slice(location.offset, location.offset + location.length);
    const numbers = isBias ? new Int32Array(bytes.buffer) : bytes;
    const reals = Float32Array.from(numbers, (number) => (number - zeroPoint) * scale);
    chunks.push(reals);
    const moved = { poolIndex: model.pools.length, offset: length, length: reals.byteLength };
    length += reals.byteLength;
    return { ...plain, lifetime: OperandLifeTime.CONSTANT_REFERENCE, location: moved };
  });
  const buffer = new ArrayBuffer(length);
  let end = 0;
  for (const chunk of chunks) {
    new Float32Array(buffer, end, chunk.length).set(chunk);
    end += chunk.byteLength;
  }
  const pool = { name: "ashmem", size: length, handle: { kind: "buffer", buffer, byteOffset: 0 } } as const;
  return { ...model, main: { ...model.main, operands }, pools: [...model.pools, pool] };
}

async function contestantsOf(name: string, model: HalModel, unsignedWeights = false) {
  const opened = await openDevice({ backend: ortBackend({ threads, unsignedWeights }) });
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  const device: Device = opened;
  const forms = unsignedWeights ? portableForms : await formsOfThisProcessor();
  const graph = viewModel({ model, pools: model.pools.map(bytesOfPool) });
  const lowered = lowerGraph(
    graph,
    graph.inputs.map((index) => graph.operands[index]?.dimensions),
    forms,
  );
  const session = await ort.InferenceSession.create(modelOf(lowered), sessionOptions(threads));
  const compilation = new Compilation(Model.from(model), [device]);
  await compilation.finish();
  const feeds: Record<string, ort.Tensor> = {};
  const inputs = lowered.inputs.flatMap((wire) => {
    if (wire === undefined) return [];
    const count = elementCount(wire.info.dimensions);
    const isFloat = wire.type === "float32";
    const data = isFloat ? Float32Array.from({ length: count }, Math.random) : new Uint8Array(count).fill(99);
    feeds[wire.name] = new ort.Tensor(isFloat ? "float32" : "uint8", data, [...wire.info.dimensions]);
    return [data];
  });
  const outputs = lowered.outputs.map(({ type, info }) => {
    const count = elementCount(info.dimensions);
    return type === "float32" ? new Float32Array(count) : new Uint8Array(count);
  });
  return [
    { name: `${name}: session.run`, run: () => session.run(feeds) },
    {
      name: `${name}: Execution.compute`,
      async run() {
        const execution = new Execution(compilation);
        for (const [place, data] of inputs.entries()) execution.setInput(place, data);
        for (const [place, data] of outputs.entries()) execution.setOutput(place, data);
        await execution.compute();
      },
    },
  ];
}

const { model } = importTflite(new Uint8Array(readFileSync(path)));
const isQuantised = model.main.operands.some(({ type }) => type === TENSOR_QUANT8_ASYMM);
const contestants = [
  ...(await contestantsOf(isQuantised ? "uint8" : "float", model)),
  ...(isQuantised ? await contestantsOf("uint8, unsigned weights", model, true) : []),
  ...(isQuantised ? await contestantsOf("float", floatForm(model)) : []),
].map((each) => ({ ...each, times: [] as number[] }));
for (let round = 0; round < rounds; round++) {
  for (const { run, times } of contestants) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
}
for (const { name, times } of contestants) {
  const [first = 0] = times;
  times.sort((a, b) => a - b);
  const [least = 0, median = 0] = [times[0], times[times.length >> 1]];
  console.log(`${name}: least ${least.toFixed(2)}, median ${median.toFixed(2)}, first ${first.toFixed(2)}`);
}
