import { mkdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { addingModel, passingModel, useFolder } from "../program.test-helper.ts";

const { run, put, path } = useFolder();

const floats = (...values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);

describe("nnhal batch run", () => {
  it("computes what nnhal run computes, once for each content, and goes on with the same command", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 3] }));
    await put("labels.txt", "ant\nbee\ncat\n");
    await mkdir(path("in/deep"), { recursive: true });
    await put("in/b.bin", floats(0, 1, 0));
    await put("in/deep/c.bin", floats(0, 1, 0));
    await put("in/a.bin", floats(0, 0, 1));
    await put("in/short.bin", floats(1));
    const args = ["batch", "run", "scores.tflite", "in", "--threads", "1", "--labels", "labels.txt", "--top", "2"];
    const first = await run([...args, "--raw"]);
    expect(first).toMatchObject({ stderr: "", exitCode: 2 });
    expect(first.stdout).toMatch(/^inputs {3}4 inputs: 2 computed, 1 already known, 1 failed$/m);
    expect(first.stdout).toContain(
      '1 input could not be used\n  short.bin: the input short.bin has 4 bytes, but the input "given" (TENSOR_FLOAT32 [1, 3]) takes 12\n',
    );
    await put("in/short.bin", floats(1, 0, 0));
    const again = await run([...args, "--raw", "--csv"]);
    expect(again).toMatchObject({ stderr: "", exitCode: 0 });
    const single = await run([
      "run",
      "scores.tflite",
      "in/b.bin",
      "in/a.bin",
      "--labels",
      "labels.txt",
      "--csv",
      "--top",
      "2",
    ]);
    for (const line of single.stdout.split("\n")) expect(again.stdout).toContain(line.replace("in/", ""));
    expect(again.stdout.split("\n").map((line) => line.split(",")[0])).toEqual([
      "input",
      "a.bin",
      "a.bin",
      "b.bin",
      "b.bin",
      "deep/c.bin",
      "deep/c.bin",
      "short.bin",
      "short.bin",
      "",
    ]);
    const printed = await run(["batch", "results", "results"]);
    expect(printed.stdout).toBe(
      "a.bin  cat  1.0000\nb.bin  bee  1.0000\ndeep/c.bin  bee  1.0000\nshort.bin  ant  1.0000\n",
    );
    const json = (await run(["batch", "results", "results", "--json"])).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(json[0]).toMatchObject({
      input: "a.bin",
      top: [{ label: "cat", score: 1 }, { score: 0 }],
      outputs: [{ shape: [1, 3] }],
    });
    // Other options are another task.
    expect((await run([...args, "--json"])).stdout.split("\n")).toHaveLength(5);
  });

  it("takes a list, and names each input that is not there", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 2] }));
    await put("one.bin", floats(1, 2));
    await put("list.txt", "one.bin\ngone.bin\n");
    const { stdout, exitCode } = await run([
      "batch",
      "run",
      "scores.tflite",
      "list.txt",
      "--results",
      "listed",
      "--threads",
      "1",
    ]);
    expect(stdout).toContain("gone.bin: cannot read the input gone.bin: the file does not exist");
    expect(exitCode).toBe(2);
    expect((await run(["batch", "results", "listed", "--failed"])).stdout).toBe(
      "gone.bin  cannot read the input gone.bin: the file does not exist\n",
    );
  });

  it("refuses what cannot be a batch before it begins", async () => {
    await put("two.tflite", addingModel());
    await put("scores.tflite", passingModel({ shape: [1, 2] }));
    await put("x.bin", floats(1, 2));
    await put("empty.txt", "\n");
    for (const [said, code, ...args] of [
      ["a batch runs a model of one input for each file; two.tflite has 2", 2, "run", "two.tflite", "empty.txt"],
      [
        "x.bin is an input: give a folder of inputs, or a text that lists them, one a line",
        2,
        "run",
        "scores.tflite",
        "x.bin",
      ],
      ["cannot read the inputs", 2, "run", "scores.tflite", "nothing"],
      ["there are no inputs in empty.txt", 2, "run", "scores.tflite", "empty.txt"],
      ["cannot read the folder", 1, "results", "nowhere"],
      ["'--csv' cannot be used with option '--json'", 2, "results", "x", "--csv", "--json"],
    ] as const) {
      const { stderr, exitCode, stdout } = await run(["batch", ...args]);
      expect(stderr).toContain(said);
      expect([exitCode, stdout]).toEqual([code, ""]);
    }
  });

  it("says once for all why a device cannot run the model", async () => {
    await put("scores.tflite", passingModel({ shape: [1, 2] }));
    await put("x.bin", floats(1, 2));
    await put("list.txt", "x.bin\n");
    const { stderr, exitCode } = await run([
      "batch",
      "run",
      "scores.tflite",
      "list.txt",
      "--device",
      "toaster",
      "--results",
      "r",
    ]);
    expect(stderr).toMatch(/^nnhal batch: there is no device "toaster"/);
    expect(exitCode).toBe(1);
  });
});
