import { OperandLifeTime } from "@nnhal/types";
import { expect, it } from "vitest";
import type { OperandView } from "./graph.ts";
import { inputInfo } from "./input.ts";

const operand: OperandView = {
  index: 0,
  type: "TENSOR_QUANT8_ASYMM",
  dimensions: [0, 3],
  scale: 0.5,
  zeroPoint: 7,
  lifetime: OperandLifeTime.SUBGRAPH_INPUT,
  numberOfConsumers: 1,
};
const infoOf = (length: number, operands: (OperandView | undefined)[] = [operand]) =>
  inputInfo({ operands }, 0, { bytes: new Uint8Array(length), dimensions: [2, 3] });

it("has the extents of the request and the type of the model", () => {
  expect(infoOf(6)).toEqual({ type: "TENSOR_QUANT8_ASYMM", dimensions: [2, 3], scale: 0.5, zeroPoint: 7 });
  const channelQuant = { scales: [1, 2, 3], channelDim: 1 };
  expect(infoOf(6, [{ ...operand, channelQuant }])).toMatchObject({ channelQuant });
});

it("accepts more bytes than it needs, and refuses fewer", () => {
  expect(infoOf(7).dimensions).toEqual([2, 3]);
  expect(() => infoOf(5)).toThrow("input operand 0 of shape 2x3 needs 6 bytes, not 5");
});

it("refuses an operand of an unknown extension type", () => {
  expect(() => infoOf(6, [undefined])).toThrow("input operand 0 is of an unknown extension type");
});
