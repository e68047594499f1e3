/** The allowances of operations in words, for reports: `allowances.ts` has them as numbers of one example. */
import { type Arithmetic, arithmeticIn } from "@nnhal/diff";
import { isFloat, operations } from "@nnhal/operations";
import { type OperandTypeName, operandTypes } from "@nnhal/types";

/**
 * Describes the allowance of an operation and type against the reference, such as `1 step`; n terms of at most m are summed.
 */
export function describeAllowance(operationName: string, type: OperandTypeName): string {
  const operation = operations.find(({ name }) => name === operationName);
  const arithmetic = operation && arithmeticIn(operation);
  return isFloat(type) ? ofFloats(arithmetic, type) : ofIntegers(arithmetic, type);
}

function ofFloats(arithmetic: Arithmetic | undefined, type: OperandTypeName): string {
  const isHalf = type === "TENSOR_FLOAT16" || type === "FLOAT16";
  const unit = isHalf ? "2^-10" : "2^-23";
  switch (arithmetic?.kind) {
    case undefined:
      return "the HAL's";
    case "moved":
      return "0";
    case "rounded":
      return `${arithmetic.roundings === 1 ? "" : `${arithmetic.roundings} · `}${unit} of the result`;
    case "recurrent":
      return "the HAL's for each step";
    case "summed":
      return isHalf ? "the HAL's" : `(n + 2) · 2^-24 · n · m, and ${unit} of the result`;
  }
}

function ofIntegers(arithmetic: Arithmetic | undefined, type: OperandTypeName): string {
  const { quantisation }: { readonly quantisation: string } = operandTypes[type];
  const isQuantised = quantisation === "asymmetric" || quantisation === "symmetric";
  if (arithmetic?.kind === "moved") return arithmetic.rescales && isQuantised ? "1 step" : "0";
  return isQuantised ? "1 step" : arithmetic === undefined ? "1" : "0";
}
