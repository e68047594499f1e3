/**
 * Trains the demo network, writes the demo folder of the command line, measures both files and writes the numbers
 * into the README.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeTflite } from "@nnhal/tflite";
import { agreement, agreementByDigit, classifyAll } from "./accuracy.ts";
import { calibrate } from "./calibrate.ts";
import { openClassifier } from "./classifier.ts";
import { DEMO_PICTURES, demoPictureName, drawDemoPicture } from "./demo-pictures.ts";
import { openEngine } from "./engine.ts";
import { DEMO_FOLDER, LABELS_FILE, MODEL_FILES } from "./files.ts";
import { LABELS } from "./glyphs.ts";
import { exportLayers } from "./network.ts";
import { encodePng } from "./picture-file.ts";
import { createRandom } from "./random.ts";
import { describeMeasured, replaceMeasured } from "./readme.ts";
import { drawFreshSamples, drawSamples } from "./samples.ts";
import { floatModel, quantisedModel } from "./tflite-model.ts";
import { STAGES, train } from "./train.ts";

/** Training, calibration and measurement draw different pictures. */
const SEEDS = { training: 20_260, calibration: 20_261, measurement: 20_262 };
const CALIBRATION_PICTURES = 500;
const MEASURED_PICTURES = 5000;

const say = (line: string): void => console.log(line);

async function trainModels(): Promise<Record<keyof typeof MODEL_FILES, Uint8Array>> {
  await openEngine();
  const start = performance.now();
  const network = train(SEEDS.training, STAGES, ({ batch, batches, rate, loss }) => {
    const seconds = Math.round((performance.now() - start) / 1000);
    say(`batch ${batch}/${batches}  rate ${rate}  loss ${loss.toFixed(4)}  ${seconds} s`);
  });
  const layers = await exportLayers(network);
  const outputs = await calibrate(network, drawSamples(createRandom(SEEDS.calibration), CALIBRATION_PICTURES).pixels);
  return { float: writeTflite(floatModel(layers)), uint8: writeTflite(quantisedModel(layers, outputs)) };
}

function writeDemo(models: Record<keyof typeof MODEL_FILES, Uint8Array>): void {
  mkdirSync(DEMO_FOLDER, { recursive: true });
  const write = (name: string, content: Uint8Array | string): void => {
    writeFileSync(new URL(name, DEMO_FOLDER), content);
    say(`${name}: ${content.length} bytes`);
  };
  write(MODEL_FILES.float, models.float);
  write(MODEL_FILES.uint8, models.uint8);
  write(LABELS_FILE, LABELS.map((label) => `${label}\n`).join(""));
  for (const picture of DEMO_PICTURES) write(demoPictureName(picture), encodePng(drawDemoPicture(picture)));
}

async function measure(models: Record<keyof typeof MODEL_FILES, Uint8Array>): Promise<string> {
  const samples = drawFreshSamples(createRandom(SEEDS.measurement), MEASURED_PICTURES);
  const answersOf = async (name: keyof typeof MODEL_FILES): Promise<number[]> => {
    const classifier = await openClassifier(models[name]);
    const answers = await classifyAll(classifier, samples, (done) =>
      say(`${name}: ${done}/${MEASURED_PICTURES} classified`),
    );
    classifier.close();
    return answers;
  };
  const answers = { float: await answersOf("float"), uint8: await answersOf("uint8") };
  const measured = (["float", "uint8"] as const).map((name) => ({
    name: MODEL_FILES[name],
    bytes: models[name].length,
    accuracy: agreement(answers[name], samples.digits),
    byDigit: agreementByDigit(answers[name], samples.digits),
  }));
  return describeMeasured(measured, MEASURED_PICTURES, agreement(answers.float, answers.uint8));
}

const models = await trainModels();
writeDemo(models);
const measured = await measure(models);
say(measured);
const readme = new URL("../README.md", import.meta.url);
writeFileSync(readme, replaceMeasured(readFileSync(readme, "utf8"), measured));
