// Which class each pixel of a picture has: node segment.mjs deeplab.tflite cat.jpg mask.png
import { writeFile } from "node:fs/promises";
import { draw, encodePng, load, picture, segment } from "nnhal";

// Of the data set PASCAL VOC, which most of these networks were trained with.
const labels =
  "background,aeroplane,bicycle,bird,boat,bottle,bus,car,cat,chair,cow,dining table,dog,horse,motorbike,person,potted plant,sheep,sofa,train,tv".split(
    ",",
  );

const [modelFile, pictureFile, outputFile] = process.argv.slice(2);
const model = await load(modelFile);
const photo = await picture(pictureFile);
const mask = await segment(model, photo, { labels });
for (const { label, share } of mask.areas) console.log(`${label}: ${(100 * share).toFixed(0)} %`);
await writeFile(outputFile, await encodePng(draw(photo, { mask })));
await model.close();
