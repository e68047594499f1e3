import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findTrainedExamples, type TrainedTensor, trainedOutputProblem } from "./trained-models.ts";

const folder = mkdtempSync(join(tmpdir(), "nnhal-trained-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function expectedTensor(type: TrainedTensor["type"], bytes: Uint8Array): TrainedTensor {
  const path = join(folder, "expected.bin");
  writeFileSync(path, bytes);
  return { type, shape: [bytes.length], path };
}
const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

describe("findTrainedExamples", () => {
  it("gives the examples of the manifest with the places of their files", () => {
    const place = join(folder, "models");
    mkdirSync(join(place, "reference"), { recursive: true });
    const tensor = (file: string) => ({ name: "x", type: "UINT8", shape: [1, 2], file });
    const entries = [{ model: "net", input: "cat", inputs: [tensor("in.bin")], outputs: [tensor("out.bin")] }];
    writeFileSync(join(place, "reference/manifest.json"), JSON.stringify({ entries }));
    const placed = (file: string) => ({ type: "UINT8", shape: [1, 2], path: join(place, "reference", file) });
    expect(findTrainedExamples(place)).toEqual([
      {
        model: "net",
        input: "cat",
        path: join(place, "net.tflite"),
        inputs: [placed("in.bin")],
        outputs: [placed("out.bin")],
      },
    ]);
  });

  it("gives none if there is no folder", () => {
    expect(findTrainedExamples(join(folder, "elsewhere"))).toEqual([]);
  });
});

describe("trainedOutputProblem", () => {
  it("lets floats be off by 1e-4", () => {
    const expected = expectedTensor("FLOAT32", floats(1, 2));
    expect(trainedOutputProblem(expected, floats(1.00009, 1.99991))).toBeUndefined();
    expect(trainedOutputProblem(expected, floats(1, 2.0002))).toMatch(
      /^element 1: expected 2 within 0.0001, got 2\.0002/,
    );
    expect(trainedOutputProblem(expected, floats(Number.NaN, 2))).toMatch(
      /^element 0: expected 1 within 0.0001, got NaN$/,
    );
    expect(trainedOutputProblem(expected, floats(1))).toBe("the output: expected 8 bytes, got 4");
  });

  it("lets quantised elements be off by 3, with the greatest where it should be", () => {
    const expected = expectedTensor("UINT8", Uint8Array.of(7, 9, 8, 9));
    expect(trainedOutputProblem(expected, Uint8Array.of(4, 9, 8, 9))).toBeUndefined();
    expect(trainedOutputProblem(expected, Uint8Array.of(7, 8, 8, 12))).toBeUndefined();
    expect(trainedOutputProblem(expected, Uint8Array.of(3, 9, 8, 9))).toBe("element 0: expected 7 within 3, got 3");
    expect(trainedOutputProblem(expected, Uint8Array.of(7, 9, 11, 9))).toBe(
      "index of the greatest element: expected 1, got 2",
    );
  });

  it("reads signed bytes as such", () => {
    const expected = expectedTensor("INT8", Uint8Array.of(255, 1));
    expect(trainedOutputProblem(expected, Uint8Array.of(1, 2))).toBeUndefined();
  });
});
