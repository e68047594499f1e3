/** Elementwise operations. */
import type { KernelTensor } from "@nnhal/backend";
import type { AnyArgs, AnyOperandType, TensorInfo } from "@nnhal/operations";
import { type GpujsTable, isReal, kernelOf } from "./_kernel.ts";
import { isTensor, pointwise } from "./_pointwise.ts";
import { isQuantised } from "./_quantised.ts";
import { wholeExpressions } from "./_whole-expressions.ts";

interface One {
  readonly output: TensorInfo;
}

/** Conversion between real and quantised numbers, which keeps the real values. */
const conversion = kernelOf({
  accepts: isReal,
  prepare: ({ input }: { readonly input: KernelTensor }, _: One, make) =>
    make.output(({ read, flat }) => read(input)(flat), { flat: true }),
});

/** Returns whether an operation computes on the stored integers of quantised tensors. */
const isOnWholeNumbers = (name: string, args: AnyArgs) =>
  wholeExpressions[name] !== undefined && Object.values(args).some((arg) => isTensor(arg) && isQuantised(arg.type));

function elementwise(name: string, accepts: (type: AnyOperandType) => boolean = isReal) {
  return kernelOf({
    name,
    accepts,
    stored: (args) => isOnWholeNumbers(name, args),
    prepare(args: AnyArgs, { output }: One, make) {
      const whole = isOnWholeNumbers(name, args) ? wholeExpressions[name]?.(args, output) : undefined;
      const { write, grid } = pointwise(name, args, output, make.packs, whole);
      return make.output(write, grid);
    },
  });
}

const isBoolean = (type: AnyOperandType) => type === "TENSOR_BOOL8";
const isRealOrBoolean = (type: AnyOperandType) => isReal(type) || isBoolean(type);

export const elementwiseKernels = {
  ABS: elementwise("ABS"),
  ADD: elementwise("ADD"),
  DEQUANTIZE: conversion,
  DIV: elementwise("DIV"),
  ELU: elementwise("ELU"),
  EQUAL: elementwise("EQUAL", isRealOrBoolean),
  EXP: elementwise("EXP"),
  FLOOR: elementwise("FLOOR"),
  GREATER: elementwise("GREATER", isRealOrBoolean),
  GREATER_EQUAL: elementwise("GREATER_EQUAL", isRealOrBoolean),
  HARD_SWISH: elementwise("HARD_SWISH"),
  LESS: elementwise("LESS", isRealOrBoolean),
  LESS_EQUAL: elementwise("LESS_EQUAL", isRealOrBoolean),
  LOG: elementwise("LOG"),
  LOGICAL_AND: elementwise("LOGICAL_AND", isBoolean),
  LOGICAL_NOT: elementwise("LOGICAL_NOT", isBoolean),
  LOGICAL_OR: elementwise("LOGICAL_OR", isBoolean),
  LOGISTIC: elementwise("LOGISTIC"),
  MAXIMUM: elementwise("MAXIMUM"),
  MINIMUM: elementwise("MINIMUM"),
  MUL: elementwise("MUL"),
  NEG: elementwise("NEG"),
  NOT_EQUAL: elementwise("NOT_EQUAL", isRealOrBoolean),
  POW: elementwise("POW"),
  PRELU: elementwise("PRELU"),
  QUANTIZE: conversion,
  RELU: elementwise("RELU"),
  RELU1: elementwise("RELU1"),
  RELU6: elementwise("RELU6"),
  RSQRT: elementwise("RSQRT"),
  SIN: elementwise("SIN"),
  SQRT: elementwise("SQRT"),
  SUB: elementwise("SUB"),
  TANH: elementwise("TANH"),
} satisfies GpujsTable;
