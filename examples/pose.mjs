// Where the parts of a body are in a picture: node pose.mjs movenet.tflite person.jpg pose.png
import { writeFile } from "node:fs/promises";
import { draw, encodePng, landmarks, load, personLines, picture } from "nnhal";

const [modelFile, pictureFile, outputFile] = process.argv.slice(2);
const model = await load(modelFile);
// The whole picture in its own proportions: bodies that are stretched are harder to find.
const photo = await picture(pictureFile, { fit: "contain" });
const points = await landmarks(model, photo);
for (const { name, x, y, score } of points) {
  console.log(`${name}: ${Math.round(x)}, ${Math.round(y)} (${(100 * score).toFixed(0)} %)`);
}
await writeFile(outputFile, await encodePng(draw(photo, { points, lines: personLines })));
await model.close();
