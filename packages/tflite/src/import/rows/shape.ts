/**
 * The row of RESHAPE.
 */
import { listText } from "../../error.ts";
import type { Lowering } from "../lowering.ts";
import { ignoresComputedShape, type Row, shapeOperand, targetShape } from "../row.ts";

/** RESHAPE to the result's own dimensions. */
function reshapeToResult(op: Lowering): void {
  op.emitMoved("RESHAPE", [op.input(0), targetShape(op, op.outputSpec().dimensions)], op.inputSpec(0));
}

/** Refuses a target shape that the elements of the input do not fill; an extent of -1 is computed. */
function ensureElements(op: Lowering, shape: readonly number[]): void {
  const { dimensions } = op.inputSpec(0);
  if (dimensions.includes(0) || shape.length === 0 || shape.includes(0)) return;
  const count = dimensions.reduce((product, extent) => product * extent, 1);
  const open = shape.filter((extent) => extent === -1).length;
  const known = shape.reduce((product, extent) => (extent === -1 ? product : product * extent), 1);
  op.ensure(
    shape.every((extent) => extent >= -1) && (open === 0 ? known === count : open === 1 && count % known === 0),
    () => `${count} elements do not fill the shape ${listText(shape)}`,
  );
}

const reshape: Row = {
  operator: "RESHAPE",
  version: 1,
  operations: ["RESHAPE"],
  narrowed: "inputs",
  ignores: ignoresComputedShape(1),
  lower(op: Lowering) {
    if (op.has(1)) {
      ensureElements(op, op.constantIntegers(1) ?? []);
      op.emitMoved("RESHAPE", [op.input(0), shapeOperand(op, 1)], op.inputSpec(0));
      return;
    }
    const shape = op.list("newShape");
    ensureElements(op, shape ?? []);
    if (!shape?.length || (shape.length === 1 && shape[0] === 0)) reshapeToResult(op);
    else op.emitMoved("RESHAPE", [op.input(0), op.int32Tensor(shape)], op.inputSpec(0));
  },
};

export const shapeRows: readonly Row[] = [reshape];
