/**
 * Rows of conversions between element types.
 */
import type { Lowering } from "../lowering.ts";
import { isQuantised } from "../operand-types.ts";
import type { Row } from "../row.ts";

const quantize: Row = {
  operator: "QUANTIZE",
  version: 6,
  operations: ["QUANTIZE", "DEQUANTIZE"],
  note: "From one 8-bit quantisation to another it goes by way of float.",
  lower(op: Lowering) {
    if (isQuantised(op.inputSpec(0).type)) op.requantise(op.input(0), op.output());
    else op.emit("QUANTIZE", [op.input(0)], [op.output()]);
  },
};

const dequantize: Row = {
  operator: "DEQUANTIZE",
  version: 9,
  operations: ["DEQUANTIZE", "CAST"],
  note: "From FLOAT16 it is a CAST.",
  lower(op: Lowering) {
    const isFloat16 = op.inputSpec(0).type === "TENSOR_FLOAT16";
    op.emit(isFloat16 ? "CAST" : "DEQUANTIZE", [op.input(0)], [op.output()]);
  },
};

const cast: Row = {
  operator: "CAST",
  version: 9,
  operations: ["CAST"],
  note: "Among FLOAT16, FLOAT32, INT32 and UINT8; other types only to themselves.",
  lower: (op) => op.emit("CAST", [op.input(0)], [op.output()]),
};

export const quantisationRows: readonly Row[] = [quantize, dequantize, cast];
