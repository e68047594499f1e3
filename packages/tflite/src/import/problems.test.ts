import { elementAt } from "@nnhal/operations";
import { describe, expect, test } from "vitest";
import { add, firstSubgraph, modelOf, ofOperators, oneOperator } from "../_model.test-helper.ts";
import { TfliteError } from "../error.ts";
import type { TfliteModel } from "../model.ts";
import { importTflite } from "./import.ts";

const f = { type: "FLOAT32", shape: [2] } as const;
const cos = (input: string, output: string) => ({ name: "COS", inputs: [input], outputs: [output] });

function errorOf(model: TfliteModel): TfliteError {
  try {
    importTflite(model, { extensions: false });
  } catch (error) {
    if (error instanceof TfliteError) return error;
    throw error;
  }
  throw new TypeError("the model is imported");
}

describe("all problems are reported together", () => {
  test("those of operators, each with its place, operator and rule", () => {
    const model = ofOperators(
      { x: f, a: f, b: f, y: f },
      [
        cos("x", "a"),
        { name: "ABS", inputs: ["a"], outputs: ["b"], version: 99 },
        { name: "CUSTOM", customCode: "Mine", inputs: ["b"], outputs: ["y"], version: 2 },
      ],
      ["x"],
      ["y"],
    );
    const error = errorOf(model);
    expect(error.problems).toEqual([
      {
        path: "subgraphs[0].operators[0] (COS version 1)",
        message: "the HAL has no counterpart of operator COS",
        operator: { subgraph: 0, index: 0, name: "COS", version: 1 },
      },
      {
        path: "subgraphs[0].operators[1] (ABS version 99)",
        message: "version 99 is not supported, only 1 to 5",
        operator: { subgraph: 0, index: 1, name: "ABS", version: 99 },
      },
      {
        path: "subgraphs[0].operators[2] (CUSTOM version 2)",
        message: 'the HAL has no counterpart of the custom operator "Mine"',
        operator: { subgraph: 0, index: 2, name: "CUSTOM", customCode: "Mine", version: 2 },
        help: "give an extension with an operation of its name: --extension, extensions of load, customOperators of importTflite",
      },
    ]);
    expect(error.problemCount).toBe(3);
    expect(error.path).toBe("subgraphs[0].operators[0] (COS version 1)");
    expect(error.message).toMatch(
      /^3 problems: subgraphs\[0\]\.operators\[0\] .*; .*operators\[1\] .*; .*operators\[2\] .*"Mine"$/,
    );
  });

  test("what helps against operators of StableHLO", () => {
    const [problem] = errorOf(oneOperator("STABLEHLO_ABS", { x: f }, { y: f })).problems;
    expect(problem?.help).toBe("convert the model to the operators of TensorFlow Lite, not to StableHLO");
  });

  test("those of tensors once, with what helps", () => {
    const d = { type: "FLOAT64", shape: [2] } as const;
    const model = ofOperators({ x: d, a: f, y: f }, [add(["x", "x"], "a"), add(["a", "x"], "y")], ["x"], ["y"]);
    expect(errorOf(model).problems).toEqual([
      {
        path: 'subgraphs[0].tensors[0] "x"',
        message: "the HAL has no tensors of type FLOAT64",
        tensor: { subgraph: 0, index: 0, name: "x" },
        help: "convert the model with 32-bit floats",
      },
    ]);
  });

  test("a tensor's problem that an operator meets first has both", () => {
    const d = { type: "STRING", shape: [2] } as const;
    const model = oneOperator("ABS", { x: f }, { y: d });
    expect(errorOf(model).problems).toEqual([
      {
        path: "subgraphs[0].operators[0] (ABS version 1)",
        message: 'subgraphs[0].tensors[1] "y": the HAL has no tensors of type STRING',
        operator: { subgraph: 0, index: 0, name: "ABS", version: 1 },
        tensor: { subgraph: 0, index: 1, name: "y" },
      },
    ]);
  });

  test("those of an output, of an input that is too large and of a constant that does not fit name the tensor", () => {
    const large = { type: "FLOAT32", shape: [70_000, 70_000] } as const;
    const long = { type: "INT64", shape: [1] } as const;
    const wide = { ...long, data: [2 ** 40] };
    const model = ofOperators(
      { x: f, z: f, y: f, large, i: long, wide, sum: long },
      [add(["x", "x"], "y"), add(["i", "wide"], "sum")],
      ["x", "large", "i"],
      ["y", "z", "sum"],
    );
    expect(errorOf(model).problems).toEqual([
      {
        path: 'subgraphs[0].tensors[1] "z"',
        message: "is an output, but nothing writes it and it has no data",
        tensor: { subgraph: 0, index: 1, name: "z" },
      },
      {
        path: 'subgraphs[0].tensors[3] "large"',
        message: "a TENSOR_FLOAT32 [70000, 70000] takes more than the 4294967295 bytes that the HAL can express",
        tensor: { subgraph: 0, index: 3, name: "large" },
      },
      {
        path: "subgraphs[0].operators[1] (ADD version 1)",
        message: 'subgraphs[0].tensors[5] "wide": the HAL has 32-bit integers only, and 1099511627776 does not fit',
        operator: { subgraph: 0, index: 1, name: "ADD", version: 1 },
        tensor: { subgraph: 0, index: 5, name: "wide" },
      },
    ]);
  });

  test("wrong tensors of one operator and operators before it", () => {
    const model = ofOperators({ x: f, a: f, y: f }, [cos("x", "a"), add(["a"], "y")], ["x"], ["y"]);
    expect(errorOf(model).problems.map(({ path }) => path)).toEqual([
      "subgraphs[0].operators[1] (ADD version 1)",
      "subgraphs[0].operators[0] (COS version 1)",
    ]);
  });

  test("those inside both branches of an IF, once", () => {
    const flag = { type: "BOOL", shape: [1] } as const;
    const branch = (name: string) => ({
      tensors: { a: f, b: f },
      operators: [{ name, inputs: ["a"], outputs: ["b"] }],
      inputs: ["a"],
      outputs: ["b"],
    });
    const conditional = (output: string) => ({
      name: "IF",
      inputs: ["flag", "x"],
      outputs: [output],
      options: { thenSubgraphIndex: 1, elseSubgraphIndex: 2 },
    });
    const model = modelOf(
      {
        tensors: { flag, x: f, y: f, z: f },
        operators: [conditional("y"), conditional("z")],
        inputs: ["flag", "x"],
        outputs: ["y", "z"],
      },
      branch("COS"),
      branch("ROUND"),
    );
    expect(errorOf(model).problems.map(({ operator }) => operator)).toEqual([
      { subgraph: 1, index: 0, name: "COS", version: 1 },
      { subgraph: 2, index: 0, name: "ROUND", version: 1 },
    ]);
  });

  test("operators that no output depends on have none", () => {
    const model = ofOperators({ x: f, a: f, y: f }, [cos("x", "a"), add(["x", "x"], "y")], ["x"], ["y"]);
    expect(importTflite(model).operators).toEqual([{ name: "ADD", index: 1 }]);
  });

  test.each([
    [3, 3, /operators\[2\] \(COS version 1\): the HAL has no counterpart of operator COS$/],
    [4, 4, /; and 1 more$/],
    [100, 100, /^100 problems: .*; and 97 more$/],
    [101, 100, /^101 problems: .*; and 98 more$/],
  ])("of %d problems %d are listed", (count, listed, message) => {
    const one = oneOperator("COS", { x: f }, { y: f });
    const { tensors, operators } = firstSubgraph(one);
    const [tensor, operator] = [elementAt(tensors, 0), elementAt(operators, 0)];
    const error = errorOf({
      ...one,
      subgraphs: [
        {
          name: "",
          tensors: Array.from({ length: count + 1 }, () => tensor),
          operators: Array.from({ length: count }, (_, i) => ({ ...operator, inputs: [i], outputs: [i + 1] })),
          inputs: [0],
          outputs: [count],
        },
      ],
    });
    expect(error.problems).toHaveLength(listed);
    expect(error.problemCount).toBe(count);
    expect(error.message).toMatch(message);
  });
});

describe("messages stay short", () => {
  test("whatever the names and lists of the file", () => {
    const name = "n".repeat(10_000);
    const list = new Array<number>(10_000).fill(7);
    const one = oneOperator("SQUEEZE", { x: f }, { y: { type: "STRING", shape: [2] } }, { squeezeDims: list });
    const renamed = firstSubgraph(one).tensors.map((tensor) => ({ ...tensor, name }));
    const problems = [
      errorOf({ ...one, subgraphs: [{ ...firstSubgraph(one), tensors: renamed }] }),
      errorOf(oneOperator("ABS", { x: f }, { y: { type: "FLOAT32", shape: list } })),
      errorOf(oneOperator("CUSTOM", { x: f }, { y: f }, {}, { customCode: name })),
      errorOf(oneOperator("ADD", { x: f, w: { type: "FLOAT32", shape: list, data: [1] } }, { y: f })),
    ];
    for (const { message } of problems) expect(message.length).toBeLessThan(500);
    expect(problems[1]?.message).toContain("the shape has 10000 dimensions, more than 32");
  });
});
