import { describe, expect, test } from "vitest";
import { abs, attempt, fileOf, operatorRow, subgraphFile, tensorRow } from "./_hostile.test-helper.ts";
import { firstOperator, firstSubgraph, modelOf } from "./_model.test-helper.ts";
import { importTflite } from "./import/import.ts";
import { readTflite, tfliteIssues } from "./read.ts";
import { writeTflite } from "./write.ts";

const f = { type: "FLOAT32", shape: [1, 2] } as const;

const quantization = {
  ...{ min: undefined, max: undefined, scale: [1, 2], zeroPoint: [0, 0], detailsType: 0, details: undefined },
  quantizedDimension: 0,
};

describe("rows that do not fit together are refused", () => {
  test("the file that the others are made from is fine", () => {
    expect(attempt(subgraphFile({}))).toBe("fine");
  });

  test.each([
    [fileOf({ version: 2 }), "model.version: schema version 2 is not supported, only 3"],
    [fileOf({}), "model.subgraphs: the file has no subgraph"],
    [subgraphFile({ inputs: [2] }), "subgraphs[0].inputs[0]: there is no tensor 2; the subgraph has 2"],
    [subgraphFile({ outputs: [-1] }), "subgraphs[0].outputs[0]: there is no tensor -1"],
    [
      subgraphFile({ operators: [{ ...operatorRow, inputs: [-2] }] }),
      "operators[0] (ABS).inputs[0]: there is no tensor -2",
    ],
    [
      subgraphFile({ operators: [{ ...operatorRow, outputs: [-1] }] }),
      "operators[0] (ABS).outputs[0]: there is no tensor -1",
    ],
    [
      subgraphFile({ operators: [{ ...operatorRow, intermediates: [2] }] }),
      "operators[0] (ABS).intermediates[0]: there is no tensor 2",
    ],
    [
      subgraphFile({ operators: [{ ...operatorRow, opcodeIndex: 1 }] }),
      "opcodeIndex: there is no operator code 1; the file has 1",
    ],
    [
      subgraphFile({}, { operatorCodes: [{ ...abs, deprecatedBuiltinCode: -1, builtinCode: -2 }] }),
      "operator code -1 is negative",
    ],
    [
      subgraphFile({ tensors: [{ ...tensorRow, type: 23 }, tensorRow] }),
      "tensors[0].type: tensor type 23 is not known",
    ],
    [
      subgraphFile({ tensors: [{ ...tensorRow, type: -1 }, tensorRow] }),
      "tensors[0].type: tensor type -1 is not known",
    ],
    [
      subgraphFile({ tensors: [{ ...tensorRow, buffer: 1 }, tensorRow] }),
      "tensors[0].buffer: there is no buffer 1; the file has 0",
    ],
    [
      subgraphFile({ tensors: [{ ...tensorRow, externalBuffer: 1 }, tensorRow] }),
      "tensors[0].externalBuffer: there is no external buffer with the id 1",
    ],
    [
      subgraphFile({ tensors: [{ ...tensorRow, quantization: { ...quantization, zeroPoint: [0] } }, tensorRow] }),
      "quantization: 1 zero points for 2 scales",
    ],
    [
      subgraphFile({ tensors: [{ ...tensorRow, quantization: { ...quantization, detailsType: 4 } }, tensorRow] }),
      "quantisation details of kind 4 are not known",
    ],
    [
      subgraphFile({}, { metadata: [{ name: "m", buffer: 3 }] }),
      "metadata[0].buffer: there is no buffer 3; the file has 0",
    ],
    [
      subgraphFile(
        {},
        {
          signatureDefs: [
            { inputs: undefined, outputs: undefined, signatureKey: "k", deprecatedTag: false, subgraphIndex: 1 },
          ],
        },
      ),
      "signatureDefs[0].subgraphIndex: there is no subgraph 1",
    ],
    [
      subgraphFile(
        {},
        {
          signatureDefs: [
            {
              inputs: [{ name: "x", tensorIndex: 2 }],
              outputs: undefined,
              signatureKey: "k",
              deprecatedTag: false,
              subgraphIndex: 0,
            },
          ],
        },
      ),
      "signatureDefs[0].inputs[0]: there is no tensor 2",
    ],
  ])("%#", (bytes, message) => {
    expect(attempt(bytes)).toContain(message);
  });

  test("zero points beyond exact numbers", () => {
    const bytes = subgraphFile({
      tensors: [{ ...tensorRow, quantization: { ...quantization, zeroPoint: [0, 0x0123_4567_89ab] } }, tensorRow],
    });
    const at = bytes.findIndex((_, i) => new DataView(bytes.buffer).getBigInt64(i, true) === 0x0123_4567_89abn);
    new DataView(bytes.buffer).setBigInt64(at, 2n ** 60n, true);
    expect(attempt(bytes)).toContain("zeroPoint: NaN is not an integer");
  });

  test("options of another operator", () => {
    const bytes = writeTflite(
      modelOf({
        tensors: { x: f, y: f },
        operators: [{ name: "ADD", inputs: ["x", "x"], outputs: ["y"], options: { fusedActivationFunction: "RELU" } }],
        inputs: ["x"],
        outputs: ["y"],
      }),
    );
    expect(attempt(bytes)).toBe("fine");
    // ADD's options have code 11 in the union; 21 is MUL's, 127 is unused.
    const places = Array.from(bytes.keys()).filter((i) => bytes[i] === 11);
    const messages = [21, 127].map((code) => places.map((at) => attempt(bytes.with(at, code))));
    expect(messages[0]).toContainEqual(
      expect.stringContaining("(ADD).options: carries MulOptions where AddOptions belong"),
    );
    expect(messages[1]).toContainEqual(
      expect.stringContaining("(ADD).options: carries options of kind 127 where AddOptions belong"),
    );
  });
});

describe("indexes that are out of range", () => {
  test("are listed, every one", () => {
    expect(tfliteIssues(subgraphFile({}))).toEqual([]);
    const bytes = subgraphFile(
      {
        inputs: [2],
        outputs: [1, -1],
        tensors: [{ ...tensorRow, buffer: 1 }, tensorRow],
        operators: [
          { ...operatorRow, inputs: [0, -1, -2], outputs: [-1], intermediates: [2] },
          { ...operatorRow, opcodeIndex: 1 },
        ],
      },
      { metadata: [{ name: "m", buffer: 3 }] },
    );
    expect(tfliteIssues(bytes)).toEqual([
      { path: "subgraphs[0].tensors[0].buffer", message: "there is no buffer 1; the file has 0" },
      { path: "subgraphs[0].operators[1].opcodeIndex", message: "there is no operator code 1; the file has 1" },
      { path: "metadata[0].buffer", message: "there is no buffer 3; the file has 0" },
      { path: "subgraphs[0].operators[0] (ABS).inputs[2]", message: "there is no tensor -2; the subgraph has 2" },
      { path: "subgraphs[0].operators[0] (ABS).outputs[0]", message: "there is no tensor -1; the subgraph has 2" },
      { path: "subgraphs[0].operators[0] (ABS).intermediates[0]", message: "there is no tensor 2; the subgraph has 2" },
      { path: "subgraphs[0].inputs[0]", message: "there is no tensor 2; the subgraph has 2" },
      { path: "subgraphs[0].outputs[1]", message: "there is no tensor -1; the subgraph has 2" },
    ]);
    expect(tfliteIssues(bytes, 3)).toHaveLength(3);
    expect(() => readTflite(bytes)).toThrow("subgraphs[0].tensors[0].buffer: there is no buffer 1");
  });

  test("do not hide that a file is broken in another way", () => {
    expect(() => tfliteIssues(subgraphFile({ inputs: [2] }).subarray(0, 40))).toThrow("lie outside the file");
  });
});

describe("features of old and large files", () => {
  test("an operator code in the old field only, or in the new one only", () => {
    for (const operatorCode of [
      { ...abs, builtinCode: 0 },
      { ...abs, deprecatedBuiltinCode: 0 },
      { ...abs, deprecatedBuiltinCode: 101 },
    ]) {
      const file = subgraphFile({}, { operatorCodes: [operatorCode] });
      expect(firstOperator(readTflite(file)).name).toBe("ABS");
    }
    const elsewhere = { ...abs, deprecatedBuiltinCode: 127, builtinCode: 140 };
    const file = subgraphFile({}, { operatorCodes: [elsewhere] });
    expect(firstOperator(readTflite(file)).name).toBe("REDUCE_ALL");
  });

  test("scales without zero points: they are 0", () => {
    const row = { ...tensorRow, quantization: { ...quantization, zeroPoint: undefined } };
    const { tensors } = firstSubgraph(readTflite(subgraphFile({ tensors: [row, tensorRow] })));
    expect(tensors[0]?.quantization?.zeroPoint).toEqual([0, 0]);
  });

  test("a quantisation without scales is none", () => {
    const row = {
      ...tensorRow,
      quantization: { ...quantization, scale: undefined, zeroPoint: undefined, min: [0], max: [1] },
    };
    const { tensors } = firstSubgraph(readTflite(subgraphFile({ tensors: [row, tensorRow] })));
    expect(tensors).toHaveLength(2);
    expect(tensors[0]).not.toHaveProperty("quantization");
  });

  const outside = (offset: number, size: number) => {
    const row = { ...tensorRow, buffer: 1 };
    const none = { data: undefined, offset: 0, size: 0 };
    return subgraphFile(
      { tensors: [tensorRow, tensorRow, row], operators: [{ ...operatorRow, inputs: [0, 2] }] },
      {
        buffers: [none, { ...none, offset, size }],
        operatorCodes: [{ ...abs, deprecatedBuiltinCode: 0, builtinCode: 0 }],
      },
    );
  };

  test("constants behind the FlatBuffer", () => {
    const length = outside(1000, 8).length;
    const whole = new Uint8Array(length + 8);
    whole.set(outside(length, 8));
    whole.set([0, 0, 128, 63, 0, 0, 0, 64], length);
    const tensor = firstSubgraph(readTflite(whole)).tensors[2];
    expect(tensor?.data).toEqual(whole.subarray(length));
    expect(tensor?.data?.buffer).toBe(whole.buffer);
    const { model } = importTflite(whole);
    expect(model.main.operands.map(({ location }) => location)).toContainEqual({
      poolIndex: 0,
      offset: length,
      length: 8,
    });
  });

  test.each([
    [1000, 8, "buffers[1]: bytes 1000 to 1008 lie outside the file of"],
    [2 ** 52, 2 ** 52, "lie outside the file of"],
  ])("constants at %d of %d bytes that do not exist are refused", (offset, size, message) => {
    expect(attempt(outside(offset, size))).toContain(message);
  });

  test("custom options behind the FlatBuffer", () => {
    const custom = { deprecatedBuiltinCode: 32, customCode: "Mine", version: 1, builtinCode: 32 };
    const file = (at: number) =>
      subgraphFile(
        { operators: [{ ...operatorRow, largeCustomOptionsOffset: at, largeCustomOptionsSize: 3 }] },
        { operatorCodes: [custom] },
      );
    const { length } = file(1000);
    const whole = Uint8Array.of(...file(length), 7, 8, 9);
    expect(firstOperator(readTflite(whole))).toMatchObject({
      customCode: "Mine",
      customOptions: Uint8Array.of(7, 8, 9),
    });
    expect(attempt(file(1000))).toContain("customOptions: bytes 1000 to 1003 lie outside the file");
  });
});
