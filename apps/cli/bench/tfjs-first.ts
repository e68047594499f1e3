/**
 * How the first execution compares with the median of those that follow, on the float network, through runtime, device and tfjs
 * backend: a process of its own for each measurement, since what the first one pays is paid once.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source apps/cli/bench/tfjs-first.ts [PROCESSES] [ENGINE…]`;
 * models come from NNHAL_MODELS, by default ../shared/models beside the checkout.
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tfjsBackend } from "@nnhal/backend-tfjs";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { importTflite } from "@nnhal/tflite";

const models = process.env.NNHAL_MODELS ?? join(import.meta.dirname, "../../../../shared/models");
/** Executions that the median is of, the first among them. */
const executions = 101;

/** Milliseconds of each execution of a model that has just been prepared. */
async function measure(engine: "wasm" | "cpu"): Promise<number[]> {
  const file = readFileSync(join(models, "mobilenet_v1_0.25_128_quant.float.tflite"));
  const device = await openDevice({ backend: tfjsBackend({ engine }) });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const compilation = new Compilation(Model.from(importTflite(file).model), [device]);
  await compilation.finish();
  const input = Float32Array.from({ length: 128 * 128 * 3 }, (_, index) => Math.sin(index));
  const output = new Float32Array(1001);
  const times: number[] = [];
  while (times.length < executions) {
    const start = performance.now();
    const execution = new Execution(compilation);
    execution.setInput(0, input);
    execution.setOutput(0, output);
    await execution.compute();
    times.push(performance.now() - start);
  }
  return times;
}

const median = (list: readonly number[]) =>
  elementAt(
    list.toSorted((a, b) => a - b),
    list.length >> 1,
  );

/** Runs this file in a process of its own. */
function measureApart(engine: string): { first: number; usual: number } {
  const args = ["--import", "tsx", "--conditions=@nnhal/source", fileURLToPath(import.meta.url), "--times", engine];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const times = stdout.trim().split(" ").map(Number);
  return { first: elementAt(times, 0), usual: median(times) };
}

const [mode, ...rest] = process.argv.slice(2);
if (mode === "--times") console.log((await measure(rest[0] === "cpu" ? "cpu" : "wasm")).join(" "));
else {
  const processes = Number(mode ?? 12);
  for (const engine of rest.length > 0 ? rest : ["wasm", "cpu"]) {
    const found = Array.from({ length: processes }, () => measureApart(engine));
    const ratios = found.map(({ first, usual }) => first / usual).sort((a, b) => a - b);
    const shown = ratios.map((ratio) => ratio.toFixed(2)).join(" ");
    const usual = median(found.map((times) => times.usual)).toFixed(2);
    const first = median(found.map((times) => times.first)).toFixed(2);
    console.log(`${engine}: first ${first} ms, usually ${usual} ms (medians of ${processes} processes)`);
    console.log(`${engine}: first / median: ${median(ratios).toFixed(2)} (median); each: ${shown}`);
  }
}
