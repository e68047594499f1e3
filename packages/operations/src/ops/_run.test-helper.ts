/**
 * Runs one operation in a test the way an executor does: match, bind, check, infer, allocate, run, round FLOAT16. Short
 * builders for inputs and declared outputs stand here too. It checks on the way what every kernel promises: inputs stay
 * as they were, and data is as long as the shape says.
 */

import { expect } from "vitest";
import { bindArguments, bindInputs, bindOutputs, inferOutputs, requiredVersion } from "../bind.ts";
import type { OperandInfo, Operation } from "../define.ts";
import { OperationError } from "../fail.ts";
import { roundAllToFloat16, roundToFloat16 } from "../float16.ts";
import { type Match, matchOperation } from "../match.ts";
import { type AnyOperandType, numbersPerElement } from "../operand-type.ts";
import { type Filled, type KernelResult, phasesOf, runInSteps, runToEnd } from "../phases.ts";
import { formatShape, refineDimensions } from "../shape.ts";
import { createData, elementCount, isTensorType, type OutputTensor, type Tensor, type TensorInfo } from "../tensor.ts";

/** An input of a test: its elements, or only its type where it is omitted. */
export interface Given extends Tensor {
  readonly omitted?: true;
  /** True if it comes with the request: rules do not see its elements. */
  readonly isHidden?: boolean;
}

/** Options of a run beside its inputs. */
export interface RunOptions {
  /** Outputs as the model declares them. Default: one output with the type and quantisation of input 0. */
  readonly outputs?: readonly TensorInfo[];
  /** Random numbers in [0, 1) for the kernel; default: always 0.5. */
  readonly random?: () => number;
}

/** A tensor of any type. Without values all elements are 0. The scale is rounded to float32, as models carry it. */
export function tensorOf(
  type: AnyOperandType,
  dimensions: readonly number[],
  values?: readonly number[],
  { scale = 0, zeroPoint = 0 } = {},
): Given {
  const count = elementCount(dimensions);
  const data = createData(type, count);
  if (values !== undefined) {
    if (values.length !== count) {
      throw new RangeError(`${values.length} values for shape ${formatShape(dimensions)}, which has ${count}`);
    }
    data.set(type === "TENSOR_FLOAT16" || type === "FLOAT16" ? values.map(roundToFloat16) : values);
  }
  return { type, dimensions, scale: Math.fround(scale), zeroPoint, data };
}

export function f32(dimensions: readonly number[], values?: readonly number[]): Given {
  return tensorOf("TENSOR_FLOAT32", dimensions, values);
}

/** Values are rounded to float16. */
export function f16(dimensions: readonly number[], values?: readonly number[]): Given {
  return tensorOf("TENSOR_FLOAT16", dimensions, values);
}

/** `scale`: that of a bias. */
export function i32(dimensions: readonly number[], values?: readonly number[], scale = 0): Given {
  return tensorOf("TENSOR_INT32", dimensions, values, { scale });
}

export function bool8(dimensions: readonly number[], values?: readonly number[]): Given {
  return tensorOf("TENSOR_BOOL8", dimensions, values);
}

/** TENSOR_QUANT8_ASYMM; values as stored. */
export function q8(dimensions: readonly number[], scale: number, zeroPoint: number, values?: readonly number[]): Given {
  return tensorOf("TENSOR_QUANT8_ASYMM", dimensions, values, { scale, zeroPoint });
}

/** TENSOR_QUANT8_ASYMM_SIGNED; values as stored. */
export function q8s(
  dimensions: readonly number[],
  scale: number,
  zeroPoint: number,
  values?: readonly number[],
): Given {
  return tensorOf("TENSOR_QUANT8_ASYMM_SIGNED", dimensions, values, { scale, zeroPoint });
}

/** TENSOR_QUANT8_SYMM; values as stored. */
export function q8Symm(dimensions: readonly number[], scale: number, values?: readonly number[]): Given {
  return tensorOf("TENSOR_QUANT8_SYMM", dimensions, values, { scale });
}

/** TENSOR_QUANT8_SYMM_PER_CHANNEL; values as stored, one scale for each index along `channelDim`. */
export function q8PerChannel(
  dimensions: readonly number[],
  scales: readonly number[],
  channelDim: number,
  values?: readonly number[],
): Given {
  const channelQuant = { scales: scales.map(Math.fround), channelDim };
  return { ...tensorOf("TENSOR_QUANT8_SYMM_PER_CHANNEL", dimensions, values), channelQuant };
}

/** TENSOR_QUANT16_SYMM; values as stored. */
export function q16Symm(dimensions: readonly number[], scale: number, values?: readonly number[]): Given {
  return tensorOf("TENSOR_QUANT16_SYMM", dimensions, values, { scale });
}

/** TENSOR_QUANT16_ASYMM; values as stored. */
export function q16Asymm(
  dimensions: readonly number[],
  scale: number,
  zeroPoint: number,
  values?: readonly number[],
): Given {
  return tensorOf("TENSOR_QUANT16_ASYMM", dimensions, values, { scale, zeroPoint });
}

export function f32Scalar(value: number): Given {
  return tensorOf("FLOAT32", [], [value]);
}

export function f16Scalar(value: number): Given {
  return tensorOf("FLOAT16", [], [value]);
}

export function i32Scalar(value: number): Given {
  return tensorOf("INT32", [], [value]);
}

export function boolScalar(value: boolean): Given {
  return tensorOf("BOOL", [], [value ? 1 : 0]);
}

/** An input with lifetime NO_VALUE. */
export function giveOmitted(type: AnyOperandType): Given {
  return { type, dimensions: [], scale: 0, zeroPoint: 0, data: createData(type, 0), omitted: true };
}

/** Describes an output as a model declares it: type, quantisation and, if known, shape. */
export function declareOutput(
  type: AnyOperandType,
  { dimensions = [], scale = 0, zeroPoint = 0 }: Partial<Pick<TensorInfo, "dimensions" | "scale" | "zeroPoint">> = {},
): TensorInfo {
  return { type, dimensions, scale: Math.fround(scale), zeroPoint };
}

/** The elements of a tensor as an array, for comparisons. */
export function valuesOf({ data }: Tensor): number[] {
  return Array.from(data);
}

/** Why the types and counts fit no signature of the operation; undefined where they fit. */
export function mismatchOf(
  operation: Operation,
  inputs: readonly Given[],
  options: RunOptions = {},
): string | undefined {
  const match = matchOf(operation, inputs, outputsOf(inputs, options));
  return "mismatch" in match ? match.mismatch : undefined;
}

/** The HAL version that the operands need. Throws where they fit no signature. */
export function versionOf(operation: Operation, inputs: readonly Given[], options: RunOptions = {}): string {
  const outputs = outputsOf(inputs, options);
  return requiredVersion(matchGiven(operation, inputs, outputs), present(inputs), outputs);
}

/** The rule that `check` finds broken, all inputs being constants that are not hidden. Throws where the operands fit no signature. */
export function checkOf(operation: Operation, inputs: readonly Given[], options: RunOptions = {}): string | undefined {
  const outputs = outputsOf(inputs, options);
  const { form } = matchGiven(operation, inputs, outputs);
  const seen = present(inputs).map((input, index) =>
    input !== undefined && inputs[index].isHidden ? { ...input, data: undefined } : input,
  );
  return form.check?.(bindInputs(form, seen), bindOutputs(form, outputs));
}

/** Runs an operation to its end and returns its outputs. Throws OperationError for whatever validation, inference or the kernel refuses. */
export function runOperation(operation: Operation, inputs: readonly Given[], options: RunOptions = {}): Tensor[] {
  const declaredOutputs = outputsOf(inputs, options);
  const { form } = matchGiven(operation, inputs, declaredOutputs);
  const broken = checkOf(operation, inputs, options);
  if (broken !== undefined) throw new OperationError(broken);
  const before = inputs.map(({ data }) => data.slice());
  const args = bindArguments(operation, form, present(inputs));
  const infos = inferOutputs(operation, form, args, declaredOutputs);
  const outputs = allocate(declaredOutputs, infos);
  const { reference } = operation;
  if (reference === undefined) throw new TypeError(`${operation.name} has no kernel`);
  const random = options.random ?? (() => 0.5);
  runToEnd(reference(args, bindOutputs(form, outputs), { random }));
  // Numbers that are drawn differ.
  if (options.random === undefined) {
    const inUnits = allocate(declaredOutputs, infos);
    runInUnits(reference(args, bindOutputs(form, inUnits), { random }));
    expect(inUnits, "computed unit by unit").toEqual(outputs);
    const together = allocate(declaredOutputs, infos);
    runTogether(() => reference(args, bindOutputs(form, together), { random }), together);
    expect(together, "computed by two threads").toEqual(outputs);
  }
  inputs.forEach(({ data }, index) => {
    if (data.some((value, at) => !Object.is(value, before[index][at])))
      throw new TypeError(`input ${index} was written`);
  });
  for (const { type, dimensions, data } of outputs) {
    if (data.length !== elementCount(dimensions) * numbersPerElement(type)) {
      throw new TypeError(`${data.length} numbers in an output of shape ${formatShape(dimensions)}`);
    }
    if (type === "TENSOR_FLOAT16" && data instanceof Float32Array) roundAllToFloat16(data);
  }
  return outputs;
}

/** Outputs of the inferred shapes, as far as the declarations allow them. */
function allocate(declaredOutputs: readonly TensorInfo[], infos: ReturnType<typeof inferOutputs>): OutputTensor[] {
  return infos.map((info, index): OutputTensor => {
    const output = declaredOutputs[index];
    if (isTensorType(output.type)) refineDimensions(index, output.dimensions, info.dimensions);
    const { scale = output.scale, zeroPoint = output.zeroPoint } = info;
    const data = createData(output.type, elementCount(info.dimensions));
    return { ...output, dimensions: info.dimensions, scale, zeroPoint, data };
  });
}

/** Computes phases unit by unit: those in turn from the first to the last, all others from the last to the first. */
export function runInUnits(work: KernelResult): void {
  for (const phase of phasesOf(work)) {
    if (phase.inTurn) for (let unit = 0; unit < phase.units; unit++) phase.compute(unit, unit + 1);
    else for (let unit = phase.units; unit-- > 0; ) phase.compute(unit, unit + 1);
  }
}

/**
 * Computes phases as two threads do of which one is as late as it can be: the last phase in halves, the later one first, all others twice,
 * the second time when the first half is there. Other phases of a kernel whose last one is not `apart` are computed once.
 */
export function runTogether(start: () => KernelResult, outputs: readonly OutputTensor[]): void {
  const early = phasesOf(start());
  const last = early.at(-1);
  if (last?.apart !== true) {
    runToEnd(early);
    return;
  }
  const late = phasesOf(start());
  const { units } = last;
  const half = Math.ceil(units / 2);
  runToEnd(early.slice(0, -1));
  last.compute(half, units);
  const before = outputs.map(({ data }) => data.slice());
  runToEnd(late.slice(0, -1));
  expect(
    outputs.map(({ data }) => data),
    "outputs after all phases but the last",
  ).toEqual(before);
  late.at(-1)?.compute(0, half);
}

/** Runs an operation with one output and returns it. */
export function runForOne(operation: Operation, inputs: readonly Given[], output?: TensorInfo): Tensor {
  return runOperation(operation, inputs, output && { outputs: [output] })[0];
}

function outputsOf(inputs: readonly Given[], { outputs }: RunOptions): readonly TensorInfo[] {
  return outputs ?? [declareOutput(inputs[0].type, { scale: inputs[0].scale, zeroPoint: inputs[0].zeroPoint })];
}

function matchOf(operation: Operation, inputs: readonly Given[], outputs: readonly TensorInfo[]) {
  const typesOf = (operands: readonly TensorInfo[]) => operands.map(({ type }) => type);
  return matchOperation(operation, typesOf(inputs), typesOf(outputs));
}

function matchGiven(operation: Operation, inputs: readonly Given[], outputs: readonly TensorInfo[]): Match {
  const match = matchOf(operation, inputs, outputs);
  if ("mismatch" in match) throw new OperationError(match.mismatch);
  return match;
}

function present(inputs: readonly Given[]): (OperandInfo | undefined)[] {
  return inputs.map((input) => (input.omitted ? undefined : input));
}

/** A list of inputs by name, in the order of the operand list. */
export type Named = Readonly<Record<string, Given>>;

/** The list; what is replaced keeps its place. */
export function inOrder(inputs: Named, changes: Named = {}): Given[] {
  for (const name of Object.keys(changes)) if (!(name in inputs)) throw new RangeError(`no input ${name}`);
  return Object.values({ ...inputs, ...changes });
}

/** Checks each number. */
export function expectClose(actual: readonly number[], expected: readonly number[], tolerance = 2e-6): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, index) => {
    expect(Math.abs(value - expected[index]), `element ${index}`).toBeLessThanOrEqual(tolerance);
  });
}

/** Runs the work of a kernel and counts its pauses. */
export function pausesOf(work: KernelResult): number {
  const steps = runInSteps(work);
  let pauses = 0;
  while (!steps.next().done) pauses++;
  return pauses;
}

/** The array that phases fill. */
export function fill<Data>({ data, phases }: Filled<Data>): Data {
  runToEnd(phases);
  return data;
}
