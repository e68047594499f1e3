/**
 * Complex numbers for operations that only move elements: the kernel of real numbers moves the real parts, then the imaginary ones.
 */

import type { Form, Operation, TypeRow } from "../define.ts";
import { type AnyTensorData, isExtensionType, isSameType } from "../operand-type.ts";
import type { AnyArg, AnyArgs, AnyOutputs } from "../params.ts";
import { type KernelResult, type Phase, phasesOf } from "../phases.ts";
import type { OutputTensor, Tensor, TensorInfo } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { numbersIn } from "./_integers.tflite.ts";
import { complexTypes } from "./_types.tflite.ts";

/** The type whose rows are repeated for complex numbers. */
const template = "TENSOR_FLOAT32";

/** Adds complex numbers to an operation that takes TENSOR_FLOAT32 and only moves its elements. */
export function movesComplex<T extends Operation>(operation: T): T {
  const { reference } = operation;
  const [first, ...others] = operation.forms;
  const formOf = (form: Form): Form => ({ ...form, types: [...form.types, ...complexRows(form.types)] });
  return {
    ...operation,
    forms: [formOf(first), ...others.map(formOf)],
    ...(reference && {
      reference: (args, outputs, context) => {
        const isComplexCall = Object.values(outputs).some((output) => output !== undefined && hasComplex(output));
        return isComplexCall
          ? byParts(args, outputs, (...parts) => reference(...parts, context))
          : reference(args, outputs, context);
      },
    }),
  };
}

function complexRows(rows: readonly TypeRow[]): TypeRow[] {
  // Rows in which the type is that of an input and of a result.
  const real = rows.filter((row) => row.filter((column) => column === template).length >= 2);
  return complexTypes.flatMap((type) =>
    real.map(([, ...columns]): TypeRow => ["1.2", ...columns.map((column) => (column === template ? type : column))]),
  );
}

function isComplex({ type }: TensorInfo): boolean {
  return isExtensionType(type) && complexTypes.some((each) => isSameType(each, type));
}

function hasComplex(output: TensorInfo | readonly TensorInfo[]): boolean {
  return "type" in output ? isComplex(output) : output.some(isComplex);
}

function isTensor(arg: AnyArg): arg is Tensor {
  return typeof arg === "object" && "data" in arg;
}

/** Most elements that are divided at once: a kernel may read a tensor of one element before its phases. */
const FEW = 16;

/** The phases of a kernel of real numbers, once for each part; `part` 0: real, 1: imaginary. */
function byParts(
  args: AnyArgs,
  outputs: AnyOutputs,
  kernel: (args: AnyArgs, outputs: AnyOutputs) => KernelResult,
): Phase[] {
  return [0, 1].flatMap((part) => {
    const before: Phase[] = [];
    const after: Phase[] = [];
    const inputPart = (arg: AnyArg): AnyArg => {
      if (!isTensor(arg) || !isComplex(arg)) return arg;
      const { half, divide } = partOf(arg, part);
      if (divide.units <= FEW) divide.compute(0, divide.units);
      else before.push(divide);
      return half;
    };
    const outputPart = (output: OutputTensor): OutputTensor => {
      if (!isComplex(output)) return output;
      const { half, join } = partOf(output, part);
      after.push(join);
      return half;
    };
    const parts = Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, inputPart(arg)]));
    const results = Object.fromEntries(
      Object.entries(outputs).map(([name, output]) => [
        name,
        output === undefined || "type" in output ? output && outputPart(output) : output.map(outputPart),
      ]),
    );
    return [...before, ...phasesOf(kernel(parts, results)), ...after];
  });
}

/** One part of a tensor as a tensor of real numbers; a phase that fills it, half[i] = whole[2i + part], and one that does the reverse. */
function partOf<T extends Tensor<AnyTensorData>>(tensor: T, part: number) {
  const whole = numbersIn(tensor.data);
  const units = whole.length / 2;
  const data = whole instanceof Float64Array ? new Float64Array(units) : new Float32Array(units);
  const type = data instanceof Float64Array ? tfliteTypes.TENSOR_FLOAT64 : template;
  const divide = (first: number, end: number) => {
    for (let index = first; index < end; index++) data[index] = whole[2 * index + part];
  };
  const join = (first: number, end: number) => {
    for (let index = first; index < end; index++) whole[2 * index + part] = data[index];
  };
  return { half: { ...tensor, type, data }, divide: { units, compute: divide }, join: { units, compute: join } };
}
