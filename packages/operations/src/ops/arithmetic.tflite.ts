/**
 * ADD, SUB, MUL and DIV in all types and ranks of .tflite. There is no rule for the scales of quantised operands, and integers have
 * activations.
 */

import { FusedActivationFunc } from "@nnhal/types";
import type { TypeRow } from "../define.ts";
import { ensure } from "../fail.ts";
import type { AnyOperandType } from "../operand-type.ts";
import type { Phase } from "../phases.ts";
import { isFloat } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { inferBroadcast } from "./_broadcast.ts";
import { ensureNoZero } from "./_divisor.tflite.ts";
import type { AnyOutput, AnyTensor } from "./_elements.tflite.ts";
import { anyRank, broadcast, combineElements, type PairFunctions } from "./_elementwise.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";
import { arithmeticTypes, complexTypes } from "./_types.tflite.ts";
import { widerOf } from "./_wider.tflite.ts";
import { add } from "./add.ts";
import { div } from "./div.ts";
import { mul } from "./mul.ts";
import { sub } from "./sub.ts";

type ArithmeticOperation = typeof add | typeof sub | typeof mul | typeof div;

/** The part of a definition that differs within the family. */
interface Arithmetic {
  readonly types: readonly AnyOperandType[];
  readonly rows?: readonly TypeRow[];
  /** The functions for these operands. Throws an OperationError if they have no result. */
  readonly functions: (left: AnyTensor, right: AnyTensor) => PairFunctions;
  /** The kernel of complex numbers, if it has such types. */
  readonly complex?: (left: AnyTensor, right: AnyTensor, output: AnyOutput, activation: number) => readonly Phase[];
}

/** Defines one of the operations. */
function widerArithmetic<Base extends ArithmeticOperation>(
  base: Base,
  { types, rows = [], functions, complex }: Arithmetic,
) {
  return widerOf<ArithmeticOperation, Base>(base, {
    from: "TENSOR_FLOAT32",
    types,
    rows,
    ranks: { left: anyRank, right: anyRank },
    check: () => undefined,
    infer: ({ left, right }) => inferBroadcast(left, right),
    reference({ left, right, activation }, { output }) {
      return complex !== undefined && complexTypes.some((type) => type === output.type)
        ? complex(left, right, output, activation)
        : combineElements(left, right, output, functions(left, right), activation);
    },
  });
}

const { TENSOR_COMPLEX64, TENSOR_UINT32 } = tfliteTypes;

/** The operators. */
export const arithmetic = [
  // ADD of 16-bit and 64-bit integers, of more than 4 axes, and with an activation of integers.
  widerArithmetic(add, {
    types: [...arithmeticTypes, "TENSOR_FLOAT16"],
    functions: () => ({
      real: (left, right) => left + right,
      integer: (left, right) => left + right,
      long: (left, right) => left + right,
    }),
  }),
  // SUB of 16-bit floats, 16-bit and 64-bit integers, of more than 4 axes, and with an activation of integers.
  widerArithmetic(sub, {
    types: [...arithmeticTypes, "TENSOR_FLOAT16"],
    functions: ({ type }) => ({
      real: (left, right) => left - right,
      // A 16-bit difference is clamped, unlike a sum or a product.
      ...(type === "TENSOR_INT32" && { integer: (left, right) => left - right }),
      long: (left, right) => left - right,
    }),
  }),
  // MUL of 16-bit, 64-bit and unsigned integers and of complex numbers, of more than 4 axes, with an activation of integers, and with any scale of a quantised result, which may be 8-bit if the operands are 16-bit.
  widerArithmetic(mul, {
    types: [...arithmeticTypes, "TENSOR_FLOAT16", TENSOR_UINT32, TENSOR_COMPLEX64],
    rows: [
      ["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT8_ASYMM"],
      ["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ],
    functions: () => ({
      real: (left, right) => left * right,
      integer: Math.imul,
      long: (left, right) => left * right,
    }),
    complex: multiplyComplex,
  }),
  // DIV of quantised elements, of integers toward 0, and of more than 4 axes. A divisor of 0 is refused, except of floats.
  widerArithmetic(div, {
    types: [
      "TENSOR_FLOAT32",
      "TENSOR_FLOAT16",
      "TENSOR_INT32",
      "TENSOR_QUANT8_ASYMM",
      "TENSOR_QUANT8_ASYMM_SIGNED",
      "TENSOR_QUANT16_SYMM",
    ],
    functions(_left, right) {
      if (!isFloat(right.type)) ensureNoZero(right, right.zeroPoint);
      return {
        real: (left, right) => left / right,
        ...(right.type === "TENSOR_INT32" && { integer: (left, right) => Math.trunc(left / right) }),
      };
    },
  }),
] as const;

/** (a + bi)(c + di). A complex number is two numbers of an array, as if the tensor had one more axis of extent 2. */
function multiplyComplex(left: AnyTensor, right: AnyTensor, output: AnyOutput, activation: number): readonly Phase[] {
  ensure(
    activation === FusedActivationFunc.NONE,
    () => `activation ${activation} is given where complex numbers allow only NONE 0`,
  );
  const shape = [...output.dimensions, 2];
  const pairs = (tensor: AnyTensor) =>
    broadcast({ ...tensor, type: "TENSOR_FLOAT32", dimensions: [...tensor.dimensions, 2] }, shape);
  const [a, b] = [pairs(left), pairs(right)];
  const [lefts, rights] = [numbersIn(a.tensor.data), numbersIn(b.tensor.data)];
  const products = numbersIn(output.data);
  const compute = (first: number, end: number) => {
    for (let real = 2 * first; real < 2 * end; real += 2) {
      const imaginary = real + 1;
      products[real] = lefts[real] * rights[real] - lefts[imaginary] * rights[imaginary];
      products[imaginary] = lefts[real] * rights[imaginary] + lefts[imaginary] * rights[real];
    }
  };
  return [...a.phases, ...b.phases, { units: products.length / 2, compute }];
}
