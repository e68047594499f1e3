import { OperandLifeTime } from "@nnhal/types";
import { expect, it } from "vitest";
import type { OperandView } from "./graph.ts";
import { decodeInput } from "./input.ts";

const operand: OperandView = {
  index: 0,
  type: "TENSOR_QUANT8_ASYMM",
  dimensions: [0, 3],
  scale: 0.5,
  zeroPoint: 7,
  lifetime: OperandLifeTime.SUBGRAPH_INPUT,
  numberOfConsumers: 1,
};
const decode = (bytes: Uint8Array, operands: (OperandView | undefined)[] = [operand]) =>
  decodeInput({ operands }, 0, { bytes, dimensions: [2, 3] });

it("has the extents of the request and the rest of the model", () => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6);
  expect(decode(bytes)).toEqual({
    type: "TENSOR_QUANT8_ASYMM",
    dimensions: [2, 3],
    scale: 0.5,
    zeroPoint: 7,
    data: bytes,
  });
  const channelQuant = { scales: [1, 2, 3], channelDim: 1 };
  expect(decode(bytes, [{ ...operand, channelQuant }])).toMatchObject({ channelQuant });
});

it("takes more bytes than it needs, and refuses fewer", () => {
  expect(decode(new Uint8Array(7)).data.length).toBe(6);
  expect(() => decode(new Uint8Array(5))).toThrow("input operand 0 of shape 2x3 needs 6 bytes, not 5");
});

it("refuses an operand of an extension type", () => {
  expect(() => decode(new Uint8Array(6), [undefined])).toThrow("input operand 0 is of an extension type");
});
