/**
 * Rows of conversions between real and quantised numbers.
 */
import { typeText } from "@nnhal/operations";
import type { Lowering } from "../lowering.ts";
import { isQuantised } from "../operand-types.ts";
import { packedRange } from "../packed-types.ts";
import type { Row } from "../row.ts";
import { coarseMultiplier, quantiseCoarsely, scaleCoarsely } from "./_coarse.ts";
import { foldWidened } from "./_float16.ts";

const quantize: Row = {
  operator: "QUANTIZE",
  version: 6,
  operations: ["QUANTIZE", "DEQUANTIZE", "MUL", "ADD", "MAXIMUM", "MINIMUM"],
  note: "From one 8-bit quantisation to another it goes by way of float; within one type with a multiplier of 8 bits after the point, as TensorFlow Lite does. To INT4: clamped by MAXIMUM and MINIMUM.",
  lower(op: Lowering) {
    const [from, to] = [op.inputSpec(0), op.outputSpec()];
    const range = packedRange(op.outputTensor().type);
    const result = range === undefined ? op.output() : op.graph.temporary(to);
    if (!isQuantised(from.type)) {
      op.emit("QUANTIZE", [op.input(0)], [result]);
    } else {
      const ratio = Math.fround(from.scale / to.scale);
      const isCoarse = range === undefined && from.type === to.type && ratio !== 1;
      const multiplier = isCoarse ? coarseMultiplier(from, to, ratio) : undefined;
      if (multiplier === undefined) op.requantise(op.input(0), result);
      else quantiseCoarsely(op, scaleCoarsely(op, from, to, multiplier), to);
    }
    if (range !== undefined) clampTo(op, result, range);
  },
};

/** Clamps elements of 8 bits to the range of fewer, which they stand for. */
function clampTo(op: Lowering, elements: number, [least, greatest]: readonly [number, number]): void {
  const spec = op.graph.spec(elements);
  const constant = (value: number) =>
    op.graph.share(
      `${typeText(spec.type)} ${value} ${spec.scale} ${spec.zeroPoint}`,
      { ...spec, dimensions: [1] },
      Uint8Array.of(value),
    );
  const raised = op.graph.temporary(spec);
  op.emit("MAXIMUM", [elements, constant(least)], [raised]);
  op.emit("MINIMUM", [raised, constant(greatest)], [op.output()]);
}

const dequantize: Row = {
  operator: "DEQUANTIZE",
  version: 9,
  operations: ["DEQUANTIZE", "CAST"],
  note: "From FLOAT16 it is a CAST; a constant of FLOAT16 becomes one of FLOAT32.",
  lower(op: Lowering) {
    if (foldWidened(op)) return;
    const isFloat16 = op.inputSpec(0).type === "TENSOR_FLOAT16";
    op.emit(isFloat16 ? "CAST" : "DEQUANTIZE", [op.input(0)], [op.output()]);
  },
};

export const quantisationRows: readonly Row[] = [quantize, dequantize];
