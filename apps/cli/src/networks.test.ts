/**
 * Trained networks that are not part of this repository, each by its task, as applications load them: on the fastest engine that is
 * installed. NNHAL_MODELS and NNHAL_CORPUS name their folders.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  classify,
  classifyAudio,
  cosineSimilarity,
  detect,
  embed,
  load,
  type Model,
  picture,
  segment,
  top,
} from "@nnhal/network";
import { elementAt } from "@nnhal/operations";
import { corpusFolder, modelsFolder } from "@nnhal/test-kit/folders";
import { afterEach, describe, expect, it } from "vitest";

const cat = join(modelsFolder, "cat.bmp");
const absent = "there are no networks beside the checkout; set NNHAL_MODELS and NNHAL_CORPUS to their folders";
const isThere = existsSync(cat) && existsSync(corpusFolder);

const opened: Model[] = [];
async function open(file: string): Promise<Model> {
  const model = await load(file, { engines: [() => import("@nnhal/backend-ort")] });
  opened.push(model);
  return model;
}
afterEach(async () => void (await Promise.all(opened.splice(0).map((model) => model.close()))));

const floatsOf = (file: string) => new Float32Array(new Uint8Array(readFileSync(file)).buffer);

describe("trained networks", { timeout: 180_000 }, () => {
  it("a classifier sees an Egyptian cat, in three lines", async ({ skip }) => {
    skip(!isThere, absent);
    const model = await open(join(modelsFolder, "mobilenet_v2_1.0_224_quant.tflite"));
    const { scores } = await model.run({ input: await picture(cat) });
    const [best] = top(scores, 5);
    expect(best).toMatchObject({ index: 286, label: "Egyptian cat" });
    expect(await classify(model, await picture(cat), { top: 1 })).toEqual([best]);
    const embedding = await embed(model, await picture(cat));
    expect(embedding).toHaveLength(1001);
    expect(cosineSimilarity(embedding, embedding)).toBeCloseTo(1, 6);
  });

  it("a float classifier returns the scores of another engine", async ({ skip }) => {
    skip(!isThere, absent);
    const model = await open(join(modelsFolder, "mobilenet_v1_0.25_128_quant.float.tflite"));
    const expected = floatsOf(join(modelsFolder, "reference/mobilenet_v1_0.25_128_quant.float.cat.out.bin"));
    const { output } = await model.run(await picture(cat));
    for (const [index, score] of expected.entries()) {
      expect(Math.abs(elementAt(output.data, index) - score)).toBeLessThanOrEqual(1e-4);
    }
  });

  it("a classifier of grey pictures does not see a person", async ({ skip }) => {
    skip(!isThere, absent);
    const model = await open(join(modelsFolder, "person_detect.tflite"));
    const expected = new Int8Array(readFileSync(join(modelsFolder, "reference/person_detect.cat.out.bin")));
    const { output } = await model.run(await picture(cat), { raw: true });
    for (const [index, score] of expected.entries()) {
      expect(Math.abs(Number(output.data[index]) - score)).toBeLessThanOrEqual(3);
    }
  });

  it("a detector finds the cat, and what another engine found", async ({ skip }) => {
    skip(!isThere, absent);
    const file = join(corpusFolder, "tflite-support__coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite");
    const model = await open(file);
    const [first] = await detect(model, await picture(cat));
    expect(first).toMatchObject({ index: 16, label: "cat" });
    // The cat as a person marks it in the picture of 512 x 341.
    const { left = 0, top: above = 0, right = 0, bottom = 0 } = first?.box ?? {};
    for (const [edge, marked] of [
      [left, 50],
      [above, 38],
      [right, 378],
      [bottom, 341],
    ] as const) {
      expect(Math.abs(edge - marked)).toBeLessThan(30);
    }
    const data = new Uint8Array(readFileSync(`${file}.in0.bin`));
    const found = await detect(model, { width: 300, height: 300, data }, { threshold: 0.2 });
    const boxes = floatsOf(`${file}.out0.bin`);
    expect(found).toMatchObject([{ index: elementAt(floatsOf(`${file}.out1.bin`), 0), label: "refrigerator" }]);
    expect(Math.abs((found[0]?.box.bottom ?? 0) / 300 - elementAt(boxes, 2))).toBeLessThan(0.02);
  });

  it("a segmenter marks the cat", async ({ skip }) => {
    skip(!isThere, absent);
    const model = await open(join(corpusFolder, "test_data__deeplabv3_mnv2_pascal_quant.tflite"));
    const { classes, areas, width, height } = await segment(model, await picture(cat));
    // Of the data set PASCAL VOC: 0 is the background, 8 the cat.
    expect(areas.map(({ index }) => index)).toEqual([0, 8]);
    expect([width, height]).toEqual([512, 341]);
    const at = (x: number, y: number) => classes[y * width + x];
    expect([at(255, 160), at(150, 280), at(5, 5), at(500, 320)]).toEqual([8, 8, 0, 0]);
  });

  it("a network for sounds hears what another engine heard", async ({ skip }) => {
    skip(!isThere, absent);
    const file = join(corpusFolder, "tflite-support__yamnet_audio_classifier_with_metadata.tflite");
    const model = await open(file);
    const { classes } = await classifyAudio(model, { rate: 16_000, samples: floatsOf(`${file}.in0.bin`) });
    expect(classes[0]).toMatchObject({ index: 509, label: "Static" });
    expect(classes.map(({ index }) => index)).toEqual(top(floatsOf(`${file}.out0.bin`)).map(({ index }) => index));
  });
});
