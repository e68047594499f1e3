import { withFiles } from "@nnhal/test-kit/packed-files";
import { describe, expect, it } from "vitest";
import { passingModel, useFolder } from "../program.test-helper.ts";

const { run, put } = useFolder();
const model = passingModel({ shape: [1, 3] });
const nothing = new Uint8Array(0);
const labels = new TextEncoder().encode("cat");

describe("nnhal info of a container", () => {
  it("lists its parts", async () => {
    const inner = withFiles(nothing, { "hand.tflite": model, "labels.txt": labels });
    const file = withFiles(nothing, {
      "model.tflite": { content: model, isStored: true },
      "inner.task": inner,
      "labels.txt": labels,
    });
    await put("hand.task", file);
    const { exitCode, stdout, stderr } = await run(["info", "hand.task"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^file +hand\.task, .*\n\nParts\n {2}model\.tflite +model +\d+ bytes +at 42\n/);
    expect(stdout).toMatch(
      /\n {2}inner\.task\/hand\.tflite +model +\d+ bytes, packed \d+ bytes +in a packed archive\n/,
    );
    const report = JSON.parse((await run(["info", "hand.task", "--json"])).stdout);
    expect(report).toMatchObject({ model: "hand.task", bytes: file.length });
    expect(report.parts[0]).toEqual({ name: "model.tflite", type: "model", size: model.length, offset: 42 });
    expect(report.parts.map(({ name }: { name: string }) => name)).toEqual([
      "model.tflite",
      "inner.task/hand.tflite",
      "inner.task/labels.txt",
      "labels.txt",
    ]);
  });

  it.each([
    ["cut.task", withFiles(nothing, { model }).slice(0, -1), "the parts of cut.task cannot be read: archive: the "],
    ["some.litertlm", new TextEncoder().encode("LITERTLM"), "header: it takes at least 32 bytes, the file has 8"],
    ["labels.zip", withFiles(nothing, { "labels.txt": labels }), "cannot be used: it is a zip archive; unpack it"],
  ])("refuses %s, which is broken or has no model", async (name, bytes, message) => {
    await put(name, bytes);
    const { exitCode, stderr } = await run(["info", name]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
