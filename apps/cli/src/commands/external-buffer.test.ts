import { mkdir, open } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { passingModel, splitModel, useFolder } from "../program.test-helper.ts";

const { run, put, path } = useFolder();

const weights = new Uint8Array(Float32Array.of(3, 4).buffer);
const place = { group: "weights.bin", offset: 0, length: 8 };

describe("constants in another file", () => {
  it("are found beside the model, by every command", async () => {
    await put("model.tflite", splitModel(place));
    await put("weights.bin", weights);
    await put("input.txt", "1 2");
    const { stdout } = await run(["run", "model.tflite", "input.txt", "--json"]);
    expect(JSON.parse(stdout).outputs[0].values).toEqual([4, 6]);
    for (const command of ["info", "explain", "validate", "graph"]) {
      const { exitCode, stderr } = await run([command, "model.tflite"]);
      expect([command, exitCode, stderr]).toEqual([command, 0, ""]);
    }
    const info = await run(["info", "model.tflite"]);
    expect(info.stdout).toContain("external     weights.bin: 1 constant, 8 bytes\n");
    const { externalBuffers, constants } = JSON.parse((await run(["info", "model.tflite", "--json"])).stdout);
    expect(externalBuffers).toEqual([{ name: "weights.bin", count: 1, bytes: 8 }]);
    expect(constants).toEqual({ count: 1, bytes: 8 });
  });

  it("are given by name", async () => {
    await put("hostile.tflite", splitModel({ ...place, group: "/etc/passwd" }));
    await put("other.bin", new Uint8Array(Float32Array.of(30, 40).buffer));
    await put("input.txt", "1 2");
    const refused = await run(["run", "hostile.tflite", "input.txt"]);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining(
        'external buffers "/etc/passwd" of the model hostile.tflite: such a name may lead out of the folder',
      ),
    ]);
    const option = ["--external-buffer", "/etc/passwd=other.bin"];
    const { stdout } = await run(["run", "hostile.tflite", "input.txt", "--json", ...option]);
    expect(JSON.parse(stdout).outputs[0].values).toEqual([31, 42]);
    expect((await run(["validate", "hostile.tflite", ...option])).exitCode).toBe(0);
  });

  it.each([
    [["weights.bin"], "Expected a name and a path"],
    [["=weights.bin"], "Expected a name and a path"],
    [["weights.bin="], "Expected a name and a path"],
    [["a=b", "--external-buffer", "a=c"], "The external buffers a have been given a file already"],
    [["w.bin=weights.bin"], 'the model model.tflite has no external buffers "w.bin"; it has "weights.bin"'],
    [["weights.bin=none.bin"], "the file does not exist"],
  ])("given as %j are refused", async (option, message) => {
    await put("model.tflite", splitModel(place));
    await put("weights.bin", weights);
    const { exitCode, stderr } = await run(["info", "model.tflite", "--external-buffer", ...option]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it("are refused by a batch, and for a model that has none", async () => {
    await put("model.tflite", splitModel(place));
    await put("weights.bin", weights);
    await mkdir(path("inputs"));
    await put("inputs/input.txt", "1 2");
    const batch = await run(["batch", "run", "model.tflite", "inputs"]);
    expect([batch.exitCode, batch.stderr]).toEqual([
      2,
      expect.stringContaining("a batch keeps its model in one file; model.tflite has constants outside of its own"),
    ]);
    await put("plain.tflite", passingModel({ shape: [1, 3] }));
    const { stderr } = await run(["info", "plain.tflite", "--external-buffer", "weights.bin=weights.bin"]);
    expect(stderr).toContain('the model plain.tflite has no external buffers "weights.bin"; it has none');
  });

  it("are read by offset from a model above 2 GiB", async () => {
    const offset = 2 ** 31 + 64;
    await put("large.tflite", splitModel({ offset, length: 8 }));
    await put("input.txt", "1 2");
    const handle = await open(path("large.tflite"), "r+");
    await handle.write(weights, 0, 8, offset);
    await handle.close();
    const { stdout } = await run(["run", "large.tflite", "input.txt", "--json"]);
    expect(JSON.parse(stdout).outputs[0].values).toEqual([4, 6]);
    const { exitCode } = await run(["validate", "large.tflite"]);
    expect(exitCode).toBe(0);
  });
});
