import { type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { load } from "./load.ts";

type Given = Pick<TfliteTensor, "name" | "shape"> & Partial<TfliteTensor>;

/** A model of one operator. */
function modelOf(name: string, tensors: readonly Given[], inputs: readonly number[], options = {}): Uint8Array {
  const output = tensors.length - 1;
  const operators = [{ name, version: 1, inputs: [...inputs], outputs: [output], options }];
  const all = tensors.map((each): TfliteTensor => ({ type: "FLOAT32", isVariable: false, ...each }));
  const subgraphs = [{ name: "", tensors: all, operators, inputs: [...inputs], outputs: [output] }];
  return writeTflite({ version: 3, description: "", subgraphs, metadata: [], signatures: [] });
}

/** The sum of `rows` of [rows, 2] and `one` of [1, 2]. */
function sumModel(type: TfliteTensor["type"] = "FLOAT32"): Uint8Array {
  const open = { type, shape: [1, 2], shapeSignature: [-1, 2] };
  const tensors = [
    { name: "rows", ...open },
    { name: "one", type, shape: [1, 2] },
    { name: "sum", ...open },
  ];
  return modelOf("ADD", tensors, [0, 1], { fusedActivationFunction: "NONE" });
}

const devices = ["reference"] as const;

describe("inputs without elements", () => {
  it("compute a result without elements, between runs with elements", async () => {
    const model = await load(sumModel(), { devices, dynamicShapes: true });
    const run = async (count: number) => {
      const rows = { data: new Float32Array(2 * count).fill(1), shape: [count, 2] };
      const { sum } = await model.run({ rows, one: [5, 7] });
      return [sum?.shape, sum && [...sum.data]];
    };
    expect(await run(1)).toEqual([
      [1, 2],
      [6, 8],
    ]);
    expect(await run(0)).toEqual([[0, 2], []]);
    expect(await run(2)).toEqual([
      [2, 2],
      [6, 8, 6, 8],
    ]);
    expect(await Promise.all([run(0), run(1), run(0)])).toEqual([
      [[0, 2], []],
      [
        [1, 2],
        [6, 8],
      ],
      [[0, 2], []],
    ]);
    await model.close();
  });

  it("may be lists without a shape if one extent is open", async () => {
    const model = await load(sumModel(), { devices, dynamicShapes: true });
    expect((await model.run({ rows: [], one: [5, 7] }))["sum"]?.shape).toEqual([0, 2]);
    await expect(model.run({ rows: [], one: [] })).rejects.toThrow("has 2 elements; 0 were given");
    await model.close();
  });

  it("may be all inputs", async () => {
    const open = { shape: [1], shapeSignature: [-1] };
    const bytes = modelOf(
      "ABS",
      [
        { name: "x", ...open },
        { name: "y", ...open },
      ],
      [0],
    );
    const model = await load(bytes, { devices, dynamicShapes: true });
    expect((await model.run({ x: [] }))["y"]?.shape).toEqual([0]);
    await model.close();
  });

  it("are profiled: the model is prepared once, and an operation that cannot be separated has no time", async () => {
    const model = await load(sumModel(), { devices, dynamicShapes: true });
    const { time, operations } = await model.profile({ inputs: { rows: [], one: [5, 7] }, runs: 2 });
    expect(time).toBeGreaterThan(0);
    const add = operations.find(({ operation }) => operation === "ADD");
    expect(add).toMatchObject({ operator: "ADD", device: "nnhal-reference", time: undefined });
    expect(operations.map(({ operation }) => operation)).toEqual(["nnhal.tflite FILL", "ADD"]);
    await model.close();
  });

  it("are summed to 0", async () => {
    const tensors = [
      { name: "x", shape: [1, 2], shapeSignature: [-1, 2] },
      { name: "axes", type: "INT32", shape: [1], data: new Uint8Array(4) },
      { name: "y", shape: [2] },
    ] as const;
    const all = modelOf("SUM", tensors, [0, 1], { keepDims: false });
    const model = await load(all, { devices, dynamicShapes: true });
    const [y] = Object.values(await model.run({ x: [], axes: [0] }));
    expect([y?.shape, y && [...y.data]]).toEqual([[2], [0, 0]]);
    await model.close();
  });
});
