import { describe, expect, test } from "vitest";
import { execute, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [2] } as const;
const padded = { type: "FLOAT32", shape: [4] } as const;
const pads = { type: "INT32", shape: [1, 2], data: [1, 1] } as const;
const q8 = { type: "UINT8", scale: 0.5, zeroPoint: 3 } as const;

test("PAD", () => {
  expect(importLines(oneOperator("PAD", { x: f, pads }, { y: padded }))).toEqual(["PAD(in0, INT32[1,2](1,1)) -> out0"]);
});

describe("PADV2", () => {
  test("of floats", () => {
    const value = { type: "FLOAT32", shape: [], data: [0.5] } as const;
    expect(importLines(oneOperator("PADV2", { x: f, pads, value }, { y: padded }))).toEqual([
      "PAD_V2(in0, INT32[1,2](1,1), 0.5) -> out0",
    ]);
  });

  test("of FLOAT16", () => {
    const half = { type: "FLOAT16", shape: [2] } as const;
    const value = { type: "FLOAT16", shape: [1], data: [0xc000] } as const;
    const y = { ...half, shape: [4] };
    expect(importLines(oneOperator("PADV2", { x: half, pads, value }, { y }))).toEqual([
      "PAD_V2(in0, INT32[1,2](1,1), -2) -> out0",
    ]);
  });

  test("of quantised tensors the value stays quantised", () => {
    const value = { ...q8, shape: [1], data: [7] };
    const model = (given: object) =>
      oneOperator("PADV2", { x: { ...q8, ...f, type: "UINT8" }, pads, value: given }, { y: { ...q8, shape: [4] } });
    expect(importLines(model(value))).toEqual(["PAD_V2(in0, INT32[1,2](1,1), 7) -> out0"]);
    expect(() => importTflite(model({ ...value, zeroPoint: 4 }), { extensions: false })).toThrow(
      "the value must be quantised as the input is",
    );
  });

  test.each([
    [{ type: "FLOAT32", shape: [1] }, "the HAL needs the value (input 2) as a constant, and it is computed"],
    [{ type: "FLOAT32", shape: [2], data: [1, 2] }, "the value (input 2) must be one number"],
  ] as const)("the value %j is refused", (value, message) => {
    expect(() =>
      importTflite(oneOperator("PADV2", { x: f, pads, value }, { y: padded }), { extensions: false }),
    ).toThrow(message);
  });
});

test.each([
  ["INT64", [1, 2], 7],
  ["INT16", [1, 2], 7],
  ["BOOL", [1, 0], 1],
  ["FLOAT32", [1, 2], undefined],
  ["INT8", [1, 2], undefined],
] as const)(
  "PADV2 of %s with a value that the HAL does not take is of the extension",
  async (type, given, constant) => {
    const x = { type, shape: [2], ...(type === "INT8" && { scale: 0.5 }) } as const;
    const value = { ...x, shape: [1], ...(constant !== undefined && { data: [constant] }) };
    const model = oneOperator("PADV2", { x, pads, value }, { y: { ...x, shape: [4] } });
    const around = constant ?? 5;
    const inputs = constant === undefined ? [given, [around]] : [given];
    expect(await execute(importTflite(model), inputs)).toEqual([[around, ...given, around]]);
  },
);

test.each(["BOOL", "UINT8", "INT64", "INT16"] as const)("FILL of %s is of the extension", async (type) => {
  const extents = { type: "INT32", shape: [1], data: [3] } as const;
  const model = oneOperator("FILL", { extents, value: { type, shape: [], data: [1] } }, { y: { type, shape: [3] } });
  expect(await execute(importTflite(model), [])).toEqual([[1, 1, 1]]);
});

describe("between space, depth and batch", () => {
  const image = { type: "FLOAT32", shape: [1, 4, 4, 1] } as const;
  const deep = { type: "FLOAT32", shape: [1, 2, 2, 4] } as const;
  const batches = { type: "FLOAT32", shape: [4, 2, 2, 1] } as const;
  const block = { type: "INT32", shape: [2], data: [2, 2] } as const;
  const margins = (...data: number[]) => ({ type: "INT32", shape: [2, 2], data }) as const;

  test("SPACE_TO_DEPTH and DEPTH_TO_SPACE", () => {
    const options = { blockSize: 2 };
    expect(importLines(oneOperator("SPACE_TO_DEPTH", { x: image }, { y: deep }, options))).toEqual([
      "SPACE_TO_DEPTH(in0, 2) -> out0",
    ]);
    expect(importLines(oneOperator("DEPTH_TO_SPACE", { x: deep }, { y: image }, options))).toEqual([
      "DEPTH_TO_SPACE(in0, 2) -> out0",
    ]);
    expect(() => importTflite(oneOperator("DEPTH_TO_SPACE", { x: deep }, { y: image }), { extensions: false })).toThrow(
      "option blockSize: expected at least 1, got 0",
    );
  });

  test("SPACE_TO_BATCH_ND", () => {
    expect(
      importLines(oneOperator("SPACE_TO_BATCH_ND", { x: image, block, pads: margins(0, 0, 0, 0) }, { y: batches })),
    ).toEqual(["SPACE_TO_BATCH_ND(in0, INT32[2](2,2), INT32[2,2](0,0,0,0)) -> out0"]);
  });

  test("other than four dimensions are refused without the extension", () => {
    const x = { type: "FLOAT32", shape: [1, 4, 1] } as const;
    const one = { type: "INT32", shape: [1], data: [2] } as const;
    const none = { type: "INT32", shape: [1, 2], data: [0, 0] } as const;
    const model = oneOperator("SPACE_TO_BATCH_ND", { x, one, none }, { y: { ...x, shape: [2, 2, 1] } });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "the HAL needs 4 dimensions here, the input has 3",
    );
  });

  test("three dimensions are of the extension", async () => {
    const x = { type: "FLOAT32", shape: [1, 4, 1] } as const;
    const y = { type: "FLOAT32", shape: [2, 2, 1] } as const;
    const one = { type: "INT32", shape: [1], data: [2] } as const;
    const none = { type: "INT32", shape: [1, 2], data: [0, 0] } as const;
    const apart = oneOperator("SPACE_TO_BATCH_ND", { x, one, none }, { y });
    expect(await execute(importTflite(apart), [[1, 2, 3, 4]])).toEqual([[1, 3, 2, 4]]);
    const together = oneOperator("BATCH_TO_SPACE_ND", { y, one, none }, { x });
    expect(await execute(importTflite(together), [[1, 3, 2, 4]])).toEqual([[1, 2, 3, 4]]);
  });

  test("BATCH_TO_SPACE_ND", () => {
    expect(
      importLines(oneOperator("BATCH_TO_SPACE_ND", { x: batches, block, crops: margins(0, 0, 0, 0) }, { y: image })),
    ).toEqual(["BATCH_TO_SPACE_ND(in0, INT32[2](2,2)) -> out0"]);
  });

  test("BATCH_TO_SPACE_ND with crops is sliced", async () => {
    const y = { type: "FLOAT32", shape: [1, 3, 2, 1] } as const;
    const model = oneOperator("BATCH_TO_SPACE_ND", { x: batches, block, crops: margins(1, 0, 2, 0) }, { y });
    expect(importLines(model)).toEqual([
      "BATCH_TO_SPACE_ND(in0, INT32[2](2,2)) -> t0:FLOAT32[1,4,4,1]",
      "SLICE(t0, INT32[4](0,1,2,0), INT32[4](-1,3,2,-1)) -> out0",
    ]);
    // Row by row the image is 0 4 1 5 / 8 12 9 13 / 2 6 3 7 / 10 14 11 15.
    const elements = Array.from({ length: 16 }, (_, i) => i);
    expect(await execute(importTflite(model), [elements])).toEqual([[9, 13, 3, 7, 11, 15]]);
  });
});

describe("FILL", () => {
  // More elements than the import computes by itself.
  const dims = { type: "INT32", shape: [1], data: [5000] } as const;
  test.each([
    ["FLOAT32", 0.5],
    ["INT32", 7],
  ] as const)("of %s", (type, value) => {
    const model = oneOperator(
      "FILL",
      { dims, value: { type, shape: [], data: [value] } },
      { y: { type, shape: [5000] } },
    );
    expect(importLines(model)).toEqual([`FILL(INT32[1](5000), ${value}) -> out0`]);
  });

  test("of BOOL is refused", () => {
    const model = oneOperator(
      "FILL",
      { dims, value: { type: "BOOL", shape: [], data: [1] } },
      { y: { type: "BOOL", shape: [5000] } },
    );
    expect(() => importTflite(model, { extensions: false })).toThrow("the value (input 1) must be one number");
  });
});
