import { mkdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { addingModel, landmarksModel, passingModel, pngOf, quantise, useFolder } from "../program.test-helper.ts";

const { run, put, get, path } = useFolder();

const floats = (...values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);

/** A .npy file. */
function npy(descr: string, shape: string, data: Uint8Array, order = "False", version = 1): Uint8Array {
  const type = descr.startsWith("[") ? descr : `'${descr}'`;
  const header = `{'descr': ${type}, 'fortran_order': ${order}, 'shape': (${shape}), }\n`;
  const length = [header.length & 255, header.length >> 8, ...(version === 1 ? [] : [0, 0])];
  const start = [0x93, ...Buffer.from("NUMPY"), version, 0, ...length];
  return Uint8Array.from([...start, ...Buffer.from(header), ...data]);
}

/** A WAV file of 16-bit samples. */
function wav(samples: readonly number[], rate = 16_000): Uint8Array {
  const bytes = Buffer.alloc(44 + 2 * samples.length);
  bytes.write("RIFF", 0);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(2 * samples.length, 40);
  for (const [place, sample] of samples.entries()) bytes.writeInt16LE(sample, 44 + 2 * place);
  return new Uint8Array(bytes);
}

describe("nnhal run on several inputs", () => {
  it("runs once for each file, and for each input in a folder, and shows a table", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 3] }));
    await mkdir(path("inputs"));
    await put("inputs/b.bin", floats(0, 0, 1));
    await put("inputs/a.bin", floats(0, 1, 0));
    await put("inputs/notes.txt", "left out");
    await put("one.bin", floats(1, 0, 0));
    await put("labels.txt", "ant\nbee\ncat\n");
    const { stdout, stderr, exitCode } = await run([
      "run",
      "scores.tflite",
      "one.bin",
      "inputs",
      "--labels",
      "labels.txt",
    ]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(
      stdout
        .split("\n\n")[1]
        ?.split("\n")
        .map((line) => line.split(/ {2,}/).slice(0, 3)),
    ).toEqual([
      ["one.bin", "ant", "1.0000"],
      ["inputs/a.bin", "bee", "1.0000"],
      ["inputs/b.bin", "cat", "1.0000"],
      [""],
    ]);
    expect(stdout).toMatch(/^latency {2}prepared in .* ms, median .* ms an input$/m);
  });

  it("prints CSV and JSON, and writes the outputs of each", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 2] }));
    await put("a,b.bin", floats(0.25, 0.5));
    await put("c.bin", floats(1, 0));
    const args = ["run", "scores.tflite", "a,b.bin", "c.bin", "--top", "1"];
    expect((await run([...args, "--csv"])).stdout).toBe(
      'input,rank,index,label,score\n"a,b.bin",1,1,,0.5\nc.bin,1,0,,1\n',
    );
    const { stdout } = await run([...args, "--json", "--output-dir", "results"]);
    expect(JSON.parse(stdout)).toMatchObject({
      model: "scores.tflite",
      results: [
        { input: "a,b.bin", top: [{ index: 1, score: 0.5 }], outputs: [{ shape: [1, 2], values: [0.25, 0.5] }] },
        { input: "c.bin", top: [{ index: 0, score: 1 }] },
      ],
      latencyMs: { median: expect.any(Number) },
    });
    expect(await get("results/2-c.bin.output0.bin")).toEqual(floats(1, 0));
  });

  it("prints all values as CSV if no output holds scores", async () => {
    await put("add.tflite", addingModel());
    await put("left.bin", floats(1, 2, 3, 4));
    const { stdout } = await run(["run", "add.tflite", "left.bin", "left.bin", "--csv"]);
    expect(stdout).toBe(
      "input,output,index,value\nleft.bin + left.bin,sum,0,2\nleft.bin + left.bin,sum,1,4\n" +
        "left.bin + left.bin,sum,2,6\nleft.bin + left.bin,sum,3,8\n",
    );
  });

  it("goes on after an input that cannot be used, reports it, and exits with 2", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 2] }));
    await put("good.bin", floats(1, 0));
    await put("short.bin", floats(1));
    const args = ["run", "scores.tflite", "short.bin", "good.bin", "gone.bin"];
    const { stdout, exitCode } = await run(args);
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(/^good\.bin {2}0 {2}1\.0000/m);
    expect(stdout).toMatch(
      /\n\n2 inputs could not be used\n {2}the input short\.bin has 4 bytes[^\n]*\n {2}cannot read/,
    );
    const { results } = JSON.parse((await run([...args, "--json"])).stdout);
    expect(results.map(({ problem }: { problem?: string }) => problem !== undefined)).toEqual([true, false, true]);
    const csv = await run([...args, "--csv", "--top", "1"]);
    expect(csv.stdout).toBe("input,rank,index,label,score\ngood.bin,1,0,,1\n");
    expect(csv.stderr).toMatch(/^nnhal run: note: the input short\.bin .*\nnnhal run: note: cannot read .*\n$/);
  });

  it("draws each picture into a folder, and goes on after an input that is not one", async () => {
    await put("pose.tflite", landmarksModel());
    await put("left.png", pngOf(4, 4, new Array(64).fill(255)));
    await put("right.png", pngOf(4, 4, new Array(64).fill(0)));
    await put("none.bin", new Uint8Array(3));
    const args = ["run", "pose.tflite", "left.png", "none.bin", "right.png", "--task", "landmarks", "--draw", "seen"];
    const { stdout, exitCode } = await run([...args, "--json"]);
    expect(exitCode).toBe(2);
    const { results } = JSON.parse(stdout);
    expect(results.map(({ seen }: { seen?: { task: string } }) => seen?.task)).toEqual([
      "landmarks",
      undefined,
      "landmarks",
    ]);
    for (const file of ["seen/1-left.png.png", "seen/3-right.png.png"])
      expect([...(await get(file)).subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
    expect((await run(args)).stdout).toMatch(/^written {2}seen$/m);
  });

  it("profiles the whole batch", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 2] }));
    await put("a.bin", floats(1, 0));
    await put("short.bin", floats(1));
    const args = ["run", "scores.tflite", "a.bin", "short.bin", "a.bin", "a.bin", "--profile"];
    const { profile } = JSON.parse((await run([...args, "--json"])).stdout);
    // The clock goes on by one millisecond at every look: each of the three inputs that can be used takes one.
    expect(profile.wholeMs).toBe(3);
    expect(profile.operations).toHaveLength(1);
    expect((await run(args)).stdout).toMatch(
      /^operation {2}type .*\n1 .*\neach in a step of its own: .*; the whole model: 3\.00 ms$/m,
    );
  });

  it("refuses what makes no sense for several inputs", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 2] }));
    await mkdir(path("empty"));
    for (const [said, ...args] of [
      ["--runs repeats the run of one input, but there are 2 inputs", "a.bin", "b.bin", "--runs", "2"],
      ["--trace records the run of one input, but there are 2 inputs", "a.bin", "b.bin", "--trace", "t.json"],
      ["--draw seen.png is a file for one picture, but there are 2 inputs", "a.bin", "b.bin", "--draw", "seen.png"],
      ["there are no pictures, .npy, WAV or .bin files in the folder empty", "empty"],
      ["the standard input can be read only once", "-", "-"],
      ["--random replaces inputs, but there are some", "a.bin", "--random", "1"],
      ["'--csv' cannot be used with option '--json'", "a.bin", "--csv", "--json"],
    ] as const) {
      const { stderr, exitCode } = await run(["run", "scores.tflite", ...args]);
      expect(stderr).toContain(said);
      expect(exitCode).toBe(2);
    }
  });
});

describe("an input of nnhal run", () => {
  const valuesOf = async (file: string, stdin?: Uint8Array, more: readonly string[] = []) => {
    const { stdout, stderr } = await run(["run", "model.tflite", file, "--json", ...more], {
      ...(stdin && { stdin: async () => stdin }),
    });
    return stdout === "" ? stderr : JSON.parse(stdout).outputs[0].values;
  };

  it("is a .npy array of real values, or of the tensor's own elements", async () => {
    await put("model.tflite", passingModel({ shape: [1, 2], type: "UINT8", ...quantise(0.5, 10) }));
    await put("real.npy", npy("<f8", "2,", new Uint8Array(Float64Array.of(1, 2).buffer)));
    await put("big.npy", npy(">i2", "1, 2", Uint8Array.of(0, 3, 0, 1)));
    await put("own.npy", npy("|u1", "1, 2", Uint8Array.of(10, 12)));
    expect(await valuesOf("real.npy")).toEqual([1, 2]);
    expect(await valuesOf("big.npy")).toEqual([3, 1]);
    expect(await valuesOf("own.npy")).toEqual([0, 1]);
    for (const [said, file] of [
      ["cannot take the array bad.npy of the shape [3]", npy("|u1", "3,", new Uint8Array(3))],
      ["is a .npy file of 2 elements of 1 bytes, 2 in all, that holds 1", npy("|u1", "2,", new Uint8Array(1))],
      ["is a .npy file of 2 elements of 2 bytes, 4 in all, that holds 5", npy("<f2", "2,", new Uint8Array(5))],
      ["is a .npy file of the type '|S2'; expected b1, u1, i1, ", npy("|S2", "2,", new Uint8Array(4))],
      ["is a .npy file of the type '<c8'; expected b1, u1, i1, ", npy("<c8", "2,", new Uint8Array(16))],
      ["is a .npy file of the type [('a', '<f4')]; expected ", npy("[('a', '<f4')]", "2,", new Uint8Array(8))],
      ["is a .npy file of version 4; expected 1, 2 or 3", npy("|u1", "2,", new Uint8Array(2), "False", 4)],
      ["is a .npy file of version 0; expected 1, 2 or 3", npy("|u1", "2,", new Uint8Array(2), "False", 0)],
      ["whose header cannot be read", npy("|u1", "x", new Uint8Array(2))],
      ["is a .npy file that is cut off", npy("|u1", "2,", new Uint8Array(2)).subarray(0, 30)],
      ["has 10001 bytes; 10000 are the most", npy("|u1", `${" ".repeat(9943)}2,`, new Uint8Array(2), "False", 2)],
      [
        "is a .npy file of 65 dimensions; 64 are the most",
        npy("|u1", `2,${"1,".repeat(64)}`, new Uint8Array(2), "True"),
      ],
      ["whose header cannot be read", npy("|u1", "L,", new Uint8Array(2))],
      ["whose header cannot be read", npy("|u1", "2 7,", new Uint8Array(2))],
      ["is a .npy file of the type 'u1 '; expected ", npy("u1\n", "2,", new Uint8Array(2))],
      ["NaN has no quantised value", npy("<f4", "2,", floats(Number.NaN, 1))],
    ] as const) {
      await put("bad.npy", file);
      expect(await valuesOf("bad.npy")).toContain(said);
    }
  });

  it("is a .npy array of any width, byte order, order of elements and version", async () => {
    await put("model.tflite", passingModel({ shape: [1, 6] }));
    const six = [0.5, -2, 65504, 6e-8, 0, Number.POSITIVE_INFINITY];
    const halves = [0x3800, 0xc000, 0x7bff, 0x0001, 0x0000, 0x7c00];
    const both = (isLittle: boolean) => {
      const view = new DataView(new ArrayBuffer(12));
      for (const [place, half] of halves.entries()) view.setUint16(2 * place, half, isLittle);
      return new Uint8Array(view.buffer);
    };
    for (const [descr, version] of [
      ["<f2", 1],
      [">f2", 2],
      ["<f2", 3],
    ] as const) {
      await put("half.npy", npy(descr, "1, 6", both(descr === "<f2"), "False", version));
      const values: readonly unknown[] = await valuesOf("half.npy");
      expect(values.slice(0, 3)).toEqual(six.slice(0, 3));
      expect(values[3]).toBeCloseTo(2 ** -24, 12);
      // JSON has no word for Infinity.
      expect(values.slice(4)).toEqual([0, null]);
    }
    // Of the input's own type, elements are taken bit by bit.
    await put("model.tflite", passingModel({ shape: [1, 6], type: "FLOAT16" }));
    await put("half.npy", npy("<f2", "1, 6", both(true)));
    await run(["run", "model.tflite", "half.npy", "--output-dir", "out"]);
    expect(await get("out/output0.bin")).toEqual(both(true));
    // The first index varies fastest in Fortran's order.
    const columns = Uint8Array.of(0, 3, 1, 4, 2, 5);
    await put("model.tflite", passingModel({ shape: [2, 3] }));
    await put("columns.npy", npy("|u1", "2L, 3L", columns, "True"));
    expect(await valuesOf("columns.npy")).toEqual([0, 1, 2, 3, 4, 5]);
    await put("model.tflite", passingModel({ shape: [2, 1, 3] }));
    await put("columns.npy", npy("|u1", "2, 1, 3", columns, "True"));
    expect(await valuesOf("columns.npy")).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("is a text with a byte order mark, and with the words of NumPy for numbers without digits", async () => {
    await put("model.tflite", passingModel({ shape: [1, 4] }));
    const text = "1, nan\n-inf; Infinity\r\n";
    const values = floats(1, Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
    const wide = Buffer.from(`\ufeff${text}`, "utf16le");
    for (const bytes of [Buffer.from(text), Buffer.from(`\ufeff${text}`), wide, Buffer.from(wide).swap16()]) {
      await put("numbers.csv", bytes);
      expect(await run(["run", "model.tflite", "numbers.csv", "--output-dir", "out"])).toMatchObject({ exitCode: 0 });
      expect(await get("out/output0.bin")).toEqual(values);
    }
    await put("numbers.csv", "1, nano, 2, 3");
    expect(await valuesOf("numbers.csv")).toContain("the input numbers.csv is not a PNG");
    await put("model.tflite", passingModel({ shape: [1, 2], type: "INT32" }));
    await put("numbers.csv", "1, nan");
    expect(await valuesOf("numbers.csv")).toContain("expected an integer from -2147483648 to 2147483647, got NaN");
  });

  it("is a sound, which silence follows if it is too short", async () => {
    await put("model.tflite", passingModel({ shape: [1, 3] }));
    await put("short.wav", wav([16384]));
    expect(await valuesOf("short.wav")).toEqual([0.5, 0, 0]);
    await put("model.tflite", passingModel({ shape: [2, 2] }));
    expect(await valuesOf("short.wav")).toContain("a sound needs one extent above 1");
  });

  it("is a sound that is brought to the rate of the model", async () => {
    await put("model.tflite", passingModel({ shape: [1, 4] }));
    await put("slow.wav", wav([16384, 0], 8000));
    expect(await valuesOf("slow.wav")).toEqual([0.5, 0.25, 0, 0]);
    expect(await valuesOf("slow.wav", undefined, ["--rate", "8000"])).toEqual([0.5, 0, 0, 0]);
    expect(await valuesOf("slow.wav", undefined, ["--rate", "4000"])).toEqual([0.25, 0, 0, 0]);
    await put("bad.wav", wav([1], 1));
    expect(await valuesOf("bad.wav")).toContain("its rate is 1 Hz; 1000 to 768000 are supported");
  });

  it("is a sound that is longer than the input: the outputs are the means of its parts", async () => {
    await put("long.wav", wav([16384, -32768, 0, -16384, 0, 0, 16384]));
    await put("model.tflite", passingModel({ shape: [1, 3] }));
    const third = Math.fround(1 / 6);
    expect(await valuesOf("long.wav")).toEqual([third, Math.fround(-1 / 3), 0]);
    const { stdout } = await run(["run", "model.tflite", "long.wav"]);
    expect(stdout).toContain("long.wav, 0.00 s at 16000 Hz, in 3 parts, then silence");
    // Of quantised outputs the real values.
    await put("model.tflite", passingModel({ shape: [1, 3], type: "INT8", ...quantise(1 / 64, 0) }));
    expect(await valuesOf("long.wav")).toEqual([11 / 64, -21 / 64, 0]);
    // In a batch, too.
    await put("short.wav", wav([16384]));
    await put("model.tflite", passingModel({ shape: [1, 3] }));
    const batch = JSON.parse((await run(["run", "model.tflite", "long.wav", "short.wav", "--json"])).stdout);
    expect(batch.results.map(({ outputs }: { outputs: { values: number[] }[] }) => outputs[0]?.values[0])).toEqual([
      third,
      0.5,
    ]);
  });

  it("is a text of numbers", async () => {
    await put("model.tflite", passingModel({ shape: [1, 3] }));
    await put("numbers.txt", "1, -2.5\n3e1\n");
    expect(await valuesOf("numbers.txt")).toEqual([1, -2.5, 30]);
    await put("numbers.txt", `${"1,".repeat(2)}1${" ".repeat(65_651)}`);
    expect(await valuesOf("numbers.txt")).toEqual([1, 1, 1]);
    await put("numbers.txt", "1.125 ".repeat(10_943));
    expect(await valuesOf("numbers.txt")).toContain("has numbers in 65658 bytes; 65656 are the most");
    await put("numbers.txt", `${"9".repeat(401)} 1 2`);
    expect(await valuesOf("numbers.txt")).toContain("the input numbers.txt is not a PNG");
    await put("numbers.txt", "[[1, 2]]");
    expect(await valuesOf("numbers.txt")).toContain("has 3 elements, but numbers.txt has 2 numbers");
    await put("model.tflite", passingModel({ shape: [1, 3], type: "INT32" }));
    await put("numbers.txt", "1 2.5 3");
    expect(await valuesOf("numbers.txt")).toContain("expected an integer from -2147483648 to 2147483647, got 2.5");
  });

  it("is the standard input in any format, or of the tensor's size", async () => {
    await put("model.tflite", passingModel({ shape: [1, 3] }));
    expect(await valuesOf("-", floats(1, 2, 3))).toEqual([1, 2, 3]);
    expect(await valuesOf("-", Buffer.from("4 5 6"))).toEqual([4, 5, 6]);
    expect(await valuesOf("-", floats(1, 2))).toContain("the input - is not a PNG, JPEG, WebP, GIF or BMP picture");
    expect(await valuesOf("-")).toContain("there is no standard input");
  });

  it("is a picture for a network without an extent for channels", async () => {
    await put("model.tflite", passingModel({ shape: [1, 1, 2], type: "UINT8", ...quantise(1, 0) }));
    await put("two.png", pngOf(2, 1, [255, 255, 255, 255, 0, 0, 0, 255]));
    expect(await valuesOf("two.png")).toEqual([255, 0]);
  });
});

describe("the report of nnhal run", () => {
  it("has the values of outputs up to a size, or all", async () => {
    await put("large.tflite", passingModel({ shape: [1, 1001] }));
    await put("limit.tflite", passingModel({ shape: [1, 1000] }));
    const values = async (file: string, ...args: readonly string[]) =>
      JSON.parse((await run(["run", file, "--random", "1", "--json", ...args])).stdout).outputs[0].values?.length;
    expect(await values("limit.tflite")).toBe(1000);
    expect(await values("large.tflite")).toBeUndefined();
    expect(await values("large.tflite", "--all-values")).toBe(1001);
  });

  it("has the time of each operation with --profile", async () => {
    await put("add.tflite", addingModel());
    const args = ["run", "add.tflite", "--random", "1", "--profile"];
    const { stdout } = await run(args);
    expect(stdout).toMatch(/^1 {10}ADD {3}\[2, 2\] {2}nnhal-reference {2}[\d.]+ ms {2}100\.0 %$/m);
    expect(stdout).toMatch(/^each in a step of its own: .* ms; the whole model: .* ms$/m);
    expect(JSON.parse((await run([...args, "--json"])).stdout).profile).toEqual({
      wholeMs: expect.any(Number),
      operations: [{ index: 0, type: "ADD", shape: [2, 2], device: "nnhal-reference", ms: expect.any(Number) }],
    });
  });

  it("has what a network sees in a picture, and draws it", async () => {
    await put("pose.tflite", landmarksModel());
    // Channels of (pixel - 128) / 128 are y, x and score.
    const [none, half, most] = [128, 192, 255];
    const pixels = [most, half, most, 255, none, none, none, 255, none, none, none, 255, none, none, none, 255];
    await put("person.png", pngOf(2, 2, pixels));
    await put("names.txt", "nose\nhand\n");
    const args = ["run", "pose.tflite", "person.png", "--labels", "names.txt", "--draw", "seen.png"];
    const { stdout, exitCode } = await run(args);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^written {2}seen\.png$/m);
    expect(stdout).toMatch(/^nose {8}0\.9922 {2}at 1, 2$/m);
    expect([...(await get("seen.png")).subarray(1, 4)]).toEqual([0x50, 0x4e, 0x47]);
    const { seen } = JSON.parse((await run([...args, "--json"])).stdout);
    expect(seen).toMatchObject({ task: "landmarks", landmarks: [{ name: "nose", x: 1 }, {}, {}, { name: null }] });
  });

  it("draws the points of a flat list, as MediaPipe's networks have them", async () => {
    // A picture of 21 x 1 is its own answer: red is x, green y, in pixels.
    await put("hand.tflite", passingModel({ type: "UINT8", shape: [1, 1, 21, 3] }));
    await put("hand.png", pngOf(21, 1, Array.from({ length: 21 }, (_, place) => [20 - place, 0, 0, 255]).flat()));
    const { stdout, exitCode } = await run(["run", "hand.tflite", "hand.png", "--draw", "seen.png", "--json"]);
    expect(exitCode).toBe(0);
    const { seen } = JSON.parse(stdout);
    expect(seen.task).toBe("landmarks");
    expect(seen.landmarks.map(({ x }: { x: number }) => x)).toEqual(
      Array.from({ length: 21 }, (_, place) => 20 - place),
    );
    expect([...(await get("seen.png")).subarray(1, 4)]).toEqual([0x50, 0x4e, 0x47]);
  });

  it("says why nothing can be drawn", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 2, 2, 1] }));
    await put("dot.png", pngOf(1, 1, [255, 255, 255, 255]));
    const problem = async (...args: readonly string[]) => {
      const { stderr, exitCode } = await run(["run", "scores.tflite", ...args]);
      return { stderr, exitCode };
    };
    expect(await problem("dot.png", "--draw", "seen.png")).toEqual({
      stderr: expect.stringContaining('the outputs "passed" (float32 [1, 4]) do not show whether it is a detector'),
      exitCode: 1,
    });
    expect(await problem("dot.png", "--draw", "seen.png", "--task", "detect")).toEqual({
      stderr: expect.stringMatching(/^nnhal run: nothing can be drawn: detect: no output of the model can be its /),
      exitCode: 1,
    });
    expect(await problem("dot.png", "--draw", "seen.jpg")).toEqual({
      stderr: "nnhal run: the name seen.jpg does not end in .png, the only format of drawings\n",
      exitCode: 2,
    });
    expect(await problem("--random", "1", "--draw", "seen.png")).toEqual({
      stderr: "nnhal run: --draw needs an input that is a picture\n",
      exitCode: 2,
    });
  });
});
