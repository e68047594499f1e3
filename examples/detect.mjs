// Which things are where in a picture: node detect.mjs ssd.tflite street.jpg found.png
import { writeFile } from "node:fs/promises";
import { detect, draw, encodePng, load, picture } from "nnhal";

const [modelFile, pictureFile, outputFile] = process.argv.slice(2);
const model = await load(modelFile);
const photo = await picture(pictureFile);
const boxes = await detect(model, photo, { threshold: 0.5 });
for (const { label, index, score, box } of boxes) {
  const edges = [box.left, box.top, box.right, box.bottom].map(Math.round).join(", ");
  console.log(`${label ?? index}: ${(100 * score).toFixed(0)} % at ${edges}`);
}
await writeFile(outputFile, await encodePng(draw(photo, { boxes })));
await model.close();
