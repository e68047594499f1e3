import { elementAt } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attempt } from "../_hostile.test-helper.ts";
import { type OperatorGiven, ofOperators, problemOf, type TensorGiven } from "../_model.test-helper.ts";
import { checkOperatorTensors } from "./operator-tensors.ts";
import { commonRows } from "./rows-common.ts";
import { rows as rareRows } from "./rows-rare.ts";

const rows = [...commonRows, ...rareRows];

const operator = (name: string, inputs: readonly number[], outputs: readonly number[]) => ({
  ...{ name, version: 1, inputs, outputs, options: {} },
});

/** Problem of the tensors of an operator; undefined if there is none. */
function problem(name: string, inputs: readonly number[], outputs: readonly number[]): string | undefined {
  try {
    checkOperatorTensors(operator(name, inputs, outputs), "here");
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const count = (length: number) => Array.from({ length }, (_, i) => i);

describe("the tensors of an operator", () => {
  test.each([
    // Name, least and greatest number of inputs and outputs.
    ["ABS", 1, 1, 1, 1],
    ["ADD", 2, 2, 1, 1],
    ["CONV_2D", 2, 3, 1, 1],
    ["TRANSPOSE_CONV", 3, 4, 1, 1],
    ["RESHAPE", 1, 2, 1, 1],
    ["TOPK_V2", 2, 2, 2, 2],
    ["LSTM", 20, 24, 1, 1],
    ["UNIDIRECTIONAL_SEQUENCE_LSTM", 20, 24, 1, 1],
    ["BIDIRECTIONAL_SEQUENCE_LSTM", 39, 48, 1, 2],
    ["BIDIRECTIONAL_SEQUENCE_RNN", 9, 12, 1, 2],
    ["SVDF", 5, 5, 1, 1],
    ["CONCATENATION", 1, 99, 1, 1],
    ["SPLIT", 2, 2, 1, 99],
    ["IF", 1, 99, 0, 99],
    ["WHILE", 0, 99, 0, 99],
  ])("%s takes %d to %d and returns %d to %d", (name, leastInputs, mostInputs, leastOutputs, mostOutputs) => {
    for (const inputs of [leastInputs, mostInputs]) {
      for (const outputs of [leastOutputs, mostOutputs]) {
        expect(problem(name, count(inputs), count(outputs))).toBeUndefined();
      }
    }
    const [inputs, outputs] = [count(leastInputs), count(leastOutputs)];
    if (leastInputs > 0) expect(problem(name, count(leastInputs - 1), outputs)).toContain(`input ${leastInputs - 1} (`);
    if (leastOutputs > 0) expect(problem(name, inputs, [])).toContain("output 0 (");
    if (mostInputs < 99) expect(problem(name, count(mostInputs + 1), outputs)).toContain("inputs, and");
    if (mostOutputs < 99) expect(problem(name, inputs, count(mostOutputs + 1))).toContain("outputs, and");
  });

  test("names the missing, omitted or surplus one", () => {
    const names = "the inputs of CONV_2D are input, filter, bias?";
    expect(problem("CONV_2D", [0], [1])).toBe(
      `TfliteError: here: input 1 (filter) is missing; it has inputs [0], and ${names}`,
    );
    expect(problem("CONV_2D", [-1, 1], [2])).toContain("input 0 (input) is omitted; it has inputs [-1, 1]");
    expect(problem("CONV_2D", [0, 1, -1], [2])).toBeUndefined();
    expect(problem("CONV_2D", [0, 1, 2, 3], [4])).toBe(
      "TfliteError: here: has 4 inputs, and CONV_2D has at most 3: input, filter, bias?",
    );
    expect(problem("CONCATENATION", [0, -1], [1])).toContain("input 1 (values) is omitted");
  });

  test("of an operation of the extension must all be there that it needs", () => {
    const model = ofOperators(
      { params: { shape: [2] }, output: { shape: [2] } },
      [{ name: "GATHER_ND", inputs: ["params"], outputs: ["output"] }],
      ["params"],
      ["output"],
    );
    expect(problemOf(model, { extensions: true })).toContain(
      "subgraphs[0].operators[0] (GATHER_ND version 1): the extension's GATHER_ND needs its indices, which the file leaves out",
    );
  });

  test("of an operator that is not in the table are left alone", () => {
    expect(problem("CUSTOM", [], [])).toBeUndefined();
  });
});

describe("every row", () => {
  const f: TensorGiven = { type: "FLOAT32", shape: [2] };

  /** A model of one operator with so many float inputs and outputs. */
  const modelWith = (name: string, inputs: number, outputs: number) => {
    const names = (letter: string, length: number) => count(length).map((i) => `${letter}${i}`);
    const [read, written] = [names("i", inputs), names("o", outputs)];
    const given: OperatorGiven = { name, inputs: read, outputs: written };
    return ofOperators(Object.fromEntries([...read, ...written].map((each) => [each, f])), [given], read, written);
  };

  test.each(rows.map(({ operator: name }) => name))("%s refuses any wrong number of tensors by name", (name) => {
    for (const inputs of [0, 1, 2, 3, 5, 21, 60]) {
      for (const outputs of [1, 3]) {
        const numbers = problem(name, count(inputs), count(outputs));
        if (numbers === undefined) continue;
        expect(problemOf(modelWith(name, inputs, outputs))).toContain(
          `subgraphs[0].operators[0] (${name} version 1): `,
        );
      }
    }
  });

  test("has a valid model or a TfliteError for any tensors", { timeout: 120_000 }, () => {
    const shape = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 5 });
    const tensor = fc.record({
      type: fc.constantFrom("FLOAT32", "INT32", "UINT8", "INT8", "BOOL", "INT64", "INT16", "STRING", "RESOURCE"),
      shape,
      isConstant: fc.boolean(),
      isVariable: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
    });
    const model = fc.record({
      name: fc.constantFrom(...rows.map(({ operator: name }) => name)),
      tensors: fc.array(tensor, { minLength: 1, maxLength: 30 }),
      results: fc.array(tensor, { minLength: 1, maxLength: 3 }),
      values: fc.array(fc.integer({ min: -4, max: 9 }), { minLength: 1, maxLength: 9 }),
      options: fc.dictionary(
        fc.constantFrom("axis", "blockSize", "num", "numSplits", "keepDims", "alpha", "beta", "strideW", "strideH"),
        fc.oneof(fc.integer({ min: -3, max: 5 }), fc.double(), fc.boolean(), fc.constant("VALID")),
      ),
    });
    fc.assert(
      fc.property(model, ({ name, tensors, results, values, options }) => {
        const give = (list: typeof tensors, letter: string, mayHaveData: boolean) =>
          list.map(({ isConstant, isVariable, ...rest }, i): [string, TensorGiven] => {
            const size = rest.shape.reduce((product, extent) => product * extent, 1);
            const data = count(size).map((at) => elementAt(values, at % values.length));
            const isPlain = !mayHaveData || !isConstant;
            const type = rest.type as "FLOAT32";
            return [
              `${letter}${i}`,
              { ...rest, type, isVariable, scale: 0.5, ...(isPlain || isVariable ? {} : { data }) },
            ];
          });
        const [inputs, outputs] = [give(tensors, "i", true), give(results, "o", false)];
        const free = inputs.filter(([, { data, isVariable }]) => !data && !isVariable);
        const one: OperatorGiven = {
          ...{ name, inputs: inputs.map(([key]) => key), outputs: outputs.map(([key]) => key), options },
        };
        const keys = free.map(([key]) => key);
        attempt(ofOperators(Object.fromEntries([...inputs, ...outputs]), [one], keys, one.outputs));
      }),
      { numRuns: 3000 },
    );
  });
});
