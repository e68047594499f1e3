import { elementAt } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { execute, expectValid, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const image = { type: "FLOAT32", shape: [1, 2, 2, 1] } as const;
const bias = { type: "FLOAT32", shape: [1], data: [0.5] } as const;
const pixel = { type: "FLOAT32", shape: [1, 1, 1, 1] } as const;

describe("TRANSPOSE_CONV", () => {
  const shape = { type: "INT32", shape: [4], data: [1, 2, 2, 1] } as const;
  const w = { type: "FLOAT32", shape: [1, 2, 2, 1], data: [1, 2, 3, 4] } as const;
  const options = { padding: "VALID", strideW: 2, strideH: 2 };

  test("orders the operands as the HAL does", async () => {
    const model = oneOperator("TRANSPOSE_CONV", { shape, w, x: pixel }, { y: image }, options);
    expect(importLines(model)).toEqual([
      "TRANSPOSE_CONV_2D(in0, FLOAT32[1,2,2,1](1,2,3,4), FLOAT32[1](0), INT32[4](1,2,2,1), 2, 2, 2, 0, 0) -> out0",
    ]);
    expect(await execute(importTflite(model), [[10]])).toEqual([[10, 20, 30, 40]]);
  });

  test("float input with a quantised filter: the filter is widened", () => {
    const q = { type: "INT8", shape: [1, 2, 2, 1], data: [1, 2, 3, 4], scale: 0.5 } as const;
    const model = oneOperator("TRANSPOSE_CONV", { shape, q, x: pixel }, { y: image }, options);
    expect(importLines(model).map((line) => line.split("(")[0])).toEqual(["DEQUANTIZE", "TRANSPOSE_CONV_2D"]);
  });

  test("has a bias as its fourth input, and a fused activation", () => {
    const model = oneOperator(
      "TRANSPOSE_CONV",
      { shape, w, x: pixel, bias },
      { y: image },
      {
        ...options,
        fusedActivationFunction: "RELU",
      },
    );
    expect(importLines(model)[0]).toContain("FLOAT32[1](0.5), INT32[4](1,2,2,1), 2, 2, 2, 1, 0)");
  });

  test("a computed shape is replaced by the result's own", () => {
    const model = oneOperator(
      "TRANSPOSE_CONV",
      { shape: { type: "INT32", shape: [4] }, w, x: pixel },
      { y: image },
      options,
    );
    expect(importLines(model)[0]).toContain("INT32[4](1,2,2,1)");
  });

  describe("a result of any size", () => {
    const extents = fc.record({
      input: fc.integer({ min: 1, max: 4 }),
      window: fc.integer({ min: 1, max: 3 }),
      stride: fc.integer({ min: 1, max: 4 }),
      output: fc.integer({ min: 1, max: 16 }),
    });
    type Extents = typeof extents extends fc.Arbitrary<infer Value> ? Value : never;

    /** Which input element and filter cell reach each element of the result along an axis, as TensorFlow Lite computes it. */
    const reach = ({ input, window, stride, output }: Extents, padding: string) => {
      const total = padding === "SAME" ? Math.max(0, (Math.ceil(output / stride) - 1) * stride + window - output) : 0;
      return Array.from({ length: output }, (_, place) =>
        Array.from({ length: window }, (_, cell) => ({
          cell,
          at: (place + Math.floor(total / 2) - cell) / stride,
        })).filter(({ at }) => Number.isInteger(at) && at >= 0 && at < input),
      );
    };

    test("what no filter reaches is the bias, and what lies beyond it is left out", async () => {
      const padding = fc.constantFrom("SAME", "VALID");
      await fc.assert(
        fc.asyncProperty(extents, extents, padding, async (rows, columns, scheme) => {
          const given = Array.from({ length: rows.input * columns.input }, (_, index) => index + 1);
          const filter = Array.from({ length: rows.window * columns.window }, (_, index) => 10 ** index);
          const y = { type: "FLOAT32", shape: [1, rows.output, columns.output, 1] } as const;
          const model = oneOperator(
            "TRANSPOSE_CONV",
            {
              shape: { type: "INT32", shape: [4], data: y.shape },
              w: { type: "FLOAT32", shape: [1, rows.window, columns.window, 1], data: filter },
              x: { type: "FLOAT32", shape: [1, rows.input, columns.input, 1] },
              bias,
            },
            { y },
            { padding: scheme, strideH: rows.stride, strideW: columns.stride },
          );
          const expected = reach(rows, scheme).flatMap((vertical) =>
            reach(columns, scheme).map((horizontal) =>
              vertical
                .flatMap(({ cell: i, at: h }) =>
                  horizontal.map(
                    ({ cell: j, at: w }) =>
                      elementAt(given, h * columns.input + w) * elementAt(filter, i * columns.window + j),
                  ),
                )
                .reduce((sum, product) => sum + product, 0.5),
            ),
          );
          const imported = importTflite(model);
          expectValid(imported);
          const [result = []] = await execute(imported, [given]);
          expect(result).toEqual(expected.map(Math.fround));
        }),
        { numRuns: 60 },
      );
    });

    test("has explicit padding, which may be negative; one that the scheme gives has none", () => {
      const ofWidth = (width: number, scheme: string) => {
        const y = { type: "FLOAT32", shape: [1, 5, width, 1] } as const;
        const x = { type: "FLOAT32", shape: [1, 2, 2, 1] } as const;
        const filter = { type: "FLOAT32", shape: [1, 2, 2, 1], data: [1, 2, 3, 4] } as const;
        const sizes = { type: "INT32", shape: [4], data: y.shape } as const;
        const model = oneOperator(
          "TRANSPOSE_CONV",
          { sizes, filter, x },
          { y },
          { padding: scheme, strideW: 3, strideH: 3 },
        );
        return importLines(model)[0]?.split("FLOAT32[1](0), ")[1];
      };
      expect(ofWidth(5, "VALID")).toBe("INT32[4](1,5,5,1), 2, 3, 3, 0, 0) -> out0");
      expect(ofWidth(7, "VALID")).toBe("0, -2, 0, 0, 3, 3, 0, 0) -> out0");
      expect(ofWidth(4, "VALID")).toBe("0, 1, 0, 0, 3, 3, 0, 0) -> out0");
      expect(ofWidth(6, "SAME")).toBe("INT32[4](1,5,6,1), 1, 3, 3, 0, 0) -> out0");
      expect(ofWidth(8, "SAME")).toBe("0, -3, 0, 0, 3, 3, 0, 0) -> out0");
    });
  });
});
