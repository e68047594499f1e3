// What is in a picture: node classify.mjs model.tflite cat.jpg
import { classify, load, picture } from "nnhal";

const [modelFile, pictureFile] = process.argv.slice(2);
const model = await load(modelFile);
for (const { index, label, score } of await classify(model, await picture(pictureFile))) {
  console.log(`${(100 * score).toFixed(1).padStart(5)} %  ${label ?? index}`);
}
await model.close();
