/** Rows of normalisations, and of activations that few models have. */
import { isFloat, typeText } from "@nnhal/operations";
import { bytesOfFloat } from "../bytes.ts";
import type { Lowering } from "../lowering.ts";
import { isQuant8 } from "../operand-types.ts";
import { inFloatNote, type Row, refuseActivation } from "../row.ts";
import { coarseMultiplier, floatConstant, quantiseCoarsely, scaleCoarsely } from "./_coarse.ts";
import { signedUnit } from "./activation.ts";

const logSoftmax: Row = {
  operator: "LOG_SOFTMAX",
  version: 2,
  operations: ["LOG_SOFTMAX"],
  note: inFloatNote,
  lower: (op) => op.emitComputed("LOG_SOFTMAX", [op.input(0), op.float(1, op.inputSpec(0)), op.int32(-1)]),
};

const elu: Row = {
  operator: "ELU",
  version: 1,
  operations: ["ELU"],
  note: inFloatNote,
  lower: (op) => op.emitComputed("ELU", [op.input(0), op.float(1, op.inputSpec(0))]),
};

/** A one-element constant with the value `slope`, of the input's type. */
function slopeOperand(op: Lowering, slope: number): number {
  op.ensure(Number.isFinite(Math.fround(slope)), () => `option alpha: expected a finite number, got ${slope}`);
  const { type } = op.inputSpec(0);
  const float = { type, dimensions: [1], scale: 0, zeroPoint: 0 };
  if (isFloat(type)) return op.graph.constant(float, bytesOfFloat(slope, type));
  op.ensure(isQuant8(type), () => `the HAL has no PRELU for ${typeText(type)}`);
  // One step from the zero point, the scale being the slope: the value is exact.
  const scale = Math.fround(Math.abs(slope)) || 1;
  const zeroPoint = type === "TENSOR_QUANT8_ASYMM" ? 1 : 0;
  return op.graph.constant({ ...float, scale, zeroPoint }, Uint8Array.of(zeroPoint + Math.sign(Math.fround(slope))));
}

const leakyRelu: Row = {
  operator: "LEAKY_RELU",
  version: 2,
  operations: ["PRELU", "DEQUANTIZE", "MUL", "ADD", "QUANTIZE"],
  note: "The slope becomes PRELU's second operand. 8-bit: by way of float, with multipliers of 8 bits after the point, as TensorFlow Lite does.",
  lower(op: Lowering) {
    const slope = op.number("alpha");
    const from = op.inputSpec(0);
    const exactly = () => op.emit("PRELU", [op.input(0), slopeOperand(op, slope)], [op.output()]);
    if (!isQuant8(from.type)) return exactly();
    const to = op.outputSpec();
    const ratio = from.scale / to.scale;
    const [above, below] = [ratio, ratio * slope].map((each) => coarseMultiplier(from, to, Math.fround(each)));
    if (above === undefined || below === undefined) return exactly();
    const scaled = scaleCoarsely(op, from, to, above);
    const rectified = op.graph.temporary(op.graph.spec(scaled));
    op.emit("PRELU", [scaled, floatConstant(op, below / above)], [rectified]);
    quantiseCoarsely(op, rectified, to);
  },
};

const l2Normalization: Row = {
  operator: "L2_NORMALIZATION",
  version: 2,
  operations: ["L2_NORMALIZATION"],
  lower(op: Lowering) {
    refuseActivation(op);
    op.emitComputed("L2_NORMALIZATION", [op.input(0)], signedUnit(op));
  },
};

const localResponseNormalization: Row = {
  operator: "LOCAL_RESPONSE_NORMALIZATION",
  version: 1,
  operations: ["LOCAL_RESPONSE_NORMALIZATION"],
  lower(op: Lowering) {
    const scalars = ["bias", "alpha", "beta"].map((option) => op.float(op.number(option), op.inputSpec(0)));
    op.emit("LOCAL_RESPONSE_NORMALIZATION", [op.input(0), op.int32(op.number("radius")), ...scalars], [op.output()]);
  },
};

export const normalisationRows: readonly Row[] = [
  logSoftmax,
  elu,
  leakyRelu,
  l2Normalization,
  localResponseNormalization,
];
