/**
 * The code of elementwise operations, by name. GPUs need help in two cases: functions of large numbers overflow in intermediate
 * results, so their arguments are bounded; and the power of a negative number is not defined.
 */
import type { AnyArgs } from "@nnhal/operations";
import { scalar, type Writer } from "./_code.ts";
import { enclose, literal } from "./_index.ts";

/** The code of an elementwise operation. */
export interface Expression {
  /** The names of its tensor arguments. */
  readonly tensors: readonly string[];
  /** The value of an element as an operand, from the names of the tensors' elements. */
  value(elements: readonly string[], args: AnyArgs, writer: Writer): string;
}

const unary = (value: (x: string) => string): Expression => ({
  tensors: ["input"],
  value: ([x]) => enclose(value(x)),
});

const binary = (value: (left: string, right: string) => string): Expression => ({
  tensors: ["left", "right"],
  value: ([left, right]) => enclose(value(left, right)),
});

const truth = (condition: string) => `(${condition} ? 1 : 0)`;
const compare = (operator: string) => binary((left, right) => truth(`${left} ${operator} ${right}`));
const clampBetween = (x: string, least: number, greatest: number) =>
  `Math.min(Math.max(${x}, ${literal(least)}), ${literal(greatest)})`;

/** The greatest finite number, as code. */
const greatest = literal(Number.POSITIVE_INFINITY);

export const expressions: Readonly<Record<string, Expression | undefined>> = {
  ABS: unary((x) => `Math.abs(${x})`),
  NEG: unary((x) => `-${x}`),
  EXP: unary((x) => `Math.exp(${x})`),
  LOG: unary((x) => `Math.log(${x})`),
  FLOOR: unary((x) => `Math.floor(${x})`),
  SQRT: unary((x) => `Math.sqrt(${x})`),
  RSQRT: unary((x) => `1 / Math.sqrt(${x})`),
  SIN: unary((x) => `Math.sin(${x})`),
  // 1 and -1 in float32 from here on.
  TANH: unary((x) => `Math.tanh(${clampBetween(x, -15, 15)})`),
  LOGISTIC: unary((x) => `1 / (1 + Math.exp(-${clampBetween(x, -87, 87)}))`),
  RELU: unary((x) => `Math.max(${x}, 0)`),
  RELU1: unary((x) => clampBetween(x, -1, 1)),
  RELU6: unary((x) => clampBetween(x, 0, 6)),
  HARD_SWISH: unary((x) => `${x} * ${clampBetween(`${x} + 3`, 0, 6)} / 6`),
  // max(0, x) + min(0, α · (exp(x) − 1)). For a positive x the second term is 0 unless α is negative, and the power may be infinite.
  ELU: {
    tensors: ["input"],
    value([x], { alpha }, writer) {
      const given = typeof alpha === "number" ? alpha : Number.NaN;
      const power = `${scalar(writer, given)} * (Math.exp(${x}) - 1)`;
      return given >= 0 ? `(${x} > 0 ? ${x} : ${power})` : `(Math.max(${x}, 0) + Math.min(${power}, 0))`;
    },
  },
  // max(0, x) + α · min(0, x)
  PRELU: {
    tensors: ["input", "alpha"],
    value: ([x, alpha]) => `(Math.max(${x}, 0) + ${alpha} * Math.min(${x}, 0))`,
  },
  ADD: binary((left, right) => `${left} + ${right}`),
  SUB: binary((left, right) => `${left} - ${right}`),
  MUL: binary((left, right) => `${left} * ${right}`),
  DIV: binary((left, right) => `${left} / ${right}`),
  MAXIMUM: binary((left, right) => `Math.max(${left}, ${right})`),
  MINIMUM: binary((left, right) => `Math.min(${left}, ${right})`),
  POW: {
    tensors: ["base", "exponent"],
    value([base, exponent], _, { define }) {
      const size = define(`Math.abs(${base})`);
      const power = define(`Math.pow(${size}, ${exponent})`);
      const half = define(`Math.abs(${exponent}) / 2`);
      const isWhole = `Math.floor(${exponent}) == ${exponent}`;
      const isOdd = `${isWhole} && Math.floor(${half}) != ${half}`;
      // 1 / -0 is less than 0, and so is -∞ itself.
      const isNegative = `(${base} < 0 || 1 / ${base} < 0)`;
      const signed = define(`(${isNegative} && ${isOdd} ? -${power} : ${power})`);
      // The root of a negative number is NaN, which has no literal in gpu.js.
      const isReal = `${base} >= 0 || ${isWhole} || ${size} > ${greatest}`;
      const known = define(`(${isReal} ? ${signed} : Math.sqrt(${base}))`);
      const isOne = `${exponent} == 0 || ${base} == 1 || (${base} == -1 && Math.abs(${exponent}) > ${greatest})`;
      return `(${isOne} ? 1 : ${known})`;
    },
  },
  EQUAL: compare("=="),
  NOT_EQUAL: compare("!="),
  LESS: compare("<"),
  LESS_EQUAL: compare("<="),
  GREATER: compare(">"),
  GREATER_EQUAL: compare(">="),
  LOGICAL_AND: binary((left, right) => `${left} * ${right}`),
  LOGICAL_OR: binary((left, right) => `Math.max(${left}, ${right})`),
  LOGICAL_NOT: unary((x) => `1 - ${x}`),
  SELECT: {
    tensors: ["condition", "whenTrue", "whenFalse"],
    value: ([condition, whenTrue, whenFalse]) => `(${condition} > 0.5 ? ${whenTrue} : ${whenFalse})`,
  },
};
