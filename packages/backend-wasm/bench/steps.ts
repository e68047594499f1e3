/**
 * Times a .tflite network step by step: the least milliseconds of each, and its share of the multiply-adds that one core could do. The whole
 * network is measured without the clocks between steps.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/backend-wasm/bench/steps.ts MODEL [ROUNDS]`.
 */
import { readFileSync } from "node:fs";
import { viewModel } from "@nnhal/backend";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { importTflite } from "@nnhal/tflite";
import type { Model } from "@nnhal/types";
import { findComputeSteps, programOf } from "../src/program.ts";
import { withTflite } from "../src/tflite/lowerings.ts";
import { webAssembly } from "../src/web-assembly.ts";

const [path = "", roundsText = "50"] = process.argv.slice(2);
const rounds = Number(roundsText);

function bytesOfPool({ handle, size }: Model["pools"][number]): Uint8Array {
  if (handle === null || !("buffer" in handle)) throw new Error("the pools of an imported model are buffers");
  return new Uint8Array(handle.buffer, handle.byteOffset, size);
}

const api = webAssembly();
if (api === undefined) throw new Error("there is no WebAssembly");
const { model } = importTflite(new Uint8Array(readFileSync(path)));
const graph = viewModel({ model, pools: model.pools.map(bytesOfPool), extensions: [tfliteExtension] });
const start = performance.now();
const program = await programOf(
  { api, lowerings: withTflite },
  graph,
  graph.inputs.map((index) => graph.operands[index]?.dimensions),
);
const prepared = performance.now() - start;
const { plan, bytes } = program;
const steps = findComputeSteps(program.steps);
const least = steps.map(() => Number.POSITIVE_INFINITY);
let whole = Number.POSITIVE_INFINITY;
for (let round = 0; round < rounds; round++) {
  const began = performance.now();
  for (const { units, compute } of steps) compute(0, units);
  whole = Math.min(whole, performance.now() - began);
  for (const [place, { units, compute }] of steps.entries()) {
    const before = performance.now();
    compute(0, units);
    least[place] = Math.min(least[place] ?? 0, performance.now() - before);
  }
}
for (const [place, { name, units, workPerUnit }] of steps.entries()) {
  const time = least[place] ?? 0;
  console.log(
    `${String(place).padStart(3)} ${time.toFixed(3)} ms ${((units * workPerUnit) / time / 1e6).toFixed(2)} Gwork/s ${name}`,
  );
}
console.log(
  `prepare ${prepared.toFixed(0)} ms, module ${bytes.length} bytes, memory ${plan.memory} bytes, constants ${plan.constants}`,
);
console.log(`least ${whole.toFixed(2)} ms`);
