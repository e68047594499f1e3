/**
 * A mapping row: how one builtin operator becomes HAL operations.
 */

import type { OperationTypeName } from "@nnhal/types";
import { listText } from "../error.ts";
import type { TfliteOperator } from "../model.ts";
import type { OptionValue } from "../schema/options.ts";
import { MOST_DIMENSIONS } from "./graph/tensors.ts";
import type { Lowering } from "./lowering.ts";
import type { OperandSpec } from "./operand-types.ts";
import type { ImportedOperatorName } from "./operator-tensors.ts";

/** Facts of tensors that are known before operators are lowered. */
export interface TensorFacts {
  isConstant(tensor: number): boolean;
  /** True if all extents are known. */
  isStatic(tensor: number): boolean;
}

/** Import of one builtin operator to HAL operations. */
export interface Row {
  readonly operator: ImportedOperatorName;
  /** The operator's newest version whose options and types are known. */
  readonly version: number;
  /** The HAL operations it becomes; the first one does the work. */
  readonly operations: readonly OperationTypeName[];
  /** Information for users, in the documentation. */
  readonly note?: string;
  /** True if the results of the HAL's operation differ from .tflite's: the extension's operation is taken if there is one. */
  prefersExtension?(op: Lowering): boolean;
  /** Operands of the extension's operation that are not options of the schema, by name. */
  derivedOptions?(op: Lowering): Readonly<Record<string, OptionValue>>;
  /** Keeps state between executions, and so is imported even if its result is not read. */
  readonly isStateful?: true;
  /**
   * INT64 results that fit in 32 bits, and so are held as TENSOR_INT32: always, since they are indexes, or if all inputs are integers
   * that fit.
   */
  readonly narrowed?: "always" | "inputs";
  /** Why this form of the operator cannot be imported, for an option that changes which tensors the operator has. */
  refusal?(operator: TfliteOperator): string | undefined;
  /** The operator as .tflite's kernel takes it, if that ignores what the file says. */
  asComputed?(operator: TfliteOperator): TfliteOperator;
  /** Inputs that the lowering does not read, so that the operators that compute them need not be imported. */
  ignores?(operator: TfliteOperator, facts: TensorFacts): readonly number[];
  /** Better forms than `lower`, the best one first. Each refuses operators as `lower` does, and then the next one is taken. */
  betterForms?(op: Lowering): readonly ((op: Lowering) => void)[];
  /** Emits the operations. Throws a TfliteError that says why the operator is refused. */
  lower(op: Lowering): void;
}

/** Import of a custom operator to HAL operations. */
export interface CustomRow extends Omit<Row, "operator"> {
  /** Its name. */
  readonly customCode: string;
}

/** The note of operators that are computed in float if their tensors are quantised. */
export const inFloatNote = "8-bit: DEQUANTIZE, in float, QUANTIZE.";

/** Codes of the activation that an operation applies to its result. */
const fusedActivations: Readonly<Record<string, number>> = { NONE: 0, RELU: 1, RELU_N1_TO_1: 2, RELU6: 3 };

/** The scalar for the operator's fused activation. */
export function fusedActivation(op: Lowering): number {
  const name = op.text("fusedActivationFunction");
  const code = fusedActivations[name];
  op.ensure(code !== undefined, () => `the HAL cannot fuse the activation ${name} into it`);
  return op.int32(code);
}

/** Refuses a fused activation, for HAL operations without one. */
export function refuseActivation(op: Lowering): void {
  const name = op.text("fusedActivationFunction");
  op.ensure(name === "NONE", () => `the HAL's operation has no fused activation, the operator has ${name}`);
}

/** The scalar for the operator's implicit padding. */
export function paddingScheme(op: Lowering): number {
  const name = op.text("padding");
  op.ensure(name === "SAME" || name === "VALID", () => `padding ${name} is neither SAME nor VALID`);
  return op.int32(name === "SAME" ? 1 : 2);
}

/** Options that are at least 1, as scalars. */
export function positive(op: Lowering, ...options: readonly string[]): number[] {
  return options.map((option) => {
    const value = op.number(option);
    op.ensure(value >= 1, () => `option ${option}: expected at least 1, got ${value}`);
    return op.int32(value);
  });
}

/** The extents of an image [batches, height, width, depth], or of filters. Refuses any other number of dimensions. */
export function imageExtents(op: Lowering, { dimensions }: OperandSpec, what: string): ImageExtents {
  op.ensure(isImage(dimensions), () => `the HAL needs 4 dimensions here, ${what} has ${dimensions.length}`);
  return dimensions;
}

type ImageExtents = readonly [number, number, number, number];

function isImage(dimensions: readonly number[]): dimensions is ImageExtents {
  return dimensions.length === 4;
}

/** Extents as a RESHAPE target, of which one may be unknown. */
export function targetShape(op: Lowering, dimensions: readonly number[]): number {
  const target = dimensions.map((extent) => (extent === 0 ? -1 : extent));
  op.ensure(
    target.filter((extent) => extent === -1).length <= 1,
    () => `more than one extent of the result ${listText(dimensions)} is unknown`,
  );
  return op.int32Tensor(target);
}

/** Refuses an extent that does not divide evenly: parts of it would be fractions. An unknown extent (0) always does. */
export function ensureDivides(op: Lowering, what: string, extent: number, divisor: number): void {
  op.ensure(extent % divisor === 0, () => `${what} of ${extent} does not divide by ${divisor}`);
}

/** For operators whose input `place` is the shape of the result: a computed one is ignored if the result's shape is known. */
export function ignoresComputedShape(place: number): NonNullable<Row["ignores"]> {
  return ({ inputs, outputs: [output] }, facts) => {
    const shape = inputs[place];
    const isNeeded = shape === undefined || output === undefined || facts.isConstant(shape) || !facts.isStatic(output);
    return isNeeded ? [] : [place];
  };
}

/** The shape of the result: input `place`, or if that is computed the result's own shape, if known. */
export function shapeOperand(op: Lowering, place: number): number {
  const values = op.constantIntegers(place);
  if (values === undefined) {
    const { dimensions } = op.outputSpec();
    const isIgnored = !dimensions.includes(0) && !op.isRead(op.inputIndex(place));
    if (isIgnored) return op.int32Tensor(dimensions);
    const [rank = 0] = op.inputSpec(place).dimensions;
    op.ensure(
      rank <= MOST_DIMENSIONS,
      () => `the shape of the result has ${rank} dimensions, more than ${MOST_DIMENSIONS}`,
    );
    if (rank > 0 && rank !== dimensions.length) op.graph.reshape(op.output(), new Array<number>(rank).fill(0));
    return op.input(place);
  }
  // No dimensions, or in old files one of 0, mean a scalar, which is one element here.
  if (values.length === 0 || (values.length === 1 && values[0] === 0)) return op.int32Tensor([1]);
  return op.inputSpec(place).dimensions.length === 1 ? op.input(place) : op.int32Tensor(values);
}
