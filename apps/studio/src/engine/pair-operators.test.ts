import { describe, expect, it } from "vitest";
import { manyOperators, quantizedModel, statefulModel } from "../files.test-helper.ts";
import { createEngine } from "./engine.ts";
import { mergePairs } from "./pair-operators.ts";

async function pairsOf(one: Uint8Array, other: Uint8Array) {
  const engine = createEngine();
  await engine.open(one, "one.tflite");
  await engine.examine();
  return engine.openOther(other, "other.tflite");
}

describe("operators of two files", () => {
  it("stand beside each other", async () => {
    const { file, pairs, reason } = await pairsOf(manyOperators(3), manyOperators(5));
    expect([file.name, reason]).toEqual(["other.tflite", undefined]);
    expect(pairs).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
      [undefined, 3],
      [undefined, 4],
    ]);
  });

  it("are not paired if the inputs have other shapes", async () => {
    const { pairs, reason } = await pairsOf(quantizedModel(), statefulModel());
    expect(pairs).toBeUndefined();
    expect(reason).toContain("inputs");
  });

  it("are in the order of both files, and those that go against it stand alone", () => {
    const pairs = [
      [0, 1],
      [1, 0],
      [2, 2],
    ] as const;
    expect(mergePairs(pairs, 4, 3)).toEqual([
      [undefined, 0],
      [0, 1],
      [1, undefined],
      [2, 2],
      [3, undefined],
    ]);
  });
});

describe("results of two files", () => {
  it("are compared on noise, or on what is given", async () => {
    const engine = createEngine();
    await engine.open(manyOperators(3), "one.tflite");
    await expect(engine.diffOther({ signature: undefined, inputShapes: {} }, {}, () => {})).rejects.toThrow(
      "expected another file to compare with, got none",
    );
    await engine.examine();
    await engine.openOther(manyOperators(3), "other.tflite");
    const noise = await engine.diffOther({ signature: undefined, inputShapes: {} }, {}, () => {});
    expect(noise.outputs[0]?.difference).toMatchObject({ differing: 0, elements: 8 });
    expect(noise.outputs[0]?.difference.actualRange?.greatest).toBeGreaterThan(0);
    const name = "block_0/value_0";
    const given = { [name]: { kind: "zeros" } } as const;
    const zeros = await engine.diffOther({ signature: undefined, inputShapes: {} }, given, () => {});
    expect(zeros.outputs[0]?.difference.actualRange).toEqual({ least: 0, greatest: 0 });
  });
});
