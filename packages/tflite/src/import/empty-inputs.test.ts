import { describe, expect, test } from "vitest";
import { add, executeBytes, ofOperators, problemOf } from "../_model.test-helper.ts";
import { importTflite } from "./import.ts";

const open = { shape: [1, 2], shapeSignature: [-1, 2] } as const;
const sum = ofOperators({ x: open, w: { shape: [1, 2] }, y: open }, [add(["x", "w"], "y")], ["x", "w"], ["y"]);
const import_ = (...given: readonly (readonly [number, readonly number[]])[]) =>
  importTflite(sum, { emptyInputs: new Map(given) });

describe("the option emptyInputs", () => {
  test("makes an input a constant: the others are the inputs of the model", async () => {
    const imported = import_([0, [0, 2]]);
    expect(imported.inputs.map(({ name }) => name)).toEqual(["w"]);
    const [y] = await executeBytes(imported, [{ bytes: new Uint8Array(8), dimensions: [1, 2] }]);
    expect(y).toEqual({ bytes: new Uint8Array(0), dimensions: [0, 2] });
  });

  test("changes nothing if there are none", () => {
    expect(import_().inputs.map(({ name }) => name)).toEqual(["x", "w"]);
  });

  test("names inputs of a signature in its order", () => {
    const signatures = [
      {
        key: "f",
        subgraph: 0,
        inputs: [
          { name: "second", tensor: 1 },
          { name: "first", tensor: 0 },
        ],
        outputs: [{ name: "out", tensor: 2 }],
      },
    ];
    const emptyInputs = new Map([[1, [0, 2]]]);
    const { inputs } = importTflite({ ...sum, signatures }, { signature: "f", emptyInputs });
    expect(inputs.map(({ name, signatureName }) => [name, signatureName])).toEqual([["w", "second"]]);
  });

  test.each([
    ["an input that is not there", [2, [0]], "options.emptyInputs[2]: there is no such input; the model has 2"],
    [
      "a shape with elements",
      [0, [1, 2]],
      "options.emptyInputs[0]: expected a shape without elements that refines [-1, 2], got [1, 2]",
    ],
    ["another rank", [0, [0]], "got [0]"],
    ["another fixed extent", [0, [0, 3]], "got [0, 3]"],
    ["a fixed extent of 0", [1, [0, 2]], "expected a shape without elements that refines [1, 2], got [0, 2]"],
    ["an extent that is not an integer", [0, [0, 2.5]], "got [0, 2.5]"],
  ] as const)("refuses %s", (_, [place, shape], message) => {
    const emptyInputs = new Map<number, readonly number[]>([[place, shape]]);
    expect(problemOf(sum, { emptyInputs })).toContain(message);
  });

  test("refuses what is not a Map", () => {
    expect(problemOf(sum, { emptyInputs: { 0: [0, 2] } })).toContain(
      "options.emptyInputs: expected a Map, got an object",
    );
  });
});
