import { describe, expect, test } from "vitest";
import { execute, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const x = { type: "FLOAT32", shape: [2, 3] } as const;
const given = [[1, 2, 3, 4, 5, 6]];
const pads = (...data: number[]) => ({ type: "INT32", shape: [2, 2], data }) as const;

describe("MIRROR_PAD", () => {
  const model = (mode: string, ...paddings: number[]) => {
    const [top = 0, bottom = 0, left = 0, right = 0] = paddings;
    const y = { type: "FLOAT32", shape: [2 + top + bottom, 3 + left + right] } as const;
    return oneOperator("MIRROR_PAD", { x, p: pads(...paddings) }, { y }, { mode });
  };

  test("REFLECT does not repeat the border", async () => {
    expect(importLines(model("REFLECT", 1, 0, 2, 1))).toEqual([
      "GATHER(in0, 0, INT32[3](1,0,1)) -> t0:FLOAT32[3,3]",
      "GATHER(t0, 1, INT32[6](2,1,0,1,2,1)) -> out0",
    ]);
    expect(await execute(importTflite(model("REFLECT", 0, 0, 2, 1)), given)).toEqual([
      [3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5],
    ]);
  });

  test("SYMMETRIC repeats it", async () => {
    expect(await execute(importTflite(model("SYMMETRIC", 0, 0, 2, 3)), given)).toEqual([
      [2, 1, 1, 2, 3, 3, 2, 1, 5, 4, 4, 5, 6, 6, 5, 4],
    ]);
  });

  test("without paddings is the input", () => {
    expect(importLines(model("REFLECT", 0, 0, 0, 0))).toEqual(["RESHAPE(in0, INT32[2](2,3)) -> out0"]);
  });

  test.each([
    ["REFLECT", [0, 0, 3, 0], "paddings of 3 and 0 do not fit an extent of 3 in mode REFLECT"],
    ["SYMMETRIC", [0, 0, 0, 4], "paddings of 0 and 4 do not fit an extent of 3 in mode SYMMETRIC"],
    ["SYMMETRIC", [-1, 0, 0, 0], "paddings of -1 and 0 do not fit an extent of 2"],
  ])("%s with %j is refused", (mode, paddings, message) => {
    expect(() => importTflite(model(mode, ...paddings))).toThrow(message);
  });
});

describe("REVERSE_V2", () => {
  const model = (...data: number[]) =>
    oneOperator("REVERSE_V2", { x, axes: { type: "INT32", shape: [data.length], data } }, { y: x });

  test.each([
    [[1], [3, 2, 1, 6, 5, 4]],
    [[-2], [4, 5, 6, 1, 2, 3]],
    [
      [0, 1],
      [6, 5, 4, 3, 2, 1],
    ],
  ])("along %j", async (axes, wanted) => {
    expect(await execute(importTflite(model(...axes)), given)).toEqual([wanted]);
  });

  test("an axis that is not there is refused", () => {
    expect(() => importTflite(model(2), { extensions: false })).toThrow("axis 2 is not within the 2 dimensions");
  });

  test.each([
    [2 ** 16, "imported"],
    [2 ** 16 + 1, "the extents of the input: expected known ones of at most 65536, got [65537]"],
  ])("an extent of %d", (extent, outcome) => {
    const long = { type: "FLOAT32", shape: [extent] } as const;
    const attempt = () => {
      importTflite(
        oneOperator("REVERSE_V2", { x: long, axes: { type: "INT32", shape: [1], data: [0] } }, { y: long }),
        {
          extensions: false,
        },
      );
      throw new TypeError("imported");
    };
    expect(attempt).toThrow(outcome);
  });
});
