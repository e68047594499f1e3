import { mkdir } from "node:fs/promises";
import { litertlm } from "@nnhal/test-kit/litertlm";
import { withFiles } from "@nnhal/test-kit/packed-files";
import { beforeEach, describe, expect, it } from "vitest";
import { passingModel, splitModel, useFolder } from "../program.test-helper.ts";

const { run, put, path } = useFolder();
const nothing = new Uint8Array(0);
const model = passingModel({ shape: [1, 3] });
const other = passingModel({ shape: [1, 2] });
const labels = new TextEncoder().encode("cat");
const weights = new Uint8Array(Float32Array.of(3, 4).buffer);
const inner = withFiles(nothing, { "hand.tflite": other });

beforeEach(async () => {
  await put("input.txt", "1 2");
  await put("two.task", withFiles(nothing, { "model.tflite": model, "inner.task": inner, "labels.txt": labels }));
  await put("one.task", withFiles(nothing, { "hand.tflite": other, "labels.txt": labels }));
});

async function valuesOf(...args: readonly string[]) {
  const { exitCode, stdout, stderr } = await run(["run", ...args, "--json"]);
  return [exitCode, exitCode === 0 ? JSON.parse(stdout).outputs[0].values : undefined, stderr];
}

describe("--part", () => {
  it("names the model of a container for every command", async () => {
    const part = ["--part", "inner.task/hand.tflite"];
    expect(await valuesOf("two.task", "input.txt", ...part)).toEqual([0, [1, 2], ""]);
    for (const command of ["info", "explain", "validate", "graph"]) {
      const { exitCode, stdout, stderr } = await run([command, "two.task", ...part]);
      expect([command, exitCode, stderr]).toEqual([command, 0, ""]);
      expect(stdout).not.toContain("Parts");
    }
    const [bench] = JSON.parse(
      (
        await run([
          ...["bench", "two.task", ...part, "--device", "reference", "--peers", "none", "--rounds", "1"],
          ...["--preparations", "1", "--json"],
        ])
      ).stdout,
    ).models;
    expect(bench.model).toBe("two.task");
    await mkdir(path("inputs"), { recursive: true });
    await put("inputs/input.bin", weights);
    const batch = await run(["batch", "run", "two.task", "inputs", ...part, "--device", "reference"]);
    expect([batch.exitCode, batch.stderr]).toEqual([0, expect.any(String)]);
  });

  it("may be left out for the only model, which the command says", async () => {
    const says = "note: this is hand.tflite, the only model of the file\n";
    expect(await valuesOf("one.task", "input.txt")).toEqual([0, [1, 2], `nnhal run: ${says}`]);
    expect((await run(["explain", "one.task"])).stderr).toBe(`nnhal explain: ${says}`);
    expect((await run(["info", "one.task"])).stdout).toContain("Parts");
  });

  it("names a model of a .litertlm file, whose weights are external buffers", async () => {
    const split = splitModel({ group: "tflite_weights", offset: 8, length: 8 });
    const section = Uint8Array.of(...weights, ...new Uint8Array(Float32Array.of(30, 40).buffer));
    const file = litertlm([
      { type: 3, content: split, model: "prefill" },
      { type: 7, content: weights, model: "other" },
      { type: 7, content: section, model: "prefill" },
      { type: 3, content: splitModel({ group: "other.weights", offset: 0, length: 8 }), model: "other" },
    ]);
    await put("language.litertlm", file);
    expect(await valuesOf("language.litertlm", "input.txt", "--part", "prefill")).toEqual([0, [31, 42], ""]);
    expect(await valuesOf("language.litertlm", "input.txt", "--part", "other")).toEqual([0, [4, 6], ""]);
    await put("given.bin", new Uint8Array(Float32Array.of(0, 0, 500, 600).buffer));
    const given = ["--external-buffer", "tflite_weights=given.bin"];
    expect(await valuesOf("language.litertlm", "input.txt", "--part", "prefill", ...given)).toEqual([
      0,
      [501, 602],
      "",
    ]);
  });

  it.each([
    [
      "two.task",
      [],
      'the file two.task has 2 models: "model.tflite", "inner.task/hand.tflite"; choose one by its name (part, or --part NAME)',
    ],
    [
      "two.task",
      ["--part", "modle.tflite"],
      'part: the file two.task has no part "modle.tflite"; did you mean "model.tflite"?',
    ],
    ["two.task", ["--part", "x"], 'the file two.task has no part "x"; it has "model.tflite", "inner.task/hand.tflite"'],
    [
      "two.task",
      ["--part", "labels.txt"],
      'part: "labels.txt" is of type "file", expected a model: "model.tflite", "inner',
    ],
    ["plain.tflite", ["--part", "x"], "part: expected a container, a .task or .litertlm file, got a .tflite model"],
    ["input.txt", ["--part", "x"], "part: expected a container, a .task or .litertlm file, got a text"],
    ["cut.task", ["--part", "model"], "the parts of the model cut.task cannot be read: archive: the "],
    ["cut.task", [], "the parts of the model cut.task cannot be read: archive: the "],
    ["labels.zip", [], "the model labels.zip cannot be used: it is a zip archive; unpack it"],
    ["labels.zip", ["--part", "labels.txt"], 'part: "labels.txt" is of type "file", expected a model: there are none'],
    ["none.task", ["--part", "model"], "cannot read the model none.task: the file does not exist"],
  ])("of %s with %j is refused", async (name, option, message) => {
    await put("plain.tflite", model);
    await put("cut.task", withFiles(nothing, { model }).slice(0, -1));
    await put("labels.zip", withFiles(nothing, { "labels.txt": labels }));
    const { exitCode, stderr } = await run(["run", name, "input.txt", ...option]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it("is not for an example of the HAL, and not for several models", async () => {
    await put("example.json", "{}");
    const example = await run(["graph", "example.json", "--part", "x"]);
    expect([example.exitCode, example.stderr]).toEqual([
      2,
      expect.stringContaining("part: expected a container, a .task or .litertlm file, got a JSON file"),
    ]);
    const bench = await run(["bench", "one.task", "two.task", "--part", "x"]);
    expect([bench.exitCode, bench.stderr]).toEqual([
      2,
      expect.stringContaining("--part and --onnx belong to one model"),
    ]);
  });
});
