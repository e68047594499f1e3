import { existsSync } from "node:fs";
import { join } from "node:path";
import { corpusFolder, modelsFolder } from "@nnhal/test-kit/folders";
import { describe, expect, it } from "vitest";
import { knownEngines } from "../engines.ts";
import { labelledModel, partsModel, passingModel, pngOf, useFolder } from "../program.test-helper.ts";

const { run, put, get } = useFolder();

const floats = (...values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);

/** Two things in an input of 4 x 3: the first covers the right half, the second the middle. */
const things = floats(...[0, 0.5, 1, 1], ...[0.25, 0.25, 0.75, 0.75], ...[83, 1], ...[0.9, 0.4]);

async function putDetector(): Promise<void> {
  const outputs = [
    ["boxes", [1, 2, 4]],
    ["classes", [1, 2]],
    ["scores", [1, 2]],
  ] as const;
  await put("detector.tflite", partsModel([1, 3, 4, 1], outputs));
  await put("things.bin", things);
}

/** A mask of 8 x 8, of which a quarter is of one class. */
const maskValues = floats(...Array.from({ length: 64 }, (_, cell) => (cell < 16 ? 15 : 0)));

describe("nnhal run with a detector", () => {
  it("shows boxes with scores, not class numbers", async () => {
    await putDetector();
    const { stdout, stderr } = await run(["run", "detector.tflite", "things.bin"]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^task {5}detect$/m);
    const hint = "--labels FILE, coco, coco80 or pascal-voc names the classes.\n";
    expect(stdout.split("\n\n").slice(1)).toEqual(["class 83  0.9000  from 2, 0 to 4, 3", hint]);
    const both = await run(["run", "detector.tflite", "things.bin", "--threshold", "0.4"]);
    expect(both.stdout).toContain("\nclass 1   0.4000  from 1, 1 to 3, 2\n");
    const none = await run(["run", "detector.tflite", "things.bin", "--threshold", "0.95"]);
    expect(none.stdout).toContain("\nnothing with a score of 0.95 or more; --threshold lowers that\n");
  });

  it("has them in --json, with the outputs as they are", async () => {
    await putDetector();
    const { top, seen, outputs } = JSON.parse((await run(["run", "detector.tflite", "things.bin", "--json"])).stdout);
    expect(top).toEqual([]);
    const box = { left: 2, top: 0, right: 4, bottom: 3 };
    const detection = { index: 83, label: null, score: Math.fround(0.9), box };
    expect(seen).toEqual({ task: "detect", threshold: 0.5, detections: [detection] });
    expect(outputs[1]).toMatchObject({ name: "classes", values: [83, 1] });
  });

  it("has them in --csv, and of several inputs under one head", async () => {
    await putDetector();
    await put("none.bin", floats(...Array(12).fill(0)));
    const { stdout } = await run(["run", "detector.tflite", "none.bin", "things.bin", "--csv"]);
    const line = `things.bin,1,83,,${Math.fround(0.9)},2,0,4,3`;
    expect(stdout).toBe(`input,rank,index,label,score,left,top,right,bottom\n${line}\n`);
    const table = (await run(["run", "detector.tflite", "none.bin", "things.bin", "--threshold", "0.3"])).stdout;
    expect(table).toMatch(/^none\.bin {4}nothing with a score of 0\.3 or more {2}[\d.]+ ms$/m);
    expect(table).toMatch(/^things\.bin {2}class 83 {2}0\.9000, and 1 more +[\d.]+ ms$/m);
  });

  it("names things, and has a note about a list that is too short, and only then", async () => {
    await putDetector();
    await put("short.txt", "ant\nbee\n");
    await put("long.txt", Array.from({ length: 84 }, (_, index) => `thing ${index}`).join("\n"));
    const with83 = await run(["run", "detector.tflite", "things.bin", "--labels", "short.txt"]);
    expect(with83.stderr).toBe("nnhal run: note: short.txt has 2 labels, but there is a class 83\n");
    const named = await run(["run", "detector.tflite", "things.bin", "--labels", "long.txt"]);
    expect(named).toMatchObject({ stderr: "", stdout: expect.stringContaining("\nthing 83  0.9000  ") });
  });

  it("shows what --task says, and refuses what the outputs are not", async () => {
    await putDetector();
    const of = async (...args: readonly string[]) => run(["run", "detector.tflite", "things.bin", ...args]);
    expect((await of("--task", "values")).stdout).toContain("\noutput 1: 83, 1\n");
    expect((await of("--task", "values", "--csv")).stdout).toContain("\nthings.bin,classes,0,83\n");
    expect((await of("--task", "classify")).stdout).toMatch(/^0 {2}83\.0000/m);
    expect(await of("--task", "landmarks")).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^task {5}landmarks$/m),
    });
    const twelve = passingModel({ shape: [1, 3, 4, 1] });
    await put("scores.tflite", twelve);
    expect(await run(["run", "scores.tflite", "things.bin", "--task", "detect"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^nnhal run: the outputs do not fit --task: detect: no output of the model can be/),
    });
    expect(await of("--task", "values", "--draw", "seen.png")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("values sees nothing in the picture"),
    });
    expect(await of("--threshold", "much")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("Expected a number, such as 0.3;"),
    });
  });
});

describe("nnhal run with a segmenter", () => {
  it("shows the share of each class", async () => {
    await put("segmenter.tflite", partsModel([1, 8, 8, 1], [["ArgMax", [1, 8, 8]]]));
    await put("mask.bin", maskValues);
    await put("voc.txt", `background\n${Array.from({ length: 15 }, (_, index) => `thing ${index + 1}`).join("\n")}\n`);
    const args = ["run", "segmenter.tflite", "mask.bin", "--labels", "voc.txt"];
    const { stdout, stderr } = await run(args);
    expect(stderr).toBe("");
    expect(stdout.split("\n\n")[1]).toBe("background   75.0 %\nthing 15     25.0 %\n");
    expect((await run([...args, "--csv"])).stdout).toBe(
      "input,rank,index,label,share\nmask.bin,1,0,background,0.75\nmask.bin,2,15,thing 15,0.25\n",
    );
    const several = await run([...args, "mask.bin"]);
    expect(several.stdout).toMatch(/^mask\.bin {2}background 75\.0 %, thing 15 25\.0 % {2}[\d.]+ ms$/m);
  });

  it("takes shares of one class as a mask", async () => {
    await put("selfie.tflite", partsModel([1, 8, 8, 1], [["segmentation", [1, 8, 8, 1]]]));
    await put("shares.bin", floats(...Array.from({ length: 64 }, (_, cell) => (cell < 16 ? 0.5 : 0.499))));
    expect((await run(["run", "selfie.tflite", "shares.bin"])).stdout).toContain("\nclass 1   25.0 %\n");
  });
});

describe("nnhal run with a pose network", () => {
  it("shows points", async () => {
    await put("pose.tflite", partsModel([1, 17, 3, 1], [["out", [1, 1, 17, 3]]]));
    await put("points.bin", floats(...Array.from({ length: 17 }, (_, place) => [place / 17, 0.5, 0.25]).flat()));
    const { stdout } = await run(["run", "pose.tflite", "points.bin"]);
    expect(stdout).toMatch(/^nose {12}0\.2500 {2}at 2, 0$/m);
    expect(stdout).toMatch(/^right ankle {5}0\.2500 {2}at 2, 16$/m);
    expect((await run(["run", "pose.tflite", "points.bin", "--csv"])).stdout).toMatch(
      /^input,index,name,score,x,y\npoints\.bin,0,nose,0\.25,1\.5,0\n/,
    );
    const several = await run(["run", "pose.tflite", "points.bin", "points.bin"]);
    expect(several.stdout).toMatch(/^points\.bin {2}17 landmarks, mean score 0\.2500 {2}[\d.]+ ms$/m);
  });
});

describe("nnhal run with a classifier", () => {
  it("has the best classes as before, and its labels", async () => {
    await put("animals.tflite", labelledModel());
    await put("scores.bin", floats(0, 1, 0));
    const { stdout, stderr } = await run(["run", "animals.tflite", "scores.bin", "--json"]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({ top: [{ index: 1, label: "bee" }, {}, {}] });
    expect(JSON.parse(stdout).seen).toBeUndefined();
  });
});

describe("nnhal batch", () => {
  it("keeps what is seen, and prints it", async () => {
    await putDetector();
    await put("list.txt", "things.bin\n");
    const args = ["batch", "run", "detector.tflite", "list.txt", "--results", "results", "--threads", "1"];
    const { stdout, exitCode } = await run([...args, "--csv"]);
    expect({ stdout, exitCode }).toEqual({
      stdout: `input,rank,index,label,score,left,top,right,bottom\nthings.bin,1,83,,${Math.fround(0.9)},2,0,4,3\n`,
      exitCode: 0,
    });
    expect((await run(["batch", "results", "results"])).stdout).toBe("things.bin  class 83  0.9000\n");
    const json = JSON.parse((await run(["batch", "results", "results", "--json"])).stdout);
    expect(json).toMatchObject({ top: [], seen: { task: "detect", detections: [{ index: 83 }] } });
    expect(await run([...args, "--task", "values", "--draw"])).toMatchObject({ exitCode: 2 });
  });
});

const cat = join(modelsFolder, "cat.bmp");
const absent = "there are no networks beside the checkout; set NNHAL_MODELS and NNHAL_CORPUS to their folders";

describe("trained networks", { timeout: 120_000 }, () => {
  it("see a cat", async ({ skip }) => {
    skip(!existsSync(cat) || !existsSync(corpusFolder), absent);
    const of = async (file: string, ...args: readonly string[]) =>
      run(["run", join(corpusFolder, file), cat, ...args], { engines: knownEngines.slice(0, 2) });
    const ssd = "tflite-support__coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite";
    const detected = await of(ssd, "--draw", "cat.png");
    expect(detected).toMatchObject({ stderr: "", exitCode: 0 });
    expect(detected.stdout).toMatch(/^cat {2}0\.7188 {2}from 44, 45 to 360, 333$/m);
    expect([...(await get("cat.png")).subarray(1, 4)]).toEqual([0x50, 0x4e, 0x47]);
    const segmented = await of("test_data__deeplabv3_mnv2_pascal_quant.tflite");
    expect(segmented.stdout).toMatch(/^class 8 +4[12]\.\d %$/m);
    // Boxes that no operation of the model decodes are values.
    const faces = await of("mediapipe__face_detection_short_range.tflite");
    expect(faces.stdout).toMatch(/^output 0: /m);
  });
});

describe("nnhal run --draw", () => {
  it("draws what was computed, in the colors of the picture", async () => {
    await put("pose.tflite", partsModel([1, 17, 1, 3], [["out", [1, 1, 17, 3]]]));
    await put("dots.png", pngOf(1, 17, Array.from({ length: 17 }, () => [128, 128, 255, 255]).flat()));
    const { stdout, exitCode } = await run(["run", "pose.tflite", "dots.png", "--draw", "seen.png", "--json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).seen.landmarks).toHaveLength(17);
  });
});
