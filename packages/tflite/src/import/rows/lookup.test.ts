import { describe, expect, test } from "vitest";
import { execute, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const ids = { type: "INT32", shape: [2] } as const;
const rows = { type: "FLOAT32", shape: [2, 3] } as const;

describe("EMBEDDING_LOOKUP", () => {
  test("of floats", () => {
    const table = { type: "FLOAT32", shape: [2, 3], data: [1, 2, 3, 4, 5, 6] } as const;
    expect(importLines(oneOperator("EMBEDDING_LOOKUP", { ids, table }, { rows }))).toEqual([
      "EMBEDDING_LOOKUP(in0, FLOAT32[2,3](1,2,3,4,5,6)) -> out0",
    ]);
  });

  test("of a quantised table with float results: only the rows found are widened", async () => {
    const table = { type: "INT8", shape: [2, 3], data: [1, 2, 3, 4, 5, 6], scale: 0.5 } as const;
    const model = oneOperator("EMBEDDING_LOOKUP", { ids, table }, { rows });
    expect(importLines(model)).toEqual([
      "EMBEDDING_LOOKUP(in0, QUANT8_ASYMM_SIGNED[2,3]*0.5(1,2,3,4,5,6)) -> t0:QUANT8_ASYMM_SIGNED[2,3]*0.5",
      "DEQUANTIZE(t0) -> out0",
    ]);
    expect(await execute(importTflite(model), [[1, 0]])).toEqual([[2, 2.5, 3, 0.5, 1, 1.5]]);
  });

  test("of a table with a scale per row: the table is widened", () => {
    const table = { type: "INT8", shape: [2, 1], data: [1, 2], scale: [0.5, 1], zeroPoint: [0, 0] } as const;
    const model = oneOperator("EMBEDDING_LOOKUP", { ids, table }, { rows: { ...rows, shape: [2, 1] } });
    expect(importLines(model)).toEqual([
      "DEQUANTIZE(QUANT8_SYMM_PER_CHANNEL[2,1]*{0.5,1}d0(1,2)) -> t0:FLOAT32[2,1]",
      "EMBEDDING_LOOKUP(in0, t0) -> out0",
    ]);
  });
});

test("HASHTABLE_LOOKUP: hits are integers without quantisation", () => {
  const keys = { type: "INT32", shape: [2], data: [3, 5] } as const;
  const values = { type: "FLOAT32", shape: [2, 3], data: [1, 2, 3, 4, 5, 6] } as const;
  const model = oneOperator("HASHTABLE_LOOKUP", { ids, keys, values }, { rows, hits: { type: "UINT8", shape: [2] } });
  expect(importLines(model)).toEqual(["HASHTABLE_LOOKUP(in0, INT32[2](3,5), FLOAT32[2,3](1,2,3,4,5,6)) -> out0, out1"]);
  expect(importTflite(model).outputs[1]).toMatchObject({ type: "TENSOR_QUANT8_ASYMM", scale: 1, zeroPoint: 0 });
});

describe("LSH_PROJECTION", () => {
  const hash = { type: "FLOAT32", shape: [2, 2], data: [1, 2, 3, 4] } as const;
  const input = { type: "INT32", shape: [3, 2] } as const;
  const weight = { type: "FLOAT32", shape: [3], data: [1, 2, 3] } as const;

  test("dense with weights", () => {
    const y = { type: "INT32", shape: [4] } as const;
    expect(importLines(oneOperator("LSH_PROJECTION", { hash, input, weight }, { y }, { type: "DENSE" }))).toEqual([
      "LSH_PROJECTION(FLOAT32[2,2](1,2,3,4), in0, FLOAT32[3](1,2,3), 2) -> out0",
    ]);
  });

  test("sparse without", () => {
    const y = { type: "INT32", shape: [2] } as const;
    expect(importLines(oneOperator("LSH_PROJECTION", { hash, input }, { y }, { type: "SPARSE" }))).toEqual([
      "LSH_PROJECTION(FLOAT32[2,2](1,2,3,4), in0, no FLOAT32[0], 3) -> out0",
    ]);
    const weighted = oneOperator("LSH_PROJECTION", { hash, input, weight }, { y }, { type: "SPARSE" });
    expect(() => importTflite(weighted, { extensions: false })).toThrow("sparse projection takes no weights");
    expect(importLines(weighted)[0]).toMatch(/^nnhal.tflite LSH_PROJECTION\(/);
    expect(() => importTflite(oneOperator("LSH_PROJECTION", { hash, input }, { y }), { extensions: false })).toThrow(
      "type UNKNOWN is neither DENSE nor SPARSE",
    );
  });
});
