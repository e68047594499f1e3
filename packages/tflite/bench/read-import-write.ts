/**
 * Times of reading, importing and writing real models: the first time, and the median once the code is warm, in
 * milliseconds.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/tflite/bench/read-import-write.ts [ROUNDS]`;
 * models come from NNHAL_MODELS, by default ../shared/models beside the checkout.
 */
import { elementAt } from "@nnhal/operations";
import { noModels, realModels } from "../src/_files.test-helper.ts";
import { importTflite } from "../src/import/import.ts";
import { readTflite } from "../src/read.ts";
import { writeTflite } from "../src/write.ts";

const rounds = Number(process.argv[2] ?? 50);

function time(action: () => unknown): number {
  const start = performance.now();
  action();
  return performance.now() - start;
}

function measure(action: () => unknown): string {
  const first = time(action);
  const times = Array.from({ length: rounds }, () => time(action)).sort((a, b) => a - b);
  return `${first.toFixed(2)} / ${elementAt(times, Math.floor(rounds / 2)).toFixed(2)}`;
}

if (realModels.length === 0) console.log(noModels);
console.log(["model", "bytes", "operators", "read", "import", "write"].join("\t"));
for (const { name, bytes } of realModels) {
  const read = measure(() => readTflite(bytes));
  const imported = measure(() => importTflite(bytes));
  const model = readTflite(bytes);
  const written = measure(() => writeTflite(model));
  console.log([name, bytes.length, model.subgraphs[0]?.operators.length, read, imported, written].join("\t"));
}
