/**
 * Times of a network on the reference with one thread and with several, in turn, and the longest block of the event loop. Milliseconds.
 *
 * Run from `apps/cli`: `node --import ../../tools/launcher/src/sources.mjs bench/reference-threads.ts MODEL.tflite [ROUNDS] [THREADS...]`.
 */
import { readFileSync } from "node:fs";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt, elementCount } from "@nnhal/operations";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { importTflite } from "@nnhal/tflite";

const [path = "", rounds = "10", ...counts] = process.argv.slice(2);
const { model } = importTflite(readFileSync(path));
const { operands, inputIndexes, outputIndexes } = model.main;
const bytesOf = (index: number) => {
  const { dimensions } = elementAt(operands, index);
  return new Uint8Array(elementCount(dimensions));
};

async function openWith(threads: number) {
  const device = await openDevice({ backend: createReferenceBackend({ threads }) });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const compilation = new Compilation(Model.from(model), [device]);
  await compilation.finish();
  const inputs = inputIndexes.map((index) => bytesOf(index).map((_, at) => (at * 37) % 251));
  const outputs = outputIndexes.map(bytesOf);
  const times: number[] = [];
  let longest = 0;
  return {
    threads,
    outputs,
    times,
    longest: () => longest,
    async run() {
      const execution = new Execution(compilation);
      inputs.forEach((input, index) => void execution.setInput(index, input));
      outputs.forEach((output, index) => void execution.setOutput(index, output));
      let last = performance.now();
      const watch = () => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        next = setImmediate(watch);
      };
      let next = setImmediate(watch);
      const start = performance.now();
      await execution.compute();
      times.push(performance.now() - start);
      longest = Math.max(longest, performance.now() - last);
      clearImmediate(next);
    },
    close: () => device.close(),
  };
}

const contestants = await Promise.all(
  (counts.length > 0 ? counts : ["1", "2"]).map((count) => openWith(Number(count))),
);
for (let round = 0; round < Number(rounds); round++) for (const { run } of contestants) await run();
for (const { threads, times, longest, outputs, close } of contestants) {
  const [first = 0] = times;
  const sorted = times.slice(1).sort((one, other) => one - other);
  const isEqual = outputs.every(
    (output, at) => Buffer.compare(output, elementAt(contestants[0]?.outputs ?? [], at)) === 0,
  );
  console.log(
    `${threads} threads: first ${first.toFixed(0)}, least ${sorted[0]?.toFixed(1)}, median ${sorted[sorted.length >> 1]?.toFixed(1)}, ` +
      `longest block ${longest().toFixed(1)}, ${isEqual ? "the same results" : "OTHER RESULTS"}`,
  );
  await close();
}
