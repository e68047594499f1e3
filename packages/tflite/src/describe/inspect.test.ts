import { withFiles } from "@nnhal/test-kit/packed-files";
import { modelIssues } from "@nnhal/validation";
import { describe, expect, test } from "vitest";
import { realModels } from "../_files.test-helper.ts";
import { metadataBlock, withMetadata } from "../_metadata.test-helper.ts";
import { add, modelOf, ofOperators, oneOperator, type SubgraphGiven } from "../_model.test-helper.ts";
import { writeTflite } from "../write.ts";
import { inspectTflite } from "./inspect.ts";

const f = { type: "FLOAT32", shape: [2] } as const;

describe("inspectTflite", () => {
  test("says what becomes of each operator", () => {
    const model = ofOperators(
      { x: f, n: { type: "INT32", shape: [1] }, a: f, b: f, c: f, y: f, z: { type: "INT32", shape: [1] } },
      [
        { name: "SHAPE", inputs: ["x"], outputs: ["z"], options: { outType: "INT32" } },
        { name: "CEIL", inputs: ["x"], outputs: ["a"] },
        { name: "ABS", inputs: ["x"], outputs: ["b"] },
        { name: "COS", inputs: ["a"], outputs: ["c"] },
        add(["a", "c"], "y"),
      ],
      ["x"],
      ["y", "z"],
    );
    const { operators, problems, problemCount, imported } = inspectTflite(model, { extensions: false });
    expect(operators.map(({ name, status, operations, reason }) => [name, status, operations, reason])).toEqual([
      ["SHAPE", "constant", [], undefined],
      ["CEIL", "hal", ["NEG", "FLOOR", "NEG"], undefined],
      ["ABS", "unused", [], undefined],
      ["COS", "blocked", [], "the HAL has no counterpart of operator COS"],
      ["ADD", "hal", ["ADD"], undefined],
    ]);
    expect(problems.map(({ operator }) => operator?.index)).toEqual([3]);
    expect(problemCount).toBe(1);
    expect(imported).toBeUndefined();
  });

  test("includes the HAL model of a file without problems", () => {
    const { imported, problems, operators } = inspectTflite(oneOperator("ABS", { x: f }, { y: f }));
    expect(imported?.operators).toEqual([{ name: "ABS", index: 0 }]);
    expect(problems).toEqual([]);
    expect(operators).toEqual([{ subgraph: 0, index: 0, name: "ABS", version: 1, status: "hal", operations: ["ABS"] }]);
  });

  test("reports the operators of a subgraph that an IF runs, and the IF", () => {
    const flag = { type: "BOOL", shape: [1] } as const;
    const branch = { tensors: { a: f, b: f }, operators: [{ name: "COS", inputs: ["a"], outputs: ["b"] }] };
    const { operators } = inspectTflite(
      modelOf(
        {
          tensors: { flag, x: f, y: f },
          operators: [
            {
              name: "IF",
              inputs: ["flag", "x"],
              outputs: ["y"],
              options: { thenSubgraphIndex: 1, elseSubgraphIndex: 1 },
            },
          ],
          inputs: ["flag", "x"],
          outputs: ["y"],
        },
        { ...branch, inputs: ["a"], outputs: ["b"] },
      ),
      { extensions: false },
    );
    expect(operators.map(({ subgraph, name, reason }) => [subgraph, name, reason])).toEqual([
      [
        0,
        "IF",
        "runs a subgraph that cannot be imported: subgraphs[1].operators[0] (COS version 1): the HAL has no counterpart of operator COS",
      ],
      [1, "COS", "the HAL has no counterpart of operator COS"],
    ]);
  });

  test("counts each constant once", () => {
    const w = { ...f, data: [3, 4] } as const;
    const bytes = writeTflite(
      ofOperators(
        { x: f, w, v: { ...f, data: [5, 6] }, a: f, y: f },
        [add(["x", "w"], "a"), add(["a", "v"], "y")],
        ["x"],
        ["y"],
      ),
    );
    expect(inspectTflite(bytes).constants).toEqual({ count: 2, bytes: 16 });
  });

  test.each([
    ["CONV_2D", { x: [1, 4, 4, 3], w: [8, 3, 3, 3] }, [1, 2, 2, 8], {}, 2 * 2 * 8 * 27],
    ["DEPTHWISE_CONV_2D", { x: [1, 4, 4, 3], w: [1, 3, 3, 3] }, [1, 2, 2, 3], {}, 2 * 2 * 3 * 9],
    ["TRANSPOSE_CONV", { s: [4], w: [8, 3, 3, 5], x: [1, 2, 2, 5] }, [1, 4, 4, 8], {}, 2 * 2 * 5 * 72],
    ["FULLY_CONNECTED", { x: [2, 5], w: [7, 5] }, [2, 7], {}, 2 * 7 * 5],
    ["CONV_3D", { x: [1, 4, 4, 4, 3], w: [3, 3, 3, 3, 8] }, [1, 2, 2, 2, 8], {}, 2 * 2 * 2 * 8 * 81],
    ["CONV_3D_TRANSPOSE", { s: [5], w: [3, 3, 3, 8, 5], x: [1, 2, 2, 2, 5] }, [1, 4, 4, 4, 8], {}, 8 * 5 * 27 * 8],
    ["BATCH_MATMUL", { x: [2, 3, 5], w: [2, 5, 7] }, [2, 3, 7], {}, 2 * 3 * 7 * 5],
    ["BATCH_MATMUL", { x: [2, 5, 3], w: [2, 5, 7] }, [2, 3, 7], { adjX: true }, 2 * 3 * 7 * 5],
    ["RNN", { x: [2, 3], w: [4, 3], r: [4, 4], b: [4] }, [2, 4], {}, 2 * (12 + 16)],
    ["ADD", { x: [2, 5], w: [2, 5] }, [2, 5], {}, 0],
    ["FULLY_CONNECTED", { x: [-1, 5], w: [7, 5] }, [-1, 7], {}, 0],
  ])("counts the multiply-adds of %s (%#)", (name, inputs, output, options, count) => {
    const given = Object.fromEntries(Object.entries(inputs).map(([tensor, shape]) => [tensor, { shape }]));
    expect(inspectTflite(oneOperator(name, given, { y: { shape: output } }, options)).multiplyAdds).toBe(count);
  });

  describe("with a validation", () => {
    const sum = (extent: number) =>
      ofOperators(
        { x: { shape: [2] }, w: { shape: [extent] }, a: { shape: [2] }, y: { shape: [2] } },
        [{ name: "ABS", inputs: ["x"], outputs: ["a"] }, add(["a", "w"], "y")],
        ["x", "w"],
        ["y"],
      );
    const validate = (model: Parameters<typeof modelIssues>[0]) => modelIssues(model, { mode: "runtime" });

    test("imports a model that is valid", () => {
      const { imported, problemCount } = inspectTflite(sum(2), { validate });
      expect([imported === undefined, problemCount]).toEqual([false, 0]);
    });

    test("does not import one that is not: the rule is a problem at its operator", () => {
      const { imported, operators, problems, problemCount } = inspectTflite(sum(3), { validate });
      expect(imported).toBeUndefined();
      expect(problemCount).toBe(1);
      expect(problems).toMatchObject([
        { path: "subgraphs[0].operators[1] (ADD version 1)", operator: { subgraph: 0, index: 1, name: "ADD" } },
      ]);
      expect(operators.map(({ status }) => status)).toEqual(["hal", "blocked"]);
      expect(operators[1]?.reason).toMatch(/^the HAL model that it becomes is not valid: ADD: .*\b3\b.*"w" \[3\]/);
    });

    test.each([
      ["main.operands[2].scale", 0, '"a".scale: a rule'],
      ["main.operations[1].inputs", 1, "inputs: a rule"],
      ["main.operations[1]", 1, "a rule"],
      ["main.operands[0]", 0, '"x": a rule'],
      ["main.operations[9]", undefined, "main.operations[9]: a rule"],
      ["referenced[0].operations[0]", undefined, "referenced[0].operations[0]: a rule"],
      ["pools", undefined, "pools: a rule"],
    ])("finds the operator of %s", (path, index, text) => {
      const { problems } = inspectTflite(sum(2), { validate: () => [{ path, message: "a rule" }] });
      expect(problems.map(({ operator }) => operator?.index)).toEqual([index]);
      expect(problems[0]?.message).toBe(`the HAL model that it becomes is not valid: ${text}`);
    });

    test.each([
      ["referenced[0].operations[0].inputs", 0, 'inputs: "a": a rule'],
      ["referenced[0].operands[0]", 0, '"a": "a": a rule'],
      ["referenced[0].operations[9]", undefined, "referenced[0].operations[9]: operand 0: a rule"],
      ["referenced[0]", undefined, "referenced[0]: operand 0: a rule"],
    ])("finds the operator of %s in a subgraph that an operator runs", (path, index, text) => {
      const branch: SubgraphGiven = {
        tensors: { a: f, b: f },
        operators: [{ name: "ABS", inputs: ["a"], outputs: ["b"] }],
        inputs: ["a"],
        outputs: ["b"],
      };
      const main: SubgraphGiven = {
        tensors: { c: { type: "BOOL", shape: [] }, x: f, y: f },
        operators: [
          { name: "IF", inputs: ["c", "x"], outputs: ["y"], options: { thenSubgraphIndex: 1, elseSubgraphIndex: 1 } },
        ],
        inputs: ["c", "x"],
        outputs: ["y"],
      };
      const validate = () => [{ path, message: "operand 0: a rule" }];
      const { problems } = inspectTflite(modelOf(main, branch), { validate });
      const [problem] = problems;
      expect([problem?.operator?.index, problem?.message]).toEqual([
        index,
        `the HAL model that it becomes is not valid: ${text}`,
      ]);
      expect(problem?.operator?.subgraph).toBe(index === undefined ? undefined : 1);
    });

    test("refuses one that is not a function", () => {
      // As a caller without types could pass it.
      const wrong = { validate: true } as unknown as { validate: typeof validate };
      expect(() => inspectTflite(sum(2), wrong)).toThrow("options.validate: expected a function, got the boolean true");
    });
  });

  test("includes metadata and packed files", () => {
    const model = withMetadata(oneOperator("ABS", { x: f }, { y: f }), metadataBlock({ name: "Digits" }));
    const bytes = withFiles(writeTflite(model), { "labels.txt": new TextEncoder().encode("a\nb\n") });
    const { metadata, packedFiles, notes } = inspectTflite(bytes);
    expect(metadata?.name).toBe("Digits");
    expect(packedFiles).toEqual([{ name: "labels.txt", size: 4 }]);
    expect(notes).toEqual([]);
  });

  test("notes metadata and packed files that are broken, and imports the model", () => {
    const model = withMetadata(oneOperator("ABS", { x: f }, { y: f }), new Uint8Array(3));
    const bytes = withFiles(writeTflite(model), { a: Uint8Array.of(1) });
    bytes.set([0xff, 0xff], bytes.length - 12);
    const { metadata, packedFiles, notes, imported } = inspectTflite(bytes);
    expect([metadata, packedFiles]).toEqual([undefined, []]);
    expect(notes).toEqual([
      "metadata TFLITE_METADATA: the block: expected at least 8 bytes, got 3",
      "packed files: there are 65535, more than 1000",
    ]);
    expect(imported).toBeDefined();
  });
});

const mobilenet = realModels.find(({ name }) => name === "mobilenet_v2_1.0_224_quant");
if (mobilenet !== undefined)
  test("MobileNet v2 has 301 million multiply-adds, metadata and labels", () => {
    const inspection = inspectTflite(mobilenet.bytes);
    expect(Math.round(inspection.multiplyAdds / 1e6)).toBe(301);
    expect(inspection.metadata?.name).toBe("ImageClassifier");
    expect(inspection.packedFiles).toEqual([{ name: "imagenet_labels.txt", size: 21686 }]);
  });
