/**
 * Times the parts of runs between which the event loop may have a turn: of each network in the folders of models and of the corpus that is taken whole, the longest part, and the
 * ten longest of all. No part should take more than 20 ms.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/backend-wasm/bench/blocks.ts [ROUNDS]`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { viewModel } from "@nnhal/backend";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { corpusFolder, modelsFolder } from "@nnhal/test-kit/folders";
import { importTflite } from "@nnhal/tflite";
import { refusalOf } from "../src/plan/plan-graph.ts";
import { findComputeSteps, programOf } from "../src/program.ts";
import { withTflite } from "../src/tflite/lowerings.ts";
import { webAssembly } from "../src/web-assembly.ts";

const rounds = Number(process.argv[2] ?? 5);
/** As in the executable. */
const workBetweenLooks = 2 ** 22;

const api = webAssembly();
if (api === undefined) throw new Error("there is no WebAssembly");
const found: { readonly name: string; readonly step: string; readonly time: number }[] = [];
for (const folder of [modelsFolder, corpusFolder]) {
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".tflite"))) {
    const { model } = importTflite(new Uint8Array(readFileSync(join(folder, name))));
    const pools = model.pools.map(({ handle, size }) => {
      if (handle === null || !("buffer" in handle)) throw new Error("the pools of a model are buffers here");
      return new Uint8Array(handle.buffer, handle.byteOffset, size);
    });
    const graph = viewModel({ model, pools, extensions: [tfliteExtension] });
    const extents = graph.inputs.map((index) => graph.operands[index]?.dimensions ?? []);
    const isTaken = graph.operations.every((view) => refusalOf(view, withTflite, graph.referenced) === undefined);
    if (!isTaken || extents.some((dimensions) => dimensions.includes(0))) continue;
    const program = await programOf({ api, lowerings: withTflite }, graph, extents).catch(() => undefined);
    if (program === undefined) continue;
    for (const { name: step, units, workPerUnit, compute, checks } of findComputeSteps(program.steps)) {
      // Values in memory may break them.
      if (checks !== undefined) continue;
      const most = Math.min(units, Math.max(1, Math.floor(workBetweenLooks / Math.max(1, workPerUnit))));
      let time = Number.POSITIVE_INFINITY;
      for (let round = 0; round < rounds; round++) {
        const began = performance.now();
        compute(0, most);
        time = Math.min(time, performance.now() - began);
      }
      found.push({ name, step, time });
    }
  }
}
for (const { name, step, time } of found.sort((a, b) => b.time - a.time).slice(0, 10))
  console.log(`${time.toFixed(2)} ms  ${step}  (${name})`);
