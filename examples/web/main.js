// Classifies a picture in the browser. Put a model beside the page as model.tflite, and bundle this file, for instance with
//   npx vite, or npx esbuild main.js --bundle --format=esm --outfile=bundle.js
import { classify, load, picture } from "nnhal";

const input = document.querySelector("input");
const output = document.querySelector("output");
const show = (text) => {
  output.textContent = text;
};

const model = await load("model.tflite", {
  onProgress: ({ stage, loaded, total }) =>
    show(stage === "read" && total ? `Loading: ${Math.round((100 * loaded) / total)} %` : `Loading: ${stage}`),
});
input.disabled = false;
show("Choose a picture.");

input.addEventListener("change", async () => {
  try {
    const classes = await classify(model, await picture(input.files[0]));
    show(classes.map(({ index, label, score }) => `${label ?? index}: ${(100 * score).toFixed(1)} %`).join(", "));
  } catch (error) {
    show(error.message);
  }
});
