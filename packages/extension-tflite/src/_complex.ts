/**
 * Complex numbers for operations that only move elements: the kernel of real numbers moves the real parts, then the imaginary ones.
 */
import {
  type AnyArg,
  type AnyArgs,
  type AnyOutputs,
  type AnyTensorData,
  type Form,
  isExtensionType,
  isSameType,
  type Operation,
  type OutputTensor,
  runInSteps,
  type Tensor,
  type TensorInfo,
  type TypeRow,
} from "@nnhal/operations";
import { numbersIn } from "./_integers.ts";
import { complexTypes } from "./_types.ts";
import { tfliteTypes } from "./types.ts";

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

/** Runs a kernel of real numbers once for each part; `part` 0: real, 1: imaginary. */
function* byParts(
  args: AnyArgs,
  outputs: AnyOutputs,
  kernel: (args: AnyArgs, outputs: AnyOutputs) => ReturnType<NonNullable<Operation["reference"]>>,
): Generator<void, void> {
  for (const part of [0, 1]) {
    const targets: [whole: OutputTensor, part: OutputTensor][] = [];
    const inputPart = (arg: AnyArg): AnyArg => (isTensor(arg) && isComplex(arg) ? partOf(arg, part) : arg);
    const outputPart = (output: OutputTensor): OutputTensor => {
      if (!isComplex(output)) return output;
      const half = partOf(output, part);
      targets.push([output, half]);
      return half;
    };
    const parts = Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, inputPart(arg)]));
    const results = Object.fromEntries(
      Object.entries(outputs).map(([name, output]) => [
        name,
        output === undefined || "type" in output ? output && outputPart(output) : output.map(outputPart),
      ]),
    );
    yield* runInSteps(kernel(parts, results));
    for (const [whole, { data }] of targets) {
      for (let index = 0; index < data.length; index++) whole.data[2 * index + part] = data[index];
      yield;
    }
  }
}

/** One part of a tensor as a tensor of real numbers. */
function partOf<T extends Tensor<AnyTensorData>>(tensor: T, part: number): T {
  const numbers = numbersIn(tensor.data);
  const data = numbers.slice(0, numbers.length / 2);
  for (let index = 0; index < data.length; index++) data[index] = numbers[2 * index + part];
  return { ...tensor, type: data instanceof Float64Array ? tfliteTypes.TENSOR_FLOAT64 : template, data };
}
