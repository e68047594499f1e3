// All pictures of a folder as a table: node batch.mjs model.tflite pictures > results.csv
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { classify, load, picture } from "nnhal";

const [modelFile, folder] = process.argv.slice(2);
const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
const model = await load(modelFile);
const files = (await readdir(folder)).filter((file) => /\.(png|jpe?g|webp|gif|bmp)$/i.test(file)).sort();
console.log("file,index,label,score");
for (const file of files) {
  try {
    const [best] = await classify(model, await picture(join(folder, file)), { top: 1 });
    console.log([quoted(file), best.index, quoted(best.label ?? ""), best.score.toFixed(4)].join(","));
  } catch (error) {
    // A file that is broken does not end the work.
    console.error(`${file}: ${error.message}`);
    process.exitCode = 1;
  }
}
await model.close();
