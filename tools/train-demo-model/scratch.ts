import { writeFileSync } from "node:fs";
import { writeTflite } from "@nnhal/tflite";
import { calibrate } from "./src/calibrate.ts";
import { openEngine } from "./src/engine.ts";
import { exportLayers } from "./src/network.ts";
import { createRandom } from "./src/random.ts";
import { drawSamples } from "./src/samples.ts";
import { floatModel, quantisedModel } from "./src/tflite-model.ts";
import { STAGES, train } from "./src/train.ts";

await openEngine();
const t = performance.now();
const out = process.argv[2];
const network = train(20260, process.argv[3] ? JSON.parse(process.argv[3]) : STAGES, (p) =>
  console.log(p.batch, p.rate, p.loss.toFixed(4), Math.round((performance.now() - t) / 1000)),
);
const layers = await exportLayers(network);
const q = await calibrate(network, drawSamples(createRandom(20261), 500).pixels);
console.log(q);
writeFileSync(out + "-float.tflite", writeTflite(floatModel(layers)));
writeFileSync(out + "-uint8.tflite", writeTflite(quantisedModel(layers, q)));
