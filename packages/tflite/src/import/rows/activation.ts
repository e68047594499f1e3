/**
 * Rows of activations and normalisations. If the HAL fixes the quantisation of a result and the file has another, the
 * result is converted.
 */
import { isFloat, typeText } from "@nnhal/operations";
import type { OperationTypeName } from "@nnhal/types";
import { bytesOfFloat } from "../bytes.ts";
import type { Lowering, Quantisation } from "../lowering.ts";
import { isQuant8 } from "../operand-types.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import { inFloatNote, type Row, refuseActivation } from "../row.ts";

/** Quantisation of results within [0, 1). */
function unit(op: Lowering): Quantisation {
  return { scale: 1 / 256, zeroPoint: op.outputSpec().type === "TENSOR_QUANT8_ASYMM" ? 0 : -128 };
}

/** Quantisation of results within [-1, 1). */
function signedUnit(op: Lowering): Quantisation {
  return { scale: 1 / 128, zeroPoint: op.outputSpec().type === "TENSOR_QUANT8_ASYMM" ? 128 : 0 };
}

/** A clamp: the HAL wants the result quantised as the input is. */
function rectifier(operator: ImportedOperatorName, version: number, operation: OperationTypeName): Row {
  return {
    operator,
    version,
    operations: [operation],
    lower: (op) => op.emitComputed(operation, [op.input(0)], op.inputSpec(0)),
  };
}

const logistic: Row = {
  operator: "LOGISTIC",
  version: 3,
  operations: ["LOGISTIC"],
  lower: (op) => op.emitComputed("LOGISTIC", [op.input(0)], unit(op)),
};

const tanh: Row = {
  operator: "TANH",
  version: 3,
  operations: ["TANH"],
  lower: (op) => op.emitComputed("TANH", [op.input(0)], signedUnit(op)),
};

const softmax: Row = {
  operator: "SOFTMAX",
  version: 4,
  operations: ["SOFTMAX"],
  lower(op: Lowering) {
    const beta = op.number("beta");
    op.ensure(beta > 0, () => `option beta has to be above 0, it is ${beta}`);
    op.emitComputed("SOFTMAX", [op.input(0), op.float(beta, op.inputSpec(0))], unit(op));
  },
};

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
  op.ensure(Number.isFinite(Math.fround(slope)), () => `option alpha has to be finite, it is ${slope}`);
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
  operations: ["PRELU"],
  note: "The slope becomes PRELU's second operand.",
  lower: (op) => op.emit("PRELU", [op.input(0), slopeOperand(op, op.number("alpha"))], [op.output()]),
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

export const activationRows: readonly Row[] = [
  rectifier("RELU", 3, "RELU"),
  rectifier("RELU_N1_TO_1", 1, "RELU1"),
  rectifier("RELU6", 3, "RELU6"),
  logistic,
  tanh,
  softmax,
  logSoftmax,
  elu,
  leakyRelu,
  l2Normalization,
  localResponseNormalization,
];
