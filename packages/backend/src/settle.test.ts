import { OperationError } from "@nnhal/operations";
import { OperandLifeTime } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { OperandView } from "./graph.ts";
import { settleOutput } from "./settle.ts";

const declare = (lifetime: number): OperandView => ({
  index: 7,
  type: "TENSOR_QUANT8_ASYMM",
  dimensions: [2, 0],
  scale: 0.5,
  zeroPoint: 10,
  lifetime,
  numberOfConsumers: 1,
});
const temporary = declare(OperandLifeTime.TEMPORARY_VARIABLE);
const output = declare(OperandLifeTime.SUBGRAPH_OUTPUT);

describe("settleOutput", () => {
  it("refines unknown extents and keeps the declared quantisation if the operation does not fix it", () => {
    expect(settleOutput(output, [2, 0], { dimensions: [2, 3] })).toEqual({
      type: "TENSOR_QUANT8_ASYMM",
      dimensions: [2, 3],
      scale: 0.5,
      zeroPoint: 10,
    });
  });

  it("lets an operation override a temporary's quantisation, but not a graph output's", () => {
    const inferred = { dimensions: [2, 3], scale: 1 / 256, zeroPoint: 0 };
    expect(settleOutput(temporary, [2, 0], inferred)).toMatchObject({ scale: 1 / 256, zeroPoint: 0 });
    expect(() => settleOutput(output, [2, 0], inferred)).toThrow(
      "output operand 7: expected scale 0.00390625 and zero point 0, got 0.5 and 10",
    );
    const zeroPointOnly = { dimensions: [2, 3], scale: 0.5, zeroPoint: 11 };
    expect(() => settleOutput(output, [2, 0], zeroPointOnly)).toThrow(OperationError);
    expect(settleOutput(output, [2, 0], { ...zeroPointOnly, zeroPoint: 10 })).toMatchObject({ zeroPoint: 10 });
  });
});
