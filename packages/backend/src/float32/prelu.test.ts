import { createData, elementAt, operationByCode, runToEnd, type Tensor, type TensorInfo } from "@nnhal/operations";
import { OperationType } from "@nnhal/types";
import { assert, double, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { float32Prelu } from "./prelu.ts";

const { fround } = Math;
const pairs = 256 * 256;
const bytes = (of: (pair: number) => number) => Uint8Array.from({ length: pairs }, (_, pair) => of(pair));

/** Three quantisations: of the input, of alpha, of the output. */
type Triple = readonly [input: number, alpha: number, output: number];

function expectEqual(scales: Triple, zeros: Triple) {
  const info = (place: 0 | 1 | 2): TensorInfo => ({
    type: "TENSOR_QUANT8_ASYMM",
    dimensions: [pairs],
    scale: fround(scales[place]),
    zeroPoint: zeros[place],
  });
  const input: Tensor = { ...info(0), data: bytes((pair) => pair & 255) };
  const alpha: Tensor = { ...info(1), data: bytes((pair) => pair >> 8) };
  const output = info(2);
  const parts = float32Prelu(input, alpha, output);
  const result = { ...output, data: createData(output.type, pairs) };
  const prelu = operationByCode(OperationType.PRELU);
  runToEnd(prelu?.reference?.({ input, alpha }, { output: result }, { random: () => 0 }));
  // The formula of `Float32Prelu`, each operation rounded to float32.
  const computed = Array.from(input.data, (stored, pair) => {
    const x = stored - zeros[0];
    if (x >= 0) return elementAt(parts.positives, stored - parts.least);
    const product = x * (elementAt(alpha.data, pair) - zeros[1]);
    const near = Math.round(fround(product * fround(parts.perProduct)));
    const estimate = Math.min(parts.greatestSteps, Math.max(parts.leastSteps, near));
    const place = estimate - parts.leastSteps;
    const more = product >= elementAt(parts.starts, place + 1) ? 1 : 0;
    const less = product < elementAt(parts.starts, place) ? 1 : 0;
    return estimate + more - less + zeros[2];
  });
  expect(computed.findIndex((each, pair) => each !== result.data[pair])).toBe(-1);
}

describe("float32Prelu", () => {
  it.each([
    ["ties", [0.5, 0.25, 0.25]],
    ["other ties", [0.1, 0.5, 0.2]],
    ["a coarse output", [0.001, 0.0007, 30]],
    ["a fine output", [3, 7, 1e-6]],
    ["a scale that float32 keeps as a denormal number", [1e-38, 1e-3, 1e-38]],
    ["a great ratio", [1e10, 1e10, 1e-10]],
  ] as const)("is the reference's PRELU of all pairs: %s", (_, scales) => {
    expectEqual(scales, [128, 100, 120]);
    expectEqual(scales, [255, 0, 255]);
    expectEqual(scales, [3, 255, 0]);
  });

  it("is that of all pairs for random quantisations", () => {
    const scale = double({ min: -6, max: 6, noNaN: true }).map((exponent) => 2 ** exponent);
    const zero = integer({ min: 0, max: 255 });
    assert(
      property(scale, scale, scale, zero, zero, zero, (a, b, c, ...zeros) => expectEqual([a, b, c], zeros)),
      { numRuns: 25 },
    );
  });
});
