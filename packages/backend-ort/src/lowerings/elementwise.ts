/** Elementwise operations. */
import type { KernelTensor } from "@nnhal/backend";
import { hasFrequentTies } from "@nnhal/backend/float32";
import { integerRange, isFloat, sumRatios, type TensorInfo } from "@nnhal/operations";
import { FusedActivationFunc } from "@nnhal/types";
import { addWholeNumber, type Builder, cast, real, type Value } from "../graph/builder.ts";
import { isShifted, type Lowered, refuse, type Scope, valueType } from "../graph/scope.ts";
import { byTable, exactPrelu, exactSum, type Triple } from "./_exact.ts";
import {
  activatedQuant8,
  align,
  applyActivation,
  broadcastDims,
  dequantise,
  isQuant8,
  isReal,
  onReals,
  quantise,
  scaleConstant,
  typeName,
  zeroPointConstant,
} from "./_lowering.ts";

interface One {
  readonly output: TensorInfo;
}

interface Unary {
  readonly input: KernelTensor;
}

export interface Pair {
  readonly left: KernelTensor;
  readonly right: KernelTensor;
}

/** A computation on values of one type that have the same order. */
type Compute = (builder: Builder, values: readonly Value[], dims: readonly number[]) => Value;

/** The node of an operator that has the type of its first input. */
function node(operator: string, attributes = {}): Compute {
  return (builder, values, dims) =>
    builder.node(operator, values, { type: values[0]?.type ?? "float32", dims }, { attributes });
}

/** A computation on real numbers: floats, and quantised numbers that are converted. */
function unary(compute: Compute) {
  return ({ input }: Unary, { output }: One, scope: Scope): Lowered =>
    onReals(scope, [input], output, (values, dims) => compute(scope.builder, values, dims));
}

/** A computation on elements as they are stored. */
function onElements(
  scope: Scope,
  tensors: readonly KernelTensor[],
  { dimensions }: TensorInfo,
  compute: Compute,
): Lowered {
  const { values, lower: lowered } = align(scope, tensors, dimensions.length);
  return lowered(compute(scope.builder, values, broadcastDims(values)));
}

function ofFloatsAndIntegers(compute: Compute) {
  return ({ input }: Unary, { output }: One, scope: Scope): Lowered => {
    if (!isFloat(input.type) && input.type !== "TENSOR_INT32") refuse(`${typeName(input)} is not available`);
    return onElements(scope, [input], output, compute);
  };
}

export const abs = ofFloatsAndIntegers(node("Abs"));
export const neg = ofFloatsAndIntegers(node("Neg"));
export const exp = unary(node("Exp"));
export const log = unary(node("Log"));
export const floor = unary(node("Floor"));
export const sqrt = unary(node("Sqrt"));
export const sin = unary(node("Sin"));
export const tanh = unary(node("Tanh"));
const reciprocalRoot = unary((builder, values, dims) =>
  node("Reciprocal")(builder, [node("Sqrt")(builder, values, dims)], dims),
);

/** Quantised: the greatest element for 0 and less. */
const quantisedReciprocalRoot = unary((builder, values, dims) => {
  const root = node("Sqrt")(builder, [node("Relu")(builder, values, dims)], dims);
  return node("Reciprocal")(builder, [root], dims);
});

export const rsqrt: typeof reciprocalRoot = (args, outputs, scope) =>
  (isQuant8(args.input) ? quantisedReciprocalRoot : reciprocalRoot)(args, outputs, scope);

export function logistic(args: Unary, outputs: One, scope: Scope): Lowered {
  const { input } = args;
  const { output } = outputs;
  if (!isQuant8(input)) return unary(node("Sigmoid"))(args, outputs, scope);
  const { builder } = scope;
  const inputs = [input, output].flatMap((info) => [scaleConstant(builder, info), zeroPointConstant(builder, info)]);
  return onElements(scope, [input], output, (_, [value], dims) =>
    builder.node("QLinearSigmoid", [value, ...inputs], { type: "uint8", dims }, { domain: "com.microsoft" }),
  );
}

/** RELU and its kin: bounds of the stored numbers if the quantisation does not change. */
function rectifier(activation: number) {
  return (args: Unary, { output }: One, scope: Scope): Lowered => {
    const { input } = args;
    if (isQuant8(input) && input.scale === output.scale && input.zeroPoint === output.zeroPoint) {
      return onElements(scope, [input], output, (builder, values) => {
        const [value] = values;
        return value === undefined ? refuse("there is no input") : activatedQuant8(builder, value, activation, output);
      });
    }
    return unary((builder, [value]) =>
      value === undefined ? refuse("there is no input") : applyActivation(builder, value, activation),
    )(args, { output }, scope);
  };
}

export const relu = rectifier(FusedActivationFunc.RELU);
export const relu1 = rectifier(FusedActivationFunc.RELU1);
export const relu6 = rectifier(FusedActivationFunc.RELU6);
export function hardSwish(args: Unary, outputs: One, scope: Scope): Lowered {
  const { input } = args;
  const { output } = outputs;
  // The arithmetic of the HAL has 32 bits.
  if (isQuant8(input) && output.scale <= input.scale / 128) {
    refuse(`the scale of the output: expected more than 1/128 of the input's, ${input.scale}, got ${output.scale}`);
  }
  if (!isQuant8(input)) return hardSwishOfReals(args, outputs, scope);
  return onElements(scope, [input], output, (builder, values) => byTable(builder, values, "HARD_SWISH", input, output));
}

/** x · min(max(x + 3, 0), 6) / 6 */
const hardSwishOfReals = unary((builder, [x], dims) => {
  const shifted = node("Add")(builder, [x, real(builder, 3)].filter(isValue), dims);
  const bounded = builder.node("Clip", [shifted, real(builder, 0), real(builder, 6)], shifted);
  return node("Mul")(builder, [node("Mul")(builder, [x, bounded].filter(isValue), dims), real(builder, 1 / 6)], dims);
});

function isValue(value: Value | undefined): value is Value {
  return value !== undefined;
}

/** max(0, x) + min(0, α · (exp(x) − 1)), which for a negative α is not what the operator of ONNX computes. */
export function elu(args: Unary & { readonly alpha: number }, outputs: One, scope: Scope): Lowered {
  if (!(args.alpha < 0)) return unary(node("Elu", { alpha: { real: args.alpha } }))(args, outputs, scope);
  const negative = unary((builder, [x]) => {
    if (x === undefined) return refuse("there is no input");
    const power = builder.node("Sub", [builder.node("Exp", [x], x), real(builder, 1)], x);
    const below = builder.node(
      "Min",
      [builder.node("Mul", [power, real(builder, args.alpha)], x), real(builder, 0)],
      x,
    );
    return builder.node("Add", [builder.node("Relu", [x], x), below], x);
  });
  return negative(args, outputs, scope);
}

/** The scales of both operands and of the output, for an operator of onnxruntime. */
type Scales = readonly [left: number, right: number, output: number];

/** Computation of 8-bit numbers. */
interface OnQuant8 {
  /** An operator of onnxruntime, with its scales. */
  readonly operator?: string;
  scales?(...triple: Triple): Scales;
  /** The sign of the second number in exact sums, and where these are needed. */
  readonly exact?: { readonly sign: 1 | -1; isNeeded(...triple: Triple): boolean };
}

/** Arithmetic with a fused activation. Integers have none. */
function arithmetic(operator: string, quant8?: OnQuant8, integers: Compute = node(operator)) {
  return (
    { left, right, activation }: Pair & { readonly activation: number },
    { output }: One,
    scope: Scope,
  ): Lowered => {
    const { builder } = scope;
    if (output.type === "TENSOR_INT32") {
      if (activation !== 0) refuse(`activation ${activation} is not available for TENSOR_INT32; only NONE 0 is`);
      return onElements(scope, [left, right], output, integers);
    }
    const { operator: onBytes, scales: scalesOf, exact } = isQuant8(output) ? (quant8 ?? {}) : {};
    if (exact?.isNeeded(left, right, output) === true) {
      return onElements(scope, [left, right], output, (_, values, dims) =>
        exactSum(builder, values, dims, [left, right, output], exact.sign, activation),
      );
    }
    if (onBytes !== undefined && scalesOf !== undefined) {
      const scales = scalesOf(left, right, output).map((scale) => real(builder, scale));
      const [ofLeft, ofRight, ofOutput] = [left, right, output].map((info, place) => [
        scales[place],
        zeroPointConstant(builder, info),
      ]);
      return onElements(scope, [left, right], output, (_, [x, y], dims) => {
        const inputs = [x, ...(ofLeft ?? []), y, ...(ofRight ?? []), ...(ofOutput ?? [])];
        const result = builder.node(onBytes, inputs, { type: "uint8", dims }, { domain: "com.microsoft" });
        return activatedQuant8(builder, result, activation, output);
      });
    }
    return onReals(scope, [left, right], output, (values, dims) =>
      applyActivation(builder, node(operator)(builder, values, dims), activation),
    );
  };
}

/**
 * With the multipliers of ADD instead of the exact ratios of the scales, sums next to a half are rounded as ADD rounds them. The operator
 * rounds halves to even, so it is not used where there are many; it takes a third of the time.
 */
export const add = arithmetic("Add", {
  operator: "QLinearAdd",
  scales: (left, right, output) => [...sumRatios(left, right, output), 1],
  exact: { sign: 1, isNeeded: hasFrequentTies },
});
export const sub = arithmetic("Sub", { exact: { sign: -1, isNeeded: () => true } });
export const mul = arithmetic("Mul", {
  operator: "QLinearMul",
  scales: (left, right, output) => [left.scale, right.scale, output.scale],
});
export const div = arithmetic("Div", undefined, floorDivision);

/**
 * Integers round down. Division by 0, whose result is undefined, returns 0. The processor faults on a division by 0, and on that of the
 * least integer by -1, so neither is computed.
 */
function floorDivision(builder: Builder, [x, y]: readonly Value[], dims: readonly number[]): Value {
  if (x === undefined || y === undefined) return refuse("an operand is missing");
  const int32 = { type: "int32", dims } as const;
  const bool = (of: Value) => ({ type: "bool", dims: of.dims }) as const;
  const [zero, one, minusOne] = [0, 1, -1].map((number) => addWholeNumber(builder, "int32", number));
  const isZero = builder.node("Equal", [y, zero], bool(y));
  const isMinusOne = builder.node("Equal", [y, minusOne], bool(y));
  const isSpecial = builder.node("Or", [isZero, isMinusOne], bool(y));
  const divisor = builder.node("Where", [isSpecial, one, y], y);
  const quotient = builder.node("Div", [x, divisor], int32);
  const product = builder.node("Mul", [quotient, divisor], int32);
  const rest = builder.node("Sub", [x, product], int32);
  const isInexact = builder.node("Not", [builder.node("Equal", [rest, zero], bool(rest))], bool(rest));
  const signs = builder.node(
    "Xor",
    [builder.node("Less", [rest, zero], bool(rest)), builder.node("Less", [divisor, zero], bool(divisor))],
    bool(rest),
  );
  const isAbove = builder.node("And", [isInexact, signs], bool(rest));
  const floored = builder.node("Where", [isAbove, builder.node("Sub", [quotient, one], int32), quotient], int32);
  const negated = builder.node("Where", [isMinusOne, builder.node("Neg", [x], x), floored], int32);
  return builder.node("Where", [isZero, zero, negated], int32);
}

function extreme(operator: string) {
  return ({ left, right }: Pair, { output }: One, scope: Scope): Lowered => {
    if (output.type === "TENSOR_INT32") return onElements(scope, [left, right], output, node(operator));
    return onReals(scope, [left, right], output, (values, dims) => node(operator)(scope.builder, values, dims));
  };
}

export const maximum = extreme("Max");
export const minimum = extreme("Min");

/** Comparisons of quantised tensors are those of the real numbers; booleans compare as 0 and 1. */
function comparison(operator: string, isNegated = false) {
  return ({ left, right }: Pair, { output }: One, scope: Scope): Lowered => {
    const { builder } = scope;
    const numbers = (value: Value, info: TensorInfo): Value => {
      if (value.type === "bool") return cast(builder, value, "int32");
      return isReal(info) ? dequantise(scope, value, info) : value;
    };
    return onElements(scope, [left, right], output, (_, [x, y], dims) => {
      if (x === undefined || y === undefined) return refuse("an operand is missing");
      const result = { type: "bool", dims } as const;
      const compared = builder.node(operator, [numbers(x, left), numbers(y, right)], result);
      return isNegated ? builder.node("Not", [compared], result) : compared;
    });
  };
}

export const equal = comparison("Equal");
export const notEqual = comparison("Equal", true);
export const less = comparison("Less");
export const lessEqual = comparison("LessOrEqual");
export const greater = comparison("Greater");
export const greaterEqual = comparison("GreaterOrEqual");

export const logicalAnd = ({ left, right }: Pair, { output }: One, scope: Scope) =>
  onElements(scope, [left, right], output, node("And"));
export const logicalOr = ({ left, right }: Pair, { output }: One, scope: Scope) =>
  onElements(scope, [left, right], output, node("Or"));
export const logicalNot = ({ input }: Unary, { output }: One, scope: Scope) =>
  onElements(scope, [input], output, node("Not"));

export function pow(
  { base, exponent }: { readonly base: KernelTensor; readonly exponent: KernelTensor },
  { output }: One,
  scope: Scope,
): Lowered {
  return onReals(scope, [base, exponent], output, (values, dims) => node("Pow")(scope.builder, values, dims));
}

interface Prelu extends Unary {
  readonly alpha: KernelTensor;
}

export function prelu({ input, alpha }: Prelu, { output }: One, scope: Scope): Lowered {
  const { builder } = scope;
  if (isQuant8(input)) {
    return onElements(scope, [input, alpha], output, (_, values, dims) =>
      exactPrelu(builder, values, dims, [input, alpha, output]),
    );
  }
  return onReals(scope, [input, alpha], output, ([x, slope], dims) => {
    if (x === undefined || slope === undefined) return refuse("an operand is missing");
    const isNegative = builder.node("Less", [x, real(builder, 0)], { type: "bool", dims: x.dims });
    const scaled = builder.node("Mul", [x, slope], { type: "float32", dims });
    return builder.node("Where", [isNegative, scaled, x], { type: "float32", dims });
  });
}

interface Choice {
  readonly condition: KernelTensor;
  readonly whenTrue: KernelTensor;
  readonly whenFalse: KernelTensor;
}

/** On real numbers if the quantisations differ. */
export function select({ condition, whenTrue, whenFalse }: Choice, { output }: One, scope: Scope): Lowered {
  const { builder } = scope;
  const isSame = [whenTrue, whenFalse].every(
    ({ scale, zeroPoint }) => scale === output.scale && zeroPoint === output.zeroPoint,
  );
  return onElements(scope, [condition, whenTrue, whenFalse], output, (_, [isTrue, x, y], dims) => {
    if (x === undefined || y === undefined) return refuse("an operand is missing");
    if (isSame) return builder.node("Where", [isTrue, x, y], { type: x.type, dims });
    const [left, right] = [dequantise(scope, x, whenTrue), dequantise(scope, y, whenFalse)];
    return quantise(scope, builder.node("Where", [isTrue, left, right], { type: "float32", dims }), output);
  });
}

/** Conversion to and from quantised types, which keeps the real numbers. */
export const quantize = unary((_, [value]) => value ?? refuse("there is no input"));
export const dequantize = quantize;

/** The stored number in another type, without scale and zero point. */
export function castElements({ input }: Unary, { output }: One, scope: Scope): Lowered {
  return onElements(scope, [input], output, (builder, [value], dims) => {
    if (value === undefined) return refuse("there is no input");
    if (input.type === output.type) return value;
    const plain = isShifted(input.type)
      ? builder.node("Sub", [cast(builder, value, "int32"), addWholeNumber(builder, "int32", 128)], {
          type: "int32",
          dims,
        })
      : value;
    if (isFloat(output.type)) return plain.type === "float32" ? plain : cast(builder, plain, "float32");
    if (output.type === "TENSOR_BOOL8") return cast(builder, plain, "bool");
    const [least, greatest] = integerRange(output.type);
    const integers = plain.type === "float32" ? toIntegers(builder, plain) : cast(builder, plain, "int32");
    if (output.type === "TENSOR_INT32") return integers;
    const bounds = [least, greatest].map((bound) => addWholeNumber(builder, "int32", bound));
    const bounded = builder.node("Clip", [integers, ...bounds], { type: "int32", dims });
    const stored = isShifted(output.type)
      ? builder.node("Add", [bounded, addWholeNumber(builder, "int32", 128)], { type: "int32", dims })
      : bounded;
    return cast(builder, stored, valueType(output.type));
  });
}

/** Truncated towards 0 and clipped to the range of int32; NaN becomes 0. */
function toIntegers(builder: Builder, value: Value): Value {
  const { dims } = value;
  const float32 = { type: "float32", dims } as const;
  const int32 = { type: "int32", dims } as const;
  const isNotNumber = builder.node("IsNaN", [value], { type: "bool", dims });
  const number = builder.node("Where", [isNotNumber, real(builder, 0), value], float32);
  // The greatest float32 below 2^31.
  const bounds = [real(builder, -(2 ** 31)), real(builder, 2 ** 31 - 128)];
  const within = cast(builder, builder.node("Clip", [number, ...bounds], float32), "int32");
  const isAbove = builder.node("GreaterOrEqual", [number, real(builder, 2 ** 31)], { type: "bool", dims });
  return builder.node("Where", [isAbove, addWholeNumber(builder, "int32", 2 ** 31 - 1), within], int32);
}
