import { describe, expect, test } from "vitest";
import {
  execute,
  importLines,
  type OperatorGiven,
  ofOperators,
  problemOf,
  type TensorGiven,
} from "../_model.test-helper.ts";
import { importTflite } from "./import.ts";

const f = { type: "FLOAT32", shape: [4, 6] } as const;
const int = (data: readonly number[], shape = [data.length]): TensorGiven => ({ type: "INT32", shape, data });
const result = (shape: readonly number[]): TensorGiven => ({ type: "INT32", shape });

/** The constant that an operator on constants becomes. */
function fold(
  name: string,
  inputs: readonly TensorGiven[],
  output: TensorGiven,
  options: OperatorGiven["options"] = {},
): string {
  const tensors = Object.fromEntries(inputs.map((tensor, i) => [`c${i}`, tensor]));
  const operator = { name, inputs: Object.keys(tensors), outputs: ["y"], options };
  const [line = ""] = importLines(ofOperators({ ...tensors, y: output }, [operator], [], ["y"]));
  return /^CAST\(INT32\[[^\]]*\]\((.*)\)\) -> out0$/.exec(line)?.[1] ?? line;
}

const masks = { beginMask: 0, endMask: 0, ellipsisMask: 0, newAxisMask: 0, shrinkAxisMask: 0, offset: false };

describe("operators on integer constants are computed by the import", () => {
  const matrix = int([0, 1, 2, 3, 4, 5], [2, 3]);
  test.each<[string, TensorGiven[], TensorGiven, OperatorGiven["options"], string]>([
    ["ADD", [int([1, 2]), int([10], [])], result([2]), {}, "11,12"],
    ["SUB", [int([1, 2], [2, 1]), int([10, 20])], result([2, 2]), {}, "-9,-19,-8,-18"],
    ["MUL", [int([3, -2]), int([4, 5])], result([2]), {}, "12,-10"],
    ["DIV", [int([7, -7]), int([2, 2])], result([2]), {}, "3,-3"],
    ["FLOOR_DIV", [int([7, -7]), int([2, 2])], result([2]), {}, "3,-4"],
    ["FLOOR_MOD", [int([7, -7, 7]), int([3, 3, -3])], result([3]), {}, "1,2,-2"],
    ["MAXIMUM", [int([1, 5]), int([3, 3])], result([2]), {}, "3,5"],
    ["MINIMUM", [int([1, 5]), int([3, 3])], result([2]), {}, "1,3"],
    ["RESHAPE", [matrix, int([3, 2])], result([3, 2]), {}, "0,1,2,3,4,5"],
    ["SQUEEZE", [int([7], [1, 1])], result([]), { squeezeDims: [] }, "7"],
    ["EXPAND_DIMS", [int([7], []), int([0], [])], result([1]), {}, "7"],
    ["PACK", [int([1], []), int([2], [])], result([2]), { valuesCount: 2, axis: 0 }, "1,2"],
    ["PACK", [int([1, 2]), int([3, 4])], result([2, 2]), { valuesCount: 2, axis: -1 }, "1,3,2,4"],
    ["CONCATENATION", [matrix, int([8, 9], [2, 1])], result([2, 4]), { axis: 1 }, "0,1,2,8,3,4,5,9"],
    ["SLICE", [matrix, int([0, 1]), int([-1, 2])], result([2, 2]), {}, "1,2,4,5"],
    ["GATHER", [int([5, 6, 7]), int([2, 0])], result([2]), { axis: 0, batchDims: 0 }, "7,5"],
    ["SUM", [matrix, int([0, 1])], result([1]), { keepDims: false }, "15"],
    ["REDUCE_PROD", [int([2, 3, 4]), int([0])], result([]), { keepDims: false }, "24"],
    ["RANGE", [int([2], []), int([9], []), int([3], [])], result([3]), {}, "2,5,8"],
    ["FILL", [int([2, 2]), int([7], [])], result([2, 2]), {}, "7,7,7,7"],
    ["STRIDED_SLICE", [matrix, int([1, 0]), int([2, 3]), int([1, 2])], result([1, 2]), masks, "3,5"],
    [
      "STRIDED_SLICE",
      [int([4, 5, 6]), int([-1]), int([0]), int([1])],
      result([]),
      { ...masks, shrinkAxisMask: 1 },
      "6",
    ],
  ])("%s (%#)", (name, inputs, output, options, wanted) => {
    expect(fold(name, inputs, output, options)).toBe(wanted);
  });

  test("in INT64, too, and from one type to another", async () => {
    const wide = (data: readonly number[]): TensorGiven => ({ type: "INT64", shape: [data.length], data });
    const y = { type: "INT64", shape: [2] } as const;
    const sum = ofOperators(
      { a: wide([1, -2]), b: wide([10, 0]), y },
      [{ name: "ADD", inputs: ["a", "b"], outputs: ["y"] }],
      [],
      ["y"],
    );
    expect(importLines(sum)).toEqual(["nnhal.tflite CAST(?) -> out0"]);
    expect(await execute(importTflite(sum), [])).toEqual([[11, -2]]);
    expect(fold("CAST", [wide([1, -2])], result([2]))).toBe("1,-2");
  });

  test("one after the other, from the shape of a tensor", () => {
    const model = ofOperators(
      {
        x: f,
        s: result([2]),
        n: int([0]),
        e: int([1]),
        h: result([1]),
        w: int([-1]),
        t: result([2]),
      },
      [
        { name: "SHAPE", inputs: ["x"], outputs: ["s"] },
        { name: "STRIDED_SLICE", inputs: ["s", "n", "e", "e"], outputs: ["h"], options: masks },
        { name: "CONCATENATION", inputs: ["h", "w"], outputs: ["t"], options: { axis: 0 } },
      ],
      ["x"],
      ["t"],
    );
    expect(importLines(model)).toEqual(["CAST(INT32[2](4,-1)) -> out0"]);
  });
});

describe("operators are not computed by the import", () => {
  const one = (name: string, inputs: readonly TensorGiven[], output: TensorGiven, options = {}) => {
    const tensors = Object.fromEntries(inputs.map((tensor, i) => [`c${i}`, tensor]));
    const given = Object.entries(tensors).flatMap(([key, { data }]) => (data ? [] : [key]));
    const operator = { name, inputs: Object.keys(tensors), outputs: ["y"], options };
    return ofOperators({ ...tensors, y: output }, [operator], given, ["y"]);
  };

  test.each<[string, readonly string[]]>([
    ["with an input that is not a constant", importLines(one("ADD", [result([2]), int([1, 2])], result([2])))],
    ["that divide by 0", importLines(one("FLOOR_DIV", [int([1]), int([0])], result([1])))],
    ["whose result does not fit in 32 bits", importLines(one("ADD", [int([2 ** 31 - 1]), int([1])], result([1])))],
    [
      "on floats",
      importLines(
        one(
          "ADD",
          [
            { ...f, data: new Array(24).fill(1) },
            { ...f, data: new Array(24).fill(1) },
          ],
          f,
        ),
      ),
    ],
    [
      "with more than 4096 elements",
      importLines(one("ADD", [int(new Array(4097).fill(1)), int([1], [1])], result([4097]))),
    ],
  ])("%s", (_what, lines) => {
    expect(lines[0]).toMatch(/^(ADD|DIV)\(/);
  });

  test.each<[string, readonly TensorGiven[], TensorGiven, object, string]>([
    ["RANGE", [result([]), int([9], []), int([3], [])], result([3]), {}, "no counterpart of operator RANGE"],
    [
      "ADD",
      [int([1]), int([2])],
      result([1]),
      { fusedActivationFunction: "RELU" },
      "the HAL cannot apply the activation RELU to INT32",
    ],
    ["RESHAPE", [int([1, 2, 3]), int([2])], result([2]), {}, "3 elements do not fill the shape [2]"],
  ])("%s that has no result", (name, inputs, output, options, message) => {
    expect(problemOf(one(name, inputs, output, options))).toContain(message);
  });
});
