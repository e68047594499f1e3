/**
 * How fast the tfjs backend runs the float network, beside the same network written directly in tfjs with fused operations, on
 * the same engine: interleaved round by round in one process. Minimum and median in milliseconds, the ratio of the minima, and
 * the first execution after preparing beside the median.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source apps/cli/bench/tfjs.ts [ROUNDS] [ENGINE]`; models
 * come from NNHAL_MODELS, by default ../shared/models beside the checkout. What runs from its sources gives every function a name as
 * it is made, which costs the device some percent; `npm run build` and then the same without the condition measures what users get.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tfjsBackend } from "@nnhal/backend-tfjs";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { importTflite, readTflite } from "@nnhal/tflite";
import * as tf from "@tensorflow/tfjs-core";
import { tfjsNetwork } from "./tfjs-network.ts";

const models = process.env.NNHAL_MODELS ?? join(import.meta.dirname, "../../../../shared/models");
const rounds = Number(process.argv[2] ?? 1000);
const engine = process.argv[3] === "cpu" ? "cpu" : "wasm";
const file = readFileSync(join(models, "mobilenet_v1_0.25_128_quant.float.tflite"));
const input = Float32Array.from({ length: 128 * 128 * 3 }, (_, index) => Math.sin(index));

const device = await openDevice({ backend: tfjsBackend({ engine }) });
if ("unavailable" in device) throw new Error(device.unavailable);
const { version } = device.getVersionString();

const compilation = new Compilation(Model.from(importTflite(file).model), [device]);
await compilation.finish();
const bytes = new Uint8Array(input.buffer);
const output = new Uint8Array(1001 * 4);
const ours = async () => {
  const execution = new Execution(compilation);
  execution.setInput(0, bytes);
  execution.setOutput(0, output);
  await execution.compute();
};
const network = tfjsNetwork(readTflite(file));
const theirs = async () => network(input);

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

const first = await timeOf(ours);
const expected = network(input);
const difference = Math.max(
  ...new Float32Array(output.buffer).map((value, index) => Math.abs(value - elementAt(expected, index))),
);
if (difference > 1e-6) throw new Error(`the two differ by ${difference}`);

const times: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
for (let round = 0; round < rounds; round++) {
  // The order changes, since the second one finds other data in the caches.
  const order = round % 2 === 0 ? (["ours", "theirs"] as const) : (["theirs", "ours"] as const);
  for (const name of order) times[name].push(await timeOf(name === "ours" ? ours : theirs));
}
for (const list of Object.values(times)) list.sort((a, b) => a - b);
const describe = (list: readonly number[]) =>
  `min ${elementAt(list, 0).toFixed(3)} ms, median ${elementAt(list, list.length >> 1).toFixed(3)} ms`;
console.log(`${version}, ${tf.memory().numTensors} tensors`);
console.log(`nnhal: ${describe(times.ours)}; the first execution ${first.toFixed(3)} ms`);
console.log(`tfjs directly: ${describe(times.theirs)}`);
const median = (list: readonly number[]) => elementAt(list, list.length >> 1);
console.log(
  `nnhal / tfjs: ${(elementAt(times.ours, 0) / elementAt(times.theirs, 0)).toFixed(3)} (minimum), ${(median(times.ours) / median(times.theirs)).toFixed(3)} (median)`,
);
