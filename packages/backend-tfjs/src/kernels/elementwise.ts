/** Elementwise operations. */
import type { KernelTensor } from "@nnhal/backend";
import { float32Prelu, float32Sum } from "@nnhal/backend/float32";
import {
  type AnyOperandType,
  ensure,
  integerRange,
  isFloat,
  quantisedActivationRange,
  type TensorInfo,
} from "@nnhal/operations";
import { FusedActivationFunc } from "@nnhal/types";
import * as tf from "@tensorflow/tfjs-core";
import { byTable, lookUp } from "./_by-table.ts";
import { firstOf, floatKernel, isTensorInfo, only, realKernel, storedKernel } from "./_kernel.ts";
import { activate, centre, isQuantised } from "./_quantised.ts";

type Unary = (input: tf.Tensor) => tf.Tensor;
type Binary = (left: tf.Tensor, right: tf.Tensor) => tf.Tensor;

interface Pair {
  readonly left: KernelTensor;
  readonly right: KernelTensor;
}

function unary(make: typeof floatKernel, compute: Unary) {
  return make({
    prepare:
      ({ input }: { readonly input: KernelTensor }) =>
      (read) =>
        compute(read(input)),
  });
}

function binary(make: typeof floatKernel, compute: Binary) {
  return make({
    prepare:
      ({ left, right }: Pair) =>
      (read) =>
        compute(read(left), read(right)),
  });
}

/** Arithmetic with a fused activation. Integers have none. */
function arithmetic(compute: Binary, computeIntegers = compute) {
  const real = floatKernel({
    prepare:
      ({ left, right, activation }: Pair & { readonly activation: number }) =>
      (read) =>
        activate(compute(read(left), read(right)), activation),
  });
  const integers = storedKernel({
    accepts: only("TENSOR_INT32"),
    prepare({ left, right, activation }: Pair & { readonly activation: number }) {
      ensure(activation === 0, () => `activation ${activation} is not available for TENSOR_INT32; only NONE 0 is`);
      return (read) => computeIntegers(read(left), read(right));
    },
  });
  return firstOf(real, integers);
}

type Sizes = Readonly<Record<"left" | "right" | "output", TensorInfo>>;

/** Arithmetic of quantised numbers: `stepsOf` computes whole steps of the output from the operands' whole numbers less their zero points. */
function computeQuantised(stepsOf: (sizes: Sizes) => Binary) {
  return storedKernel({
    accepts: isQuantised,
    prepare(
      { left, right, activation }: Pair & { readonly activation: number },
      { output }: { readonly output: TensorInfo },
    ) {
      const compute = stepsOf({ left, right, output });
      const [least, greatest] = quantisedActivationRange(activation, output);
      return (read) => {
        const steps = compute(centre(read(left), left), centre(read(right), right));
        const placed = output.zeroPoint === 0 ? steps : tf.add(steps, output.zeroPoint);
        return tf.clipByValue(placed, least, greatest);
      };
    },
  });
}

/** See `Float32Sum`. */
function quantisedSum(sign: 1 | -1) {
  return computeQuantised(({ left, right, output }) => {
    const parts = float32Sum(left, right, sign, output);
    const { carryStep, step, restStep } = parts;
    return (l, r) => {
      const low = tf.add(tf.mul(l, parts.left.low), tf.mul(r, parts.right.low));
      const carry = tf.floor(tf.mul(low, carryStep));
      const high = tf.add(tf.add(tf.mul(l, parts.left.high), tf.mul(r, parts.right.high)), carry);
      const steps = tf.mul(high, step);
      if (restStep === 0) return tf.floor(tf.add(steps, 0.5));
      const rest = tf.mul(tf.sub(low, tf.div(carry, carryStep)), restStep);
      return tf.floor(tf.add(steps, tf.add(rest, 0.5)));
    };
  });
}

/** Products are exact, and rounded once, ties to even. */
const quantisedProduct = computeQuantised(({ left, right, output }) => {
  const ratio = Math.fround(Math.fround(left.scale * right.scale) / output.scale);
  return (l, r) => tf.round(tf.mul(tf.mul(l, r), ratio));
});

/** Comparisons of quantised tensors are those of the real numbers; booleans compare as 0 and 1. */
function comparison(compute: Binary) {
  const numbers = (tensor: tf.Tensor) => (tensor.dtype === "bool" ? tf.cast(tensor, "int32") : tensor);
  return firstOf(
    binary(realKernel, compute),
    binary(storedKernel, (left, right) => compute(numbers(left), numbers(right))),
  );
}

const floatsAndIntegers: typeof floatKernel = (spec) =>
  storedKernel({ accepts: (type) => isFloat(type) || type === "TENSOR_INT32", ...spec });

const booleans: typeof floatKernel = (spec) => storedKernel({ accepts: only("TENSOR_BOOL8"), ...spec });

/** Elements within the bounds of an activation. The output has the input's quantisation. */
function rectifier(activation: number) {
  return storedKernel({
    accepts: (type) => isFloat(type) || isQuantised(type),
    prepare({ input }: { readonly input: KernelTensor }, { output }: { readonly output: TensorInfo }) {
      if (isFloat(input.type)) return (read) => activate(tf.clone(read(input)), activation);
      const [least, greatest] = quantisedActivationRange(activation, output);
      return (read) => tf.clipByValue(read(input), least, greatest);
    },
  });
}

/** −x of integers, which tfjs would treat as floats. */
const negate = (input: tf.Tensor) => tf.sub(tf.scalar(0, "int32"), input);

export const abs = unary(floatsAndIntegers, (input) =>
  input.dtype === "int32" ? tf.maximum(input, negate(input)) : tf.abs(input),
);
export const neg = unary(floatsAndIntegers, (input) => (input.dtype === "int32" ? negate(input) : tf.neg(input)));
export const exp = unary(floatKernel, tf.exp);
export const log = unary(floatKernel, tf.log);
export const floor = unary(floatKernel, tf.floor);
export const sqrt = unary(floatKernel, tf.sqrt);
export const rsqrt = firstOf(byTable("RSQRT"), unary(floatKernel, tf.rsqrt));
export const sin = unary(floatKernel, tf.sin);
export const logistic = firstOf(byTable("LOGISTIC"), unary(floatKernel, tf.sigmoid));
export const tanh = firstOf(byTable("TANH"), unary(floatKernel, tf.tanh));
export const relu = rectifier(FusedActivationFunc.RELU);
export const relu1 = rectifier(FusedActivationFunc.RELU1);
export const relu6 = rectifier(FusedActivationFunc.RELU6);
export const logicalNot = unary(booleans, tf.logicalNot);

export const hardSwish = firstOf(
  byTable("HARD_SWISH", ({ input }, { output }) => {
    if (!isTensorInfo(input) || !isTensorInfo(output)) return undefined;
    // The arithmetic of the HAL has 32 bits.
    if (output.scale > input.scale / 128) return undefined;
    return `the scale of the output: expected more than 1/128 of the input's, ${input.scale}, got ${output.scale}`;
  }),
  unary(floatKernel, (x) => tf.div(tf.mul(x, tf.clipByValue(tf.add(x, 3), 0, 6)), 6)),
);

export const elu = floatKernel({
  // max(0, x) + min(0, α · (exp(x) − 1)). The power must not become infinite if α is 0.
  prepare:
    ({ input, alpha }: { readonly input: KernelTensor; readonly alpha: number }) =>
    (read) => {
      const x = read(input);
      const power = tf.exp(alpha === 0 ? tf.minimum(x, 80) : x);
      return tf.add(tf.relu(x), tf.minimum(tf.mul(tf.sub(power, 1), alpha), 0));
    },
});

export const add = firstOf(quantisedSum(1), arithmetic(tf.add));
export const sub = firstOf(quantisedSum(-1), arithmetic(tf.sub));
export const mul = firstOf(quantisedProduct, arithmetic(tf.mul));

/** Integers round down. Division by 0, whose result is undefined, returns 0. */
export const div = arithmetic(tf.div, (left, right) => {
  const zero = tf.scalar(0, "int32");
  const isZero = tf.equal(right, zero);
  return tf.where(isZero, zero, floorDivide(left, tf.where(isZero, tf.onesLike(right), right)));
});

/**
 * tfjs divides integers as floats, so the remainder is divided again. Then it is off by one at most, and comparing the remainder with the
 * divisor, as integers, shows which way.
 */
function floorDivide(left: tf.Tensor, right: tf.Tensor): tf.Tensor {
  const remainderOf = (quotient: tf.Tensor) => tf.sub(left, tf.mul(quotient, right));
  const first = tf.floorDiv(left, right);
  const second = tf.add(first, tf.floorDiv(remainderOf(first), right));
  const remainder = remainderOf(second);
  const [zero, one] = [tf.scalar(0, "int32"), tf.scalar(1, "int32")];
  // Not `where`: the engine reads booleans that it chooses beyond their end.
  const either = (positive: tf.Tensor, negative: tf.Tensor) =>
    tf.logicalOr(tf.logicalAnd(tf.greater(right, zero), positive), tf.logicalAnd(tf.less(right, zero), negative));
  const isTooGreat = either(tf.less(remainder, zero), tf.greater(remainder, zero));
  const isTooSmall = either(tf.greaterEqual(remainder, right), tf.lessEqual(remainder, right));
  return tf.where(isTooGreat, tf.sub(second, one), tf.where(isTooSmall, tf.add(second, one), second));
}

export const maximum = firstOf(binary(realKernel, tf.maximum), binary(floatsAndIntegers, tf.maximum));
export const minimum = firstOf(binary(realKernel, tf.minimum), binary(floatsAndIntegers, tf.minimum));
export const equal = comparison(tf.equal);
export const notEqual = comparison(tf.notEqual);
export const less = comparison(tf.less);
export const lessEqual = comparison(tf.lessEqual);
export const greater = comparison(tf.greater);
export const greaterEqual = comparison(tf.greaterEqual);
export const logicalAnd = binary(booleans, tf.logicalAnd);
export const logicalOr = binary(booleans, tf.logicalOr);

export const pow = floatKernel({
  prepare:
    ({ base, exponent }: { readonly base: KernelTensor; readonly exponent: KernelTensor }) =>
    (read) =>
      tf.pow(read(base), read(exponent)),
});

interface Prelu {
  readonly input: KernelTensor;
  readonly alpha: KernelTensor;
}

export const prelu = firstOf(
  storedKernel({
    accepts: only("TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"),
    prepare({ input, alpha }: Prelu, { output }: { readonly output: TensorInfo }, { keep }) {
      const parts = float32Prelu(input, alpha, output);
      const { leastSteps, greatestSteps, perProduct } = parts;
      const [positives, starts] = [parts.positives, parts.starts].map((each) => keep(tf.tensor1d(each)));
      return (read) => {
        const stored = read(input);
        const x = centre(stored, input);
        const product = tf.mul(x, centre(read(alpha), alpha));
        const estimate = tf.clipByValue(tf.round(tf.mul(product, perProduct)), leastSteps, greatestSteps);
        const startAt = (place: number) => lookUp(tf.add(estimate, place), leastSteps, starts);
        const more = tf.cast(tf.greaterEqual(product, startAt(1)), "float32");
        const less = tf.cast(tf.less(product, startAt(0)), "float32");
        const negative = tf.add(tf.sub(tf.add(estimate, more), less), output.zeroPoint);
        return tf.where(tf.less(x, 0), negative, lookUp(stored, parts.least, positives));
      };
    },
  }),
  floatKernel({
    prepare:
      ({ input, alpha }: Prelu) =>
      (read) => {
        const x = read(input);
        return tf.where(tf.less(x, 0), tf.mul(x, read(alpha)), x);
      },
  }),
);

interface Choice {
  readonly condition: KernelTensor;
  readonly whenTrue: KernelTensor;
  readonly whenFalse: KernelTensor;
}

const choose = (make: typeof floatKernel) =>
  make({
    accepts: only("TENSOR_BOOL8"),
    prepare:
      ({ condition, whenTrue, whenFalse }: Choice) =>
      (read) =>
        tf.where(tf.cast(read(condition), "bool"), read(whenTrue), read(whenFalse)),
  });

/** On real numbers, because the quantisations of the two may differ. */
export const select = choose(realKernel);

/** Conversion to and from quantised types, which keeps the real numbers. */
const toReal = unary(realKernel, (input) => tf.clone(input));
export const quantize = toReal;
export const dequantize = toReal;

/** The stored number in another type, without scale and zero point. */
export const cast = storedKernel({
  prepare({ input }: { readonly input: KernelTensor }, { output }: { readonly output: TensorInfo }) {
    const { type } = output;
    if (type === input.type) return (read) => tf.clone(read(input));
    return (read) => castTo(read(input), input.type, type);
  },
});

function castTo(input: tf.Tensor, from: AnyOperandType, to: AnyOperandType): tf.Tensor {
  if (to === "TENSOR_INT32") return isFloat(from) ? toIntegers(input) : tf.cast(input, "int32");
  if (!isQuantised(to)) return tf.cast(input, "float32");
  const [least, greatest] = integerRange(to);
  const whole = isFloat(from) ? tf.cast(tf.clipByValue(input, least, greatest), "int32") : input;
  return tf.clipByValue(tf.cast(whole, "float32"), least, greatest);
}

/** Truncated towards 0 and clipped to the range of the type; NaN becomes 0. In tfjs, numbers outside the range are undefined. */
function toIntegers(input: tf.Tensor): tf.Tensor {
  const [least, greatest] = integerRange("TENSOR_INT32");
  const number = tf.where(tf.isNaN(input), 0, input);
  // The greatest float32 below 2^31.
  const within = tf.cast(tf.clipByValue(number, least, 2 ** 31 - 128), "int32");
  return tf.where(tf.greaterEqual(input, 2 ** 31), tf.scalar(greatest, "int32"), within);
}
