import { describe, expect, it } from "vitest";
import { manyOperators, namedModel, quantizedModel } from "../files.test-helper.ts";
import { createEngine } from "./engine.ts";
import { elementsOf, summarize } from "./tensor-values.ts";

describe("an opened file", () => {
  it("has its operators, laid out from top to bottom", async () => {
    const engine = createEngine();
    const { file, graph } = await engine.open(manyOperators(20), "twenty.tflite");
    expect(file.subgraphs[0]?.operators.map(({ name }) => name).slice(0, 4)).toEqual(["MUL", "ADD", "ADD", "MUL"]);
    expect(graph.nodes).toHaveLength(22);
    expect(graph.nodes.map(({ type }) => type).filter((type) => type !== "operator")).toEqual(["input", "output"]);
    // The eighth operator reads two tensors, and the others one.
    expect(graph.edges.filter(({ to }) => to === 8).map(({ from }) => from)).toEqual([7, 1]);
    for (const { from, to, points } of graph.edges) {
      expect(from).toBeLessThan(to);
      expect(points.length % 2).toBe(0);
      expect(points.length).toBeGreaterThanOrEqual(4);
    }
    const overlaps = graph.nodes.filter((one) =>
      graph.nodes.some(
        (other) =>
          other !== one &&
          one.x < other.x + other.width &&
          other.x < one.x + one.width &&
          one.y < other.y + other.height &&
          other.y < one.y + one.height,
      ),
    );
    expect(overlaps).toEqual([]);
  });

  it("says what becomes of its operators once it is examined", async () => {
    const engine = createEngine();
    const { file } = await engine.open(manyOperators(3), "three.tflite");
    expect(file.examined).toBeUndefined();
    expect(file.subgraphs[0]?.operators.map(({ status }) => status)).toEqual(["unread", "unread", "unread"]);
    const { examined, subgraphs } = await engine.examine();
    expect(subgraphs[0]?.operators.map(({ status }) => status)).toEqual(["hal", "hal", "hal"]);
    expect(subgraphs[0]?.operators[0]?.operations).toEqual(["MUL"]);
    expect(examined).toMatchObject({ problemCount: 0, problems: [], origins: [0, 1, 2] });
  });

  it("says why an operator is blocked", async () => {
    const engine = createEngine();
    await engine.open(namedModel("Mystery"), "named.tflite");
    const { examined, subgraphs } = await engine.examine();
    const [add, custom] = subgraphs[0]?.operators ?? [];
    expect(add?.status).toBe("hal");
    expect(custom).toMatchObject({ name: "Mystery", isCustom: true, status: "blocked" });
    expect(custom?.reason).toContain("Mystery");
    expect(examined?.problemCount).toBe(1);
    expect(examined?.origins).toEqual([]);
  });

  it("is refused with what it is instead, and leaves the one before open", async () => {
    const engine = createEngine();
    await engine.open(manyOperators(1), "one.tflite");
    await expect(engine.open(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10), "a.png")).rejects.toThrow(
      /not a \.tflite file.*PNG/,
    );
    await expect(engine.open(new Uint8Array(0), "empty")).rejects.toThrow("not a .tflite file: it is empty");
    await expect(engine.open(manyOperators(4).subarray(0, 200), "cut")).rejects.toThrow("not a .tflite file");
    expect((await engine.examine()).name).toBe("one.tflite");
  });

  it("is expected before anything else is asked", async () => {
    const engine = createEngine();
    await expect(engine.examine()).rejects.toThrow("expected an open file, got none");
    await engine.open(manyOperators(1), "one.tflite");
    await expect(engine.graph(1)).rejects.toThrow("subgraph: expected one of the file, got 1");
    await expect(engine.values(0, 9)).rejects.toThrow("tensor: expected one of subgraph 0, got 9");
  });
});

describe("values of a constant", () => {
  it("are real numbers, by the scale of each channel", async () => {
    const engine = createEngine();
    await engine.open(quantizedModel(), "quantized.tflite");
    const values = await engine.values(0, 1);
    // Elements -4 to 3; scales 0.5 and 2 for the two channels.
    expect("real" in values && values.real.first).toEqual([-2, -1.5, -1, -0.5, 0, 2, 4, 6]);
    expect("real" in values && values.isQuantized).toBe(true);
  });

  it("are not there for a tensor that a run computes", async () => {
    const engine = createEngine();
    await engine.open(manyOperators(1), "one.tflite");
    expect(await engine.values(0, 0)).toEqual({ reason: "it is computed in a run" });
  });

  it("are summarised with what is not finite apart", () => {
    const { count, least, greatest, mean, zeros, unusual, histogram } = summarize([0, 1, 3, Number.NaN, Infinity, 0]);
    expect({ count, least, greatest, mean, zeros, unusual }).toEqual({
      count: 6,
      least: 0,
      greatest: 3,
      mean: 1,
      zeros: 2,
      unusual: 2,
    });
    expect(histogram.reduce((sum, each) => sum + each, 0)).toBe(4);
    expect([histogram[0], histogram.at(-1)]).toEqual([2, 1]);
  });

  it.each([
    ["INT4", [0x1f], [-1, 1]],
    ["UINT4", [0x1f], [15, 1]],
    ["INT2", [0b11_10_01_00], [0, 1, -2, -1]],
    ["FLOAT16", [0x00, 0x3c, 0x00, 0xc0], [1, -2]],
    ["BFLOAT16", [0x80, 0x3f], [1]],
    ["INT16", [0xff, 0xff], [-1]],
    ["INT64", [1, 0, 0, 0, 0, 0, 0, 0x80], [Number(-(2n ** 63n) + 1n)]],
    ["BOOL", [0, 1], [0, 1]],
  ] as const)("of %s are read", (type, bytes, expected) => {
    expect([...Array.from(elementsOf(type, Uint8Array.from(bytes)) ?? [])]).toEqual(expected);
  });

  it("of STRING are not numbers", () => {
    expect(elementsOf("STRING", new Uint8Array(4))).toBeUndefined();
  });
});
