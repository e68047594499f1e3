/** Graphs of a default run have layers of every number of rows and channels, with residuals of each operation behind them. */
import { elementAt } from "@nnhal/operations";
import { expect, it } from "vitest";
import { drawGraph } from "./generate.ts";
import { residualShape, residualTurns } from "./residuals.ts";
import { defaultGraphCount } from "./run.ts";

it("has each number of rows with each number of channels once in a round", () => {
  const shapes = Array.from({ length: residualTurns }, (_, turn) => JSON.stringify(residualShape(turn)));
  expect(new Set(shapes).size).toBe(residualTurns);
  expect(residualShape(0)).toEqual({ rows: 1, channels: 1 });
  expect(residualShape(residualTurns)).toEqual(residualShape(0));
  // Every second graph has them.
  expect(2 * residualTurns).toBeLessThan(defaultGraphCount);
});

it("joins layers of few rows with second tensors of their shape, in each operation and type", {
  timeout: 120_000,
}, () => {
  const layers = ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"];
  const found = new Map<string, number>();
  const add = (what: string) => found.set(what, (found.get(what) ?? 0) + 1);
  for (let index = 1; index < 2 * residualTurns; index += 2) {
    const { operations, operands } = drawGraph(1, index).main;
    const { rows, channels } = residualShape((index - 1) / 2);
    for (const operation of operations) {
      if (!["ADD", "SUB", "MUL"].includes(operation.type)) continue;
      const [left, right] = operation.inputs.map((operand) => elementAt(operands, operand));
      const writer = operations.find(
        ({ type, outputs }) => layers.includes(type) && outputs.some((own) => operation.inputs.includes(own)),
      );
      const shape = writer && elementAt(operands, elementAt(writer.outputs, 0)).dimensions;
      if (shape === undefined || shape.at(-1) !== channels || Math.max(...shape.slice(0, -1)) !== rows) continue;
      const isSame = String(left?.dimensions) === String(right?.dimensions);
      add(`${operation.type} ${left?.type} ${isSame ? "of one shape" : "with a shape that broadcasts"}`);
    }
  }
  for (const operation of ["ADD", "SUB", "MUL"]) {
    for (const type of ["TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"]) {
      expect(found.get(`${operation} ${type} of one shape`) ?? 0, `${operation} ${type}`).toBeGreaterThan(1);
    }
    expect(found.get(`${operation} TENSOR_FLOAT32 with a shape that broadcasts`) ?? 0).toBeGreaterThan(1);
  }
});
