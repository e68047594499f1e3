/**
 * Rows of conversions of elements that keep their numbers: to another type, and of sparse constants.
 */
import type { Lowering } from "../lowering.ts";
import { isQuant8 } from "../operand-types.ts";
import type { Row } from "../row.ts";
import { foldWidened } from "./_float16.ts";

const cast: Row = {
  operator: "CAST",
  version: 9,
  operations: ["CAST"],
  narrowed: "inputs",
  note: "Among FLOAT16, FLOAT32, INT32 and UINT8; other types only to themselves. INT32 to 8 bits is of the extension, since the HAL clamps and .tflite wraps.",
  lower(op: Lowering) {
    if (foldWidened(op)) return;
    const wraps = op.inputSpec(0).type === "TENSOR_INT32" && isQuant8(op.outputSpec().type);
    if (wraps && op.emitExtended("CAST", [op.input(0)], [op.output()])) return;
    op.emit("CAST", [op.input(0)], [op.output()]);
  },
};

const densify: Row = {
  operator: "DENSIFY",
  version: 1,
  operations: [],
  note: "Becomes a constant.",
  lower(op: Lowering) {
    const bytes = op.graph.constantBytes(op.inputIndex(0));
    op.ensure(bytes !== undefined, () => "its input must be a constant");
    const [from, to] = [op.inputTensor(0).type, op.outputTensor().type];
    op.ensure(from === to, () => `its input is ${from}, and its output ${to}`);
    op.graph.fold(op.outputIndex(0), bytes, op.inputTensor(0).shape);
  },
};

export const conversionRows: readonly Row[] = [cast, densify];
