// Several copies of a network, each in a thread of its own: node worker-pool.mjs model.tflite pictures 2
import { readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { classify, load, picture } from "nnhal";

const [modelFile, folder, size = availableParallelism()] = process.argv.slice(2);
const pool = await Promise.all(Array.from({ length: Number(size) }, () => load(modelFile, { worker: true })));
const files = (await readdir(folder)).filter((file) => /\.(png|jpe?g|webp|gif|bmp)$/i.test(file)).sort();
const results = new Map();
const waiting = [...files];
// Each worker takes the next picture when it has finished one.
await Promise.all(
  pool.map(async (model) => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const [best] = await classify(model, await picture(join(folder, file)), { top: 1 });
      results.set(file, best.label ?? best.index);
    }
  }),
);
for (const file of files) console.log(`${file}: ${results.get(file)}`);
await Promise.all(pool.map((model) => model.close()));
