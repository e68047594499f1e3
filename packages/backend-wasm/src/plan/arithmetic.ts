/** Operations on two tensors that broadcast. */
import type { KernelTensor } from "@nnhal/backend";
import { activationRange, isFloat, quantisedActivationRange, sumMultipliers, type TensorInfo } from "@nnhal/operations";
import { FusedActivationFunc } from "@nnhal/types";
import { addElementwise, type Builder, outputOf, type Value } from "./builder.ts";
import { convert, type Expression, element, makeInteger, on, real, select, shiftBits, within } from "./expression.ts";
import { expectReal, isQuant8, type LoweringTable, requantise as requantisedSteps } from "./lowering.ts";
import { refuse } from "./refusal.ts";
import { requantiseTensor } from "./table.ts";

const { NONE } = FusedActivationFunc;

/** An operand's element as lanes of its type. */
export function elementOf(operand: number, { type }: TensorInfo): Expression {
  return element(operand, isFloat(type) ? "f32" : "i32");
}

/** Two tensors that broadcast. */
export interface Two {
  readonly left: KernelTensor;
  readonly right: KernelTensor;
}

/** Adds an elementwise step over two tensors. */
export function both(
  builder: Builder,
  name: string,
  { left, right }: Two,
  output: TensorInfo,
  value: Expression,
): Value {
  const target = outputOf(builder, output);
  addElementwise(builder, name, [builder.read(left), builder.read(right)], target, value);
  return target;
}

/** The quantised element less its zero point. */
export function centre(operand: number, info: TensorInfo): Expression {
  const plain = element(operand, "i32");
  return info.zeroPoint === 0 ? plain : on("sub", plain, makeInteger(info.zeroPoint));
}

/** A sum as the reference computes it: whole multipliers for the scales, and one rounding, halves up. */
function quantisedSum({ left, right }: Two, sign: 1 | -1, activation: number, output: TensorInfo): Expression {
  const { multipliers, step } = sumMultipliers(left, right, output);
  const bits = -Math.log2(step);
  const [least, greatest] = quantisedActivationRange(activation, output);
  const terms = on(
    "add",
    on("mul", centre(0, left), makeInteger(multipliers[0])),
    on("mul", centre(1, right), makeInteger(sign * multipliers[1])),
  );
  // Sums are less than 2^30: of more bits than 30 nothing is left.
  const steps = bits > 30 ? makeInteger(0) : shiftBits("shr", on("add", terms, makeInteger(2 ** (bits - 1))), bits);
  return within(on("add", steps, makeInteger(output.zeroPoint)), least, greatest);
}

function sum(name: "ADD" | "SUB") {
  const kind = name === "ADD" ? "add" : "sub";
  return (
    { left, right, activation }: Two & { readonly activation: number },
    { output }: { readonly output: TensorInfo },
    builder: Builder,
  ): Value => {
    if (isQuant8(output)) {
      const value = quantisedSum({ left, right }, name === "ADD" ? 1 : -1, activation, output);
      return both(builder, name, { left, right }, output, value);
    }
    const value = plain(kind, left, right, activation);
    return both(builder, name, { left, right }, output, value);
  };
}

/** Floats with an activation, and integers of 32 bits, which wrap. */
export function plain(
  kind: "add" | "sub" | "mul" | "div",
  left: TensorInfo,
  right: TensorInfo,
  activation: number,
): Expression {
  const value = on(kind, elementOf(0, left), elementOf(1, right));
  if (left.type === "TENSOR_INT32") {
    if (activation !== NONE || kind === "div") refuse(`TENSOR_INT32 with activation ${activation} is not available`);
    return value;
  }
  expectReal(left);
  return within(value, ...activationRange(activation));
}

const comparisons = {
  EQUAL: "eq",
  NOT_EQUAL: "ne",
  LESS: "lt",
  LESS_EQUAL: "le",
  GREATER: "gt",
  GREATER_EQUAL: "ge",
} as const;

/** An element in an order; a BOOL may be any number but 0. */
function comparable(operand: number, info: TensorInfo): Expression {
  if (info.type !== "TENSOR_BOOL8") return elementOf(operand, info);
  return on("and", on("ne", element(operand, "i32"), makeInteger(0)), makeInteger(1));
}

function comparison(name: keyof typeof comparisons) {
  return ({ left, right }: Two, { output }: { readonly output: TensorInfo }, builder: Builder): Value => {
    const isPlain = !isQuant8(left) || (left.scale === right.scale && left.zeroPoint === right.zeroPoint);
    const of = (operand: number, info: TensorInfo) =>
      isPlain ? comparable(operand, info) : on("mul", convert("toFloat", centre(operand, info)), real(info.scale));
    const truth = on(comparisons[name], of(0, left), of(1, right));
    return both(builder, name, { left, right }, output, on("and", truth, makeInteger(1)));
  };
}

function logical(name: "LOGICAL_AND" | "LOGICAL_OR") {
  // A BOOL may be any number but 0.
  const isTrue = (operand: number) => on("ne", element(operand, "i32"), makeInteger(0));
  return ({ left, right }: Two, { output }: { readonly output: TensorInfo }, builder: Builder): Value => {
    const truth = on(name === "LOGICAL_AND" ? "and" : "or", isTrue(0), isTrue(1));
    return both(builder, name, { left, right }, output, on("and", truth, makeInteger(1)));
  };
}

function extreme(name: "MAXIMUM" | "MINIMUM") {
  return ({ left, right }: Two, { output }: { readonly output: TensorInfo }, builder: Builder): Value => {
    const [a, b] = [elementOf(0, left), elementOf(1, right)];
    const chosen = select(on(name === "MAXIMUM" ? "gt" : "lt", a, b), a, b);
    // A NaN on either side is the result.
    const value = isFloat(left.type) ? select(on("eq", a, a), chosen, a) : chosen;
    const target = outputOf(builder, output);
    const operands = [left, right].map((tensor) => requantiseTensor(builder, tensor, output));
    addElementwise(builder, name, operands, target, value);
    return target;
  };
}

/** The lowerings. */
export const arithmetic: LoweringTable = {
  ADD: sum("ADD"),
  SUB: sum("SUB"),
  MUL({ left, right, activation }, { output }, builder) {
    if (!isQuant8(output)) return both(builder, "MUL", { left, right }, output, plain("mul", left, right, activation));
    const product = Math.fround(left.scale * right.scale);
    if (!(output.scale > product)) {
      refuse(
        `the output's scale: expected more than the product of the inputs' scales, ${product}, got ${output.scale}`,
      );
    }
    const ratio = Math.fround(product / output.scale);
    const steps = on("mul", convert("toFloat", on("mul", centre(0, left), centre(1, right))), real(ratio));
    return both(builder, "MUL", { left, right }, output, requantisedSteps(steps, activation, output));
  },
  EQUAL: comparison("EQUAL"),
  NOT_EQUAL: comparison("NOT_EQUAL"),
  LESS: comparison("LESS"),
  LESS_EQUAL: comparison("LESS_EQUAL"),
  GREATER: comparison("GREATER"),
  GREATER_EQUAL: comparison("GREATER_EQUAL"),
  LOGICAL_AND: logical("LOGICAL_AND"),
  LOGICAL_OR: logical("LOGICAL_OR"),
  SELECT({ condition, whenTrue, whenFalse }, { output }, builder) {
    const target = outputOf(builder, output);
    const chosen = [whenTrue, whenFalse].map((tensor) => requantiseTensor(builder, tensor, output));
    const operands = [builder.read(condition), ...chosen];
    const isChosen = on("ne", element(0, "i32"), makeInteger(0));
    addElementwise(
      builder,
      "SELECT",
      operands,
      target,
      select(isChosen, elementOf(1, whenTrue), elementOf(2, whenFalse)),
    );
    return target;
  },
  MAXIMUM: extreme("MAXIMUM"),
  MINIMUM: extreme("MINIMUM"),
};
