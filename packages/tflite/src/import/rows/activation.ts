/**
 * Rows of activations. If the HAL fixes the quantisation of a result and the file has another, the
 * result is converted.
 */
import type { OperationTypeName } from "@nnhal/types";
import type { Lowering, Quantisation } from "../lowering.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import type { Row } from "../row.ts";

/** Quantisation of results within [0, 1). */
function unit(op: Lowering): Quantisation {
  return { scale: 1 / 256, zeroPoint: op.outputSpec().type === "TENSOR_QUANT8_ASYMM" ? 0 : -128 };
}

/** Quantisation of results within [-1, 1). */
export function signedUnit(op: Lowering): Quantisation {
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
    op.ensure(beta > 0, () => `option beta: expected a number above 0, got ${beta}`);
    op.emitComputed("SOFTMAX", [op.input(0), op.float(beta, op.inputSpec(0))], unit(op));
  },
};

export const activationRows: readonly Row[] = [
  rectifier("RELU", 3, "RELU"),
  rectifier("RELU_N1_TO_1", 1, "RELU1"),
  rectifier("RELU6", 3, "RELU6"),
  logistic,
  tanh,
  softmax,
];
