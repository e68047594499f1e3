import { readdirSync, readFileSync } from "node:fs";
import { importTflite } from "@nnhal/tflite";
import { minimumVersion } from "@nnhal/validation";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agreement, classifyAll, indexOfGreatest } from "./accuracy.ts";
import { type Classifier, openClassifier } from "./classifier.ts";
import { DEMO_PICTURES, demoPictureName, drawDemoPicture } from "./demo-pictures.ts";
import { DEMO_FOLDER, LABELS_FILE, MODEL_FILES } from "./files.ts";
import { LABELS } from "./glyphs.ts";
import { INPUT_SIZE, shrink } from "./input.ts";
import { decodePng } from "./picture-file.ts";
import { createRandom } from "./random.ts";
import { drawFreshSamples } from "./samples.ts";

const read = (name: string): Uint8Array => readFileSync(new URL(name, DEMO_FOLDER));

describe("the demo folder", () => {
  it("holds what this tool writes, in less than 300 kB", () => {
    const expected = [...Object.values(MODEL_FILES), LABELS_FILE, ...DEMO_PICTURES.map(demoPictureName)];
    expect(readdirSync(DEMO_FOLDER).sort()).toEqual(expected.sort());
    const bytes = expected.reduce((sum, name) => sum + read(name).length, 0);
    expect(bytes).toBeLessThan(300_000);
  });

  it("has a label for each output", () => {
    expect(new TextDecoder().decode(read(LABELS_FILE))).toBe("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  });

  it.each(DEMO_PICTURES)("has the picture that seed $seed draws of $digit in $look", (picture) => {
    const { data, ...size } = decodePng(read(demoPictureName(picture)));
    const { data: drawn, ...drawnSize } = drawDemoPicture(picture);
    expect(size).toEqual(drawnSize);
    expect(Buffer.compare(data, drawn)).toBe(0);
  });

  it("has models as large as the README says", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    for (const name of Object.values(MODEL_FILES)) expect(readme).toContain(`| ${name} | ${read(name).length} |`);
  });
});

/** Pictures that were never drawn before. */
const samples = drawFreshSamples(createRandom(77), 200);

describe.each(Object.values(MODEL_FILES))("%s", (name) => {
  let classifier: Classifier;
  beforeAll(async () => {
    classifier = await openClassifier(read(name));
  });
  afterAll(() => classifier.close());

  it("needs no more than HAL 1.0", () => {
    expect(minimumVersion(importTflite(read(name)).model)).toBe("1.0");
  });

  it.each(DEMO_PICTURES.map(demoPictureName))("recognises %s, and is sure", async (picture) => {
    const probabilities = await classifier.classify(shrink(decodePng(read(picture)), INPUT_SIZE).data);
    expect(LABELS[indexOfGreatest(probabilities)]).toBe(picture[0]);
    expect(Math.max(...probabilities)).toBeGreaterThan(0.9);
    expect(Math.abs(probabilities.reduce((sum, value) => sum + value, 0) - 1)).toBeLessThan(0.03);
  });

  it("is right for at least 97 % of pictures that were never drawn before", async () => {
    expect(agreement(await classifyAll(classifier, samples), samples.digits)).toBeGreaterThanOrEqual(97);
  });
});
