/** Matrices of several operands as one. */
import type { KernelTensor } from "@nnhal/backend";
import { expect, it } from "vitest";
import { createBuilder } from "./builder.ts";
import { joinMatrices } from "./joined.ts";

const matrix = (index: number, dimensions: readonly number[], numbers: readonly number[]): KernelTensor => ({
  index,
  type: "TENSOR_QUANT8_SYMM",
  dimensions,
  scale: 1,
  zeroPoint: 0,
  data: Int8Array.from(numbers),
});

it("joins constants below or beside each other, once for all operations", () => {
  const builder = createBuilder();
  const [first, second] = [matrix(1, [2, 2], [1, 2, 3, 4]), matrix(2, [1, 2], [5, 6])];
  const below = joinMatrices(builder, [first, second], 0);
  expect(below).toMatchObject({ dimensions: [3, 2], data: Int8Array.of(1, 2, 3, 4, 5, 6) });
  const beside = joinMatrices(builder, [first, first], 1);
  expect(beside).toMatchObject({ dimensions: [2, 4], data: Int8Array.of(1, 2, 1, 2, 3, 4, 3, 4) });
  expect(joinMatrices(builder, [first, second], 0)).toBe(below);
});

it.each([true, false])("leaves the operands as they are, whether they are constant or not: %s", (isConstant) => {
  const builder = createBuilder();
  const { data, ...facts } = matrix(7, [1, 2], [1, 2]);
  const operand = isConstant ? { ...facts, ...(data && { data }) } : facts;
  if (!isConstant) builder.places.set(7, builder.value("i8", [1, 2]).region);
  const before = isConstant ? undefined : builder.read(operand);
  const joined = builder.read(joinMatrices(builder, [operand, operand], 0));
  const own = builder.read(operand);
  expect(joined.dimensions).toEqual([2, 2]);
  expect(own.region).not.toBe(joined.region);
  if (before !== undefined) expect(own).toEqual(before);
});
