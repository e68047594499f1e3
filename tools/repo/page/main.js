/** A page that lets a network read a digit: the browser check of the gate bundles it, and opens it in Chromium. */
import { load } from "nnhal";

const options = {
  reference: { devices: "reference" },
  // The default: the engine is a file of its own, which is loaded for it.
  wasm: {},
  tfjs: { devices: "tfjs", engines: [() => import("@nnhal/backend-tfjs")] },
  worker: { devices: "reference", worker: true },
};

async function readDigit(way) {
  const model = await load("/demo/digits-uint8.tflite", options[way]);
  const { scores } = await model.run(await pixels("/demo/2-ballpoint.png", 32));
  const [operation] = (await model.explain()).operations;
  await model.close();
  const values = [...scores.data];
  return { digit: values.indexOf(Math.max(...values)), device: operation.device };
}

/** A picture of the server, in a square. */
async function pixels(url, size) {
  const bitmap = await createImageBitmap(await (await fetch(url)).blob(), { resizeWidth: size, resizeHeight: size });
  const context = new OffscreenCanvas(size, size).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  return context.getImageData(0, 0, size, size);
}

async function main() {
  const way = new URLSearchParams(location.search).get("way");
  let answer;
  try {
    answer = await readDigit(way);
  } catch (error) {
    answer = { error: `${error.stack}` };
  }
  document.querySelector("output").value = answer.error ?? `a ${answer.digit}, says ${answer.device}`;
  // The server answers with the next page to open.
  const next = await fetch("/answer", { method: "POST", body: JSON.stringify(answer) });
  const url = await next.text();
  if (url !== "") location.replace(url);
}

main();
