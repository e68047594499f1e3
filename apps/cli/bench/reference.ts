/**
 * How fast the reference backend runs the shared networks, beside tfjs-backend-cpu on the float one: interleaved round by
 * round in one process, minimum and median in milliseconds, and the ratio.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source apps/cli/bench/reference.ts [ROUNDS]`; models
 * come from NNHAL_MODELS, by default ../shared/models beside the checkout.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { importTflite, readTflite } from "@nnhal/tflite";
import { type Device, OperandType } from "@nnhal/types";
import "@tensorflow/tfjs-backend-cpu";
import * as tf from "@tensorflow/tfjs-core";
import { tfjsNetwork } from "./tfjs-network.ts";

const models = process.env.NNHAL_MODELS ?? join(import.meta.dirname, "../../../../shared/models");
const rounds = Number(process.argv[2] ?? 10);

/** One contestant: runs the network once. */
type Contestant = () => Promise<unknown> | unknown;

async function onDevice(file: string, device: Device): Promise<Contestant> {
  const { model } = importTflite(readFileSync(join(models, file)));
  const compilation = new Compilation(Model.from(model), [device]);
  await compilation.finish();
  const sizeOf = (index: number) => {
    const { type, dimensions } = elementAt(model.main.operands, index);
    return dimensions.reduce((count, extent) => count * extent, type === OperandType.TENSOR_FLOAT32 ? 4 : 1);
  };
  const inputs = model.main.inputIndexes.map((index) => new Uint8Array(sizeOf(index)));
  const outputs = model.main.outputIndexes.map((index) => new Uint8Array(sizeOf(index)));
  return async () => {
    const execution = new Execution(compilation);
    for (const [index, input] of inputs.entries()) execution.setInput(index, input);
    for (const [index, output] of outputs.entries()) execution.setOutput(index, output);
    await execution.compute();
  };
}

/** Runs the contestants in turn and returns the times of each in milliseconds, sorted. */
async function race(contestants: Readonly<Record<string, Contestant>>): Promise<Record<string, number[]>> {
  const times = Object.fromEntries(Object.keys(contestants).map((name): [string, number[]] => [name, []]));
  for (let round = -2; round < rounds; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const start = performance.now();
      await run();
      // Two rounds warm up.
      if (round >= 0) times[name]?.push(performance.now() - start);
    }
  }
  for (const list of Object.values(times)) list.sort((a, b) => a - b);
  return times;
}

const device = await openDevice({ backend: referenceBackend });
if ("unavailable" in device) throw new Error(device.unavailable);
await tf.setBackend("cpu");

const float = "mobilenet_v1_0.25_128_quant.float.tflite";
const network = tfjsNetwork(readTflite(readFileSync(join(models, float))));
const input = new Float32Array(128 * 128 * 3);
const times = await race({
  "mobilenet_v1 0.25 128 float, reference": await onDevice(float, device),
  "mobilenet_v1 0.25 128 float, tfjs-backend-cpu": () => network(input),
  "mobilenet_v1 0.25 128 uint8, reference": await onDevice("mobilenet_v1_0.25_128_quant.tflite", device),
  "mobilenet_v2 1.0 224 uint8, reference": await onDevice("mobilenet_v2_1.0_224_quant.tflite", device),
});
for (const [name, list] of Object.entries(times)) {
  console.log(
    `${name}: min ${elementAt(list, 0).toFixed(1)} ms, median ${elementAt(list, list.length >> 1).toFixed(1)} ms`,
  );
}
const [ours, theirs] = [0, 1].map((place) => elementAt(elementAt(Object.values(times), place), 0));
console.log(`reference / tfjs-backend-cpu: ${(Number(ours) / Number(theirs)).toFixed(2)} (minimum)`);
