import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import {
  addingModel,
  labelledModel,
  passingModel,
  pngOf,
  quantise,
  rememberingModel,
  twoSignaturesModel,
  unknownOperatorModel,
  useFolder,
} from "../program.test-helper.ts";

const { put, get, run, path } = useFolder();

const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

/** The elements that a passing model gets from one grey picture of two pixels. */
async function elementsFor(model: Uint8Array, ...args: readonly string[]): Promise<Uint8Array> {
  await put("model.tflite", model);
  await put("grey.png", pngOf(2, 1, [0, 0, 0, 255, 192, 192, 192, 255]));
  const all = ["run", "model.tflite", "--input", "grey.png", "--output-dir", "out", ...args];
  expect(await run(all)).toMatchObject({ stderr: "", exitCode: 0 });
  return get("out/output0.bin");
}

const shape = [1, 1, 2, 1];

describe("nnhal run", () => {
  it("prints JSON of the promised form", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 4], type: "UINT8", ...quantise(1 / 4, 2) }));
    await put("scores.bin", Uint8Array.of(2, 6, 3, 6));
    await put("labels.txt", "\ufeffant\r\nbee\r\ncat\r\ndog\r\n");
    const args = ["run", "scores.tflite", "--input", "scores.bin", "--labels", "labels.txt", "--top", "3", "--json"];
    const { stdout, stderr, exitCode } = await run(args);
    expect(JSON.parse(stdout)).toEqual({
      model: "scores.tflite",
      device: "nnhal-reference",
      outputs: [
        {
          name: "passed",
          type: "TENSOR_QUANT8_ASYMM",
          shape: [1, 4],
          scale: 0.25,
          zeroPoint: 2,
          values: [0, 1, 0.25, 1],
        },
      ],
      top: [
        { index: 1, label: "bee", score: 1 },
        { index: 3, label: "dog", score: 1 },
        { index: 2, label: "cat", score: 0.25 },
      ],
      // The clock of the tests goes on by 1 ms at each look: one for the import, one for the compilation.
      latencyMs: { prepare: 2, first: 1, min: 1, median: 1 },
    });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  });

  it("prints scores with labels and bars for people", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 3] }));
    await put("scores.bin", floats(0.25, 1, Number.NaN));
    await put("labels.txt", "ant\nbee\x1b[2J\ncat");
    const { stdout } = await run([
      "run",
      "scores.tflite",
      "--input",
      "scores.bin",
      "--labels",
      "labels.txt",
      "--runs",
      "3",
    ]);
    expect(stdout).toMatch(/^model {4}scores\.tflite\ndevice {3}nnhal-reference\n/);
    expect(stdout).toMatch(/^input {4}"given" \(TENSOR_FLOAT32 \[1, 3\]\) from scores\.bin$/m);
    expect(stdout).toMatch(
      /^latency {2}prepared in 2\.00 ms, first run 1\.00 ms; 3 more: fastest 1\.00 ms, median 1\.00 ms$/m,
    );
    expect(stdout).toMatch(/^1 {2}bee \[2J {2}1\.0000 {2}█{24}\n0 {2}ant {6}0\.2500 {2}█{6}\n2 {2}cat {6}NaN$/m);
  });

  it("uses the labels that are packed with the model, unless others are given", async () => {
    await put("animals.tflite", labelledModel());
    await put("animals.bin", floats(1, -3, 2));
    await put("others.txt", "ox\npig\nrat\n");
    const labels = async (...args: readonly string[]) => {
      const { stdout, stderr } = await run(["run", "animals.tflite", "--input", "animals.bin", "--json", ...args]);
      expect(stderr).toBe("");
      return JSON.parse(stdout).top.map(({ label }: { label: string }) => label);
    };
    expect(await labels()).toEqual(["bee", "cat", "ant"]);
    expect(await labels("--labels", "others.txt")).toEqual(["pig", "rat", "ox"]);
  });

  it("runs a signature, with its inputs in its order", async () => {
    await put("two.tflite", twoSignaturesModel());
    await put("one.bin", floats(1, 2, 3, 4));
    await put("ten.bin", floats(10, 20, 30, 40));
    const differ = ["run", "two.tflite", "--signature", "differ", "--input", "one.bin", "--input", "ten.bin"];
    const { stdout } = await run(differ);
    expect(stdout).toMatch(/^output 0: 9, 18, 27, 36$/m);
    expect(JSON.parse((await run([...differ, "--json"])).stdout).outputs[0].signatureName).toBe("rest");
    expect((await run(["run", "two.tflite", "--input", "one.bin"])).stdout).toMatch(/^output 0: 2, 4, 6, 8$/m);
    expect(await problem("two.tflite", "--signature", "other", "--random", "1")).toEqual({
      line: 'the model two.tflite cannot be used: options.signature: there is no signature "other"; there are "double", "differ"',
      exitCode: 2,
    });
  });

  it("refuses a file of labels that is not a text, or holds no label", async () => {
    await put("add.tflite", addingModel());
    for (const [content, said] of [
      [addingModel(), "is a .tflite model, not a text in UTF-8 with one label a line"],
      [Uint8Array.of(0x61, 0xff), "is not a text in UTF-8 with one label a line"],
      ["\n \n", "is empty"],
      ["", "is empty"],
    ] as const) {
      await put("bad.txt", content);
      expect(await problem("add.tflite", "--random", "1", "--labels", "bad.txt")).toEqual({
        line: `the label file bad.txt ${said}`,
        exitCode: 2,
      });
    }
  });

  it("goes on without labels that are packed with the model and broken", async () => {
    const broken = labelledModel();
    // The number of files in the archive.
    broken.set([0xff, 0xff], broken.length - 12);
    await put("broken.tflite", broken);
    const { stdout, stderr, exitCode } = await run(["run", "broken.tflite", "--random", "1", "--json"]);
    expect(stderr).toBe(
      "nnhal run: note: labels that are packed with the model cannot be read: packed files: there are 65535, more than 1000\n",
    );
    expect([exitCode, JSON.parse(stdout).top[0].label]).toEqual([0, null]);
  });

  it("shows values if no output holds scores, and takes one file for each input in order", async () => {
    await put("add.tflite", addingModel());
    await put("left.bin", floats(1, 2, 3, 4));
    await put("right.bin", floats(10, 20, 30, 40));
    const args = ["run", "add.tflite", "--input", "left.bin", "--input", "right.bin", "--output-dir", "deep/er"];
    const { stdout, exitCode } = await run(args);
    expect(stdout).toMatch(/^output 0: 11, 22, 33, 44$/m);
    expect(stdout).toMatch(/^written {2}deep\/er\/output0\.bin$/m);
    expect(new Float32Array((await get("deep/er/output0.bin")).buffer)).toEqual(Float32Array.of(11, 22, 33, 44));
    expect(exitCode).toBe(0);
    expect(JSON.parse((await run([...args, "--json"])).stdout).top).toEqual([]);
  });

  it("puts pixels into 8-bit tensors and normalised ones into floats", async () => {
    const uint8 = passingModel({ shape, type: "UINT8", ...quantise(1 / 64, 100) });
    const int8 = passingModel({ shape, type: "INT8", ...quantise(1 / 64, 10) });
    const float = passingModel({ shape });
    expect([...(await elementsFor(uint8))]).toEqual([0, 192]);
    expect([...new Int8Array(await elementsFor(int8))]).toEqual([-128, 64]);
    expect(await elementsFor(float)).toEqual(floats(-1, 0.5));
    // Given explicitly, real values are quantised: (0 - 64) / 128 = -0.5, (192 - 64) / 128 = 1, in steps of 1 / 64.
    const explicit = ["--mean", "64", "--std", "128"];
    expect([...(await elementsFor(uint8, ...explicit))]).toEqual([68, 164]);
    expect([...new Int8Array(await elementsFor(int8, ...explicit))]).toEqual([-22, 74]);
    expect(await elementsFor(float, ...explicit)).toEqual(floats(-0.5, 1));
    expect([...(await elementsFor(uint8, "--std", "32"))]).toEqual([0, 228]);
  });

  it("normalises each channel by its own numbers", async () => {
    const model = passingModel({ shape: [1, 1, 2, 3] });
    const elements = await elementsFor(model, "--mean", "0,64,192", "--std", "1,2,4");
    expect(elements).toEqual(floats(0, -32, -48, 192, 64, 0));
  });

  it("fills inputs with the same noise for the same seed", async () => {
    await put("noise.tflite", passingModel({ shape: [1, 64] }));
    const noise = async (seed: string) => {
      await run(["run", "noise.tflite", "--random", seed, "--output-dir", "noise"]);
      return new Float32Array((await get("noise/output0.bin")).buffer);
    };
    const first = await noise("1");
    expect(first.every((value) => value >= -1 && value < 1)).toBe(true);
    expect(new Set(first).size).toBeGreaterThan(60);
    expect(await noise("1")).toEqual(first);
    expect(await noise("2")).not.toEqual(first);
  });

  it("starts state at zero in every run", async () => {
    await put("state.tflite", rememberingModel());
    await put("three.bin", floats(3));
    const { stdout } = await run(["run", "state.tflite", "--input", "three.bin", "--runs", "2", "--json"]);
    const { outputs, top } = JSON.parse(stdout);
    expect(outputs).toHaveLength(1);
    expect(top).toEqual([
      { index: 1, label: null, score: 6 },
      { index: 0, label: null, score: 3 },
    ]);
  });

  it("says when labels do not fit", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 4] }));
    await put("three.txt", "a\nb\nc\n");
    const { stderr, stdout, exitCode } = await run([
      "run",
      "scores.tflite",
      "--random",
      "1",
      "--labels",
      "three.txt",
      "--json",
    ]);
    expect(stderr).toBe("nnhal run: note: three.txt has 3 labels, but the output has 4 classes\n");
    expect(JSON.parse(stdout).top.find(({ index }: { index: number }) => index === 3).label).toBeNull();
    expect(exitCode).toBe(0);
  });

  it("finishes and leaves no bar if stderr is a terminal and the work is short", async () => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true });
    await put("add.tflite", addingModel());
    expect((await run(["run", "add.tflite", "--random", "1"], { stderr })).exitCode).toBe(0);
    expect(stderr.read()).toBeNull();
  });
});

/** Runs what cannot work: one line on stderr, nothing on stdout. */
async function problem(...args: readonly string[]): Promise<{ readonly line: string; readonly exitCode: number }> {
  const { stdout, stderr, exitCode } = await run(["run", ...args]);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^nnhal run: [^\n]+\n$/);
  return { line: stderr.slice("nnhal run: ".length, -1), exitCode };
}

describe("nnhal run, given something wrong", () => {
  it("says why a model cannot run and exits with 1", async () => {
    const whole = addingModel();
    await put("cut.tflite", whole.subarray(0, whole.length >> 1));
    await put("text.tflite", "This is not a model.\nNot at all.\n");
    await put("empty.tflite", "");
    await put("custom.tflite", unknownOperatorModel());
    await put("huge.tflite", passingModel({ shape: [1, 2 ** 29 + 1] }));
    expect(await problem("cut.tflite", "--random", "1")).toEqual({
      line: expect.stringMatching(/^the model cut\.tflite cannot be used: /),
      exitCode: 2,
    });
    expect(await problem("text.tflite", "--random", "1")).toEqual({
      line: "the model text.tflite cannot be used: it is a text",
      exitCode: 2,
    });
    expect((await problem("empty.tflite", "--random", "1")).line).toBe(
      "the model empty.tflite cannot be used: it is empty",
    );
    expect(await problem("huge.tflite", "--random", "1")).toEqual({
      line: 'the model huge.tflite cannot be used: "given" (TENSOR_FLOAT32 [1, 536870913]) takes more than 2 GiB',
      exitCode: 1,
    });
    expect(await problem("custom.tflite", "--random", "1")).toEqual({
      line: expect.stringMatching(
        /operators\[0\].*the HAL has no counterpart of the custom operator "Frobnicate"; give an extension with an operation of its name/,
      ),
      exitCode: 1,
    });
  });

  it("says which package adds an operator of MediaPipe, and runs it with that", async () => {
    await put("landmarks.tflite", unknownOperatorModel("TransformLandmarks"));
    const { stderr, exitCode } = await run(["run", "landmarks.tflite", "--random", "1"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(
        /counterpart of the custom operator "TransformLandmarks"; install @nnhal\/extension-mediapipe, and give it: --extension @nnhal\/extension-mediapipe/,
      ),
    });
    const module = import.meta.resolve("@nnhal/extension-mediapipe");
    const extension = ["--extension", module];
    // The operator of the file lacks its matrix: now the extension says so.
    const given = await run([...extension, "run", "landmarks.tflite", "--random", "1"]);
    expect(given.stderr).toMatch(
      /the options of the custom operator TransformLandmarks cannot be read: dimensions: expected 2 or 3, got 0/,
    );
  });

  it("gives an answer for a model cut anywhere", { timeout: 60_000 }, async () => {
    const whole = addingModel();
    for (let length = 0; length < whole.length; length += 7) {
      await put("cut.tflite", whole.subarray(0, length));
      const { stdout, stderr, exitCode } = await run(["run", "cut.tflite", "--random", "1"]);
      if (exitCode !== 0) {
        expect({ stdout, exitCode, lines: stderr.split("\n").length }).toEqual({ stdout: "", exitCode: 2, lines: 2 });
        expect(stderr).toContain("cannot be used");
      }
    }
  });

  it("names files that cannot be read and exits with 2", async () => {
    await put("add.tflite", addingModel());
    const missing = "the file does not exist";
    expect(await problem("gone.tflite", "--random", "1")).toEqual({
      line: `cannot read the model gone.tflite: ${missing}`,
      exitCode: 2,
    });
    expect(await problem("add.tflite", "--input", "gone.png", "--input", "gone.png")).toEqual({
      line: `cannot read the input gone.png: ${missing}`,
      exitCode: 2,
    });
    expect(await problem("add.tflite", "--random", "1", "--labels", "gone.txt")).toEqual({
      line: `cannot read the label file gone.txt: ${missing}`,
      exitCode: 2,
    });
    expect(await problem(path("."), "--random", "1")).toMatchObject({
      line: expect.stringMatching(/ is a folder; in it: [^,]*add\.tflite, /),
      exitCode: 2,
    });
    await put("file", "");
    expect(await problem("add.tflite", "--random", "1", "--output-dir", "file")).toEqual({
      line: expect.stringMatching(/^cannot write file.output0\.bin: /),
      exitCode: 2,
    });
  });

  it("refuses inputs that do not fit and exits with 2", async () => {
    await put("add.tflite", addingModel());
    await put("short.bin", new Uint8Array(15));
    await put("long.bin", new Uint8Array(17));
    await put("text.png", "no picture");
    await put("cut.png", pngOf(1, 1, [1, 2, 3, 255]).subarray(0, 40));
    await put("dot.png", pngOf(1, 1, [1, 2, 3, 255]));
    const inputs = '"left" (TENSOR_FLOAT32 [2, 2]), "right" (TENSOR_FLOAT32 [2, 2])';
    const lineFor = async (file: string) => {
      const { line, exitCode } = await problem("add.tflite", "--input", file, "--input", file);
      expect(exitCode).toBe(2);
      return line;
    };
    const takes = 'the input "left" (TENSOR_FLOAT32 [2, 2]) takes 16';
    expect(await lineFor("short.bin")).toBe(`the input short.bin has 15 bytes, but ${takes}`);
    expect(await lineFor("long.bin")).toBe(`the input long.bin has 17 bytes, but ${takes}`);
    expect(await lineFor("text.png")).toBe(
      "the input text.png is not a PNG, JPEG, WebP, GIF or BMP picture, a .npy or WAV file, or numbers; raw tensors need a name in .bin",
    );
    expect(await lineFor("cut.png")).toMatch(/^the input cut\.png is a PNG picture that cannot be read: /);
    expect(await lineFor("dot.png")).toMatch(/cannot take the picture dot\.png: a picture needs the shape \[1, height/);
    expect(await problem("add.tflite", "--input", "short.bin")).toEqual({
      line: `the model takes 2 inputs: ${inputs}; there is 1 --input`,
      exitCode: 2,
    });
    expect((await problem("add.tflite")).line).toMatch(/; pass each with --input FILE, or noise with --random SEED$/);
    await put("grey.tflite", passingModel({ shape }));
    expect((await problem("grey.tflite", "--input", "dot.png", "--mean", "1,2,3")).line).toMatch(
      /: --mean and --std have 3 numbers for 1 channel$/,
    );
  });

  it("refuses options that make no sense and exits with 2", async () => {
    await put("add.tflite", addingModel());
    const wrong: readonly (readonly [RegExp, ...string[]])[] = [
      [/^unknown option '--colour'; see nnhal run --help$/, "add.tflite", "--colour"],
      [/^missing required argument 'model'; see nnhal run --help$/],
      [/'--top <k>' argument '0' is invalid/, "add.tflite", "--top", "0"],
      [/'--runs <n>' argument '1.5' is invalid/, "add.tflite", "--runs", "1.5"],
      [/'--random <seed>' argument '-1' is invalid/, "add.tflite", "--random", "-1"],
      [/'--mean <numbers>' argument '1,2' is invalid/, "add.tflite", "--mean", "1,2"],
      [/'--mean <numbers>' argument 'x' is invalid/, "add.tflite", "--mean", "x"],
      [/'--std <numbers>' argument '1,0,1' is invalid/, "add.tflite", "--std", "1,0,1"],
      [/'--random <seed>' cannot be used with option '--input <file>'/, "add.tflite", "--random", "1", "--input", "x"],
      [
        /^there is no device "toaster"; there are: nnhal-reference$/,
        "add.tflite",
        "--random",
        "1",
        "--device",
        "toaster",
      ],
    ];
    for (const [pattern, ...args] of wrong) {
      const { line, exitCode } = await problem(...args);
      expect(line).toMatch(pattern);
      expect(exitCode).toBe(2);
    }
  });

  it("shows where a problem arose with --debug", async () => {
    await put("text.tflite", "This is not a model.");
    const { stderr, exitCode } = await run(["run", "text.tflite", "--random", "1", "--debug"]);
    expect(stderr).toMatch(/^nnhal run: the model text\.tflite cannot be used: .*\nCommandError: .*\n {4}at /);
    expect(stderr).toContain("caused by TfliteError");
    expect(exitCode).toBe(2);
  });
});
