/**
 * Operators of two tensors that broadcast.
 */
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { type AnyOperandType, elementFactsOf } from "../operand-type.ts";
import { tensor, wide } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { inferBroadcast } from "./_broadcast.ts";
import { ensureNoZero } from "./_divisor.tflite.ts";
import type { AnyTensor } from "./_elements.tflite.ts";
import { combineElements, type PairFunctions } from "./_elementwise.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";
import { smallIntegerTypes } from "./_types.tflite.ts";
import { wider, widerOf } from "./_wider.tflite.ts";
import { maximum } from "./maximum.ts";
import { minimum } from "./minimum.ts";
import { pow } from "./pow.ts";

/** The part of a definition that differs within the family. */
interface Pair<Name extends string> {
  readonly name: Name;
  readonly code: number;
  readonly summary: string;
  readonly types: readonly AnyOperandType[];
  /** The functions for these operands. Throws an OperationError if they have no result. */
  readonly functions: (left: AnyTensor, right: AnyTensor) => PairFunctions;
}

/** Defines one of the operators. */
function pair<const Name extends string>({ name, code, summary, types, functions }: Pair<Name>) {
  return defineOperation({
    name,
    code,
    summary,
    params: [wide(tensor("left")), wide(tensor("right"))],
    outputs: [wide(tensor("output"))],
    types: types.map((type) => ["1.2", type, type, type] as const),
    broadcasts: ["left", "right"],
    infer: ({ left, right }) => inferBroadcast(left, right),
    reference: ({ left, right }, { output }) => combineElements(left, right, output, functions(left, right)),
  });
}

/** Defines one of the operations. */
function extreme<Base extends typeof maximum | typeof minimum>(base: Base, functions: PairFunctions) {
  return widerOf<typeof maximum | typeof minimum, Base>(base, {
    from: "TENSOR_FLOAT32",
    types: ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM", tfliteTypes.TENSOR_INT64],
    infer: ({ left, right }) => inferBroadcast(left, right),
    reference: ({ left, right }, { output }) => combineElements(left, right, output, functions),
  });
}

const quotient = (left: number, right: number) => Math.floor(left / right);

const { TENSOR_FLOAT64 } = tfliteTypes;

/** The operators. */
export const pairs = [
  // MAXIMUM of 8-bit, 16-bit and 64-bit integers, which are compared as they are stored.
  extreme(maximum, {
    integer: Math.max,
    long: (left, right) => (left > right ? left : right),
  }),
  // MINIMUM of 8-bit, 16-bit and 64-bit integers, which are compared as they are stored.
  extreme(minimum, {
    integer: Math.min,
    long: (left, right) => (left < right ? left : right),
  }),
  pair({
    name: "SQUARED_DIFFERENCE",
    code: 1099,
    summary: "(left - right)², of tensors that broadcast.",
    types: ["TENSOR_FLOAT32", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
    functions: () => ({
      real: (left, right) => (left - right) ** 2,
      integer: (left, right) => Math.imul(left - right, left - right),
    }),
  }),
  // FLOOR_DIV: the quotient toward minus infinity. Quantisation is left out of account, as the operator does. A divisor of 0 is refused, also of floats.
  pair({
    name: "FLOOR_DIV",
    code: 1090,
    summary: "The greatest integer that is at most left / right, of tensors that broadcast.",
    types: ["TENSOR_FLOAT32", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"],
    functions(_left, right) {
      ensureNoZero(right);
      return right.type === "TENSOR_FLOAT32" ? { real: quotient } : { integer: quotient };
    },
  }),
  // FLOOR_MOD: the rest of a division toward minus infinity. Quantisation is left out of account, as the operator does. A divisor of 0 is refused, except of floats.
  pair({
    name: "FLOOR_MOD",
    code: 1095,
    summary: "left - right · ⌊left / right⌋, of tensors that broadcast.",
    types: [
      "TENSOR_FLOAT32",
      "TENSOR_INT32",
      tfliteTypes.TENSOR_INT64,
      "TENSOR_QUANT8_ASYMM_SIGNED",
      "TENSOR_QUANT16_SYMM",
    ],
    functions(_left, right) {
      if (right.type === "TENSOR_FLOAT32") return { real: rest };
      ensureNoZero(right);
      return {
        integer: rest,
        long(left, right) {
          const truncated = left % right;
          return truncated !== 0n && truncated < 0n !== right < 0n ? truncated + right : truncated;
        },
      };
    },
  }),
  wider(pow, {
    from: "TENSOR_FLOAT32",
    types: ["TENSOR_INT32"],
    reference({ base, exponent }, { output }) {
      const exponents = numbersIn(exponent.data);
      for (let index = 0; index < exponents.length; index++) {
        ensure(exponents[index] >= 0, () => `element ${index} of the exponent is ${exponents[index]}, less than 0`);
      }
      return combineElements(base, exponent, output, { integer: power });
    },
  }),
  // ATAN2: the angle of a point. The tensors have one shape, they do not broadcast.
  defineOperation({
    name: "ATAN2",
    code: 1156,
    summary: "The angle between the x axis and the point (x, y), in radians.",
    params: [tensor("y"), tensor("x")],
    outputs: [tensor("output")],
    types: [
      ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
      ["1.2", TENSOR_FLOAT64, TENSOR_FLOAT64, TENSOR_FLOAT64],
    ],
    work: "functionElement",
    infer({ y, x }) {
      ensureShape("x", x, y.dimensions);
      return { output: { dimensions: y.dimensions } };
    },
    reference: ({ y, x }, { output }) => combineElements(y, x, output, { real: Math.atan2 }),
  }),
  pair({
    name: "BITWISE_XOR",
    code: 1160,
    summary: "The bits in which the elements differ, of tensors that broadcast.",
    types: smallIntegerTypes,
    functions: () => ({ integer: (left, right) => left ^ right }),
  }),
  // RIGHT_SHIFT of integers: signed ones keep their sign. Distances beyond the type's bits count as the nearest possible.
  pair({
    name: "RIGHT_SHIFT",
    code: 1161,
    summary: "Each element shifted right by that of the second tensor, of tensors that broadcast.",
    types: smallIntegerTypes,
    functions({ type }) {
      const most = 8 * elementFactsOf(type).elementSize - 1;
      return { integer: (value, distance) => Math.floor(value / 2 ** Math.min(Math.max(distance, 0), most)) };
    },
  }),
] as const;

/** The rest has the divisor's sign. */
function rest(left: number, right: number): number {
  const truncated = left % right;
  return truncated !== 0 && truncated < 0 !== right < 0 ? truncated + right : truncated;
}

/** By squaring, with products that wrap at 32 bits. */
function power(base: number, exponent: number): number {
  let result = 1;
  let square = base;
  for (let rest = exponent; rest > 0; rest >>= 1) {
    if (rest & 1) result = Math.imul(result, square);
    square = Math.imul(square, square);
  }
  return result;
}
