/**
 * The code of elementwise operations on quantised tensors whose results are those of the HAL's fixed-point arithmetic: it reads and returns
 * stored whole numbers. All numbers on the way are exact in float32.
 */
import { elementTable, float32Sum } from "@nnhal/backend/float32";
import { type AnyArgs, type OperationName, quantisedActivationRange, type TensorInfo } from "@nnhal/operations";
import type { Expression } from "./_expressions.ts";
import { literal } from "./_index.ts";
import { isTensor } from "./_pointwise.ts";
import { centred, rounded, within } from "./_quantised.ts";

/** The code for given arguments and output. */
type WholeExpression = (args: AnyArgs, output: TensorInfo) => Expression;

function tensorOf(args: AnyArgs, name: string): TensorInfo {
  const { [name]: tensor } = args;
  if (!isTensor(tensor)) throw new TypeError(`the argument ${name} is not a tensor`);
  return tensor;
}

const range = ({ activation }: AnyArgs, output: TensorInfo) =>
  quantisedActivationRange(typeof activation === "number" ? activation : 0, output);

/** Steps of the output as stored, within the bounds of the activation. */
function placed(steps: string, args: AnyArgs, output: TensorInfo): string {
  return within(`${steps} + ${literal(output.zeroPoint)}`, range(args, output));
}

/** See `Float32Sum`. */
function sum(sign: 1 | -1): WholeExpression {
  return (args, output) => {
    const [left, right] = [tensorOf(args, "left"), tensorOf(args, "right")];
    const parts = float32Sum(left, right, sign, output);
    const { carryStep, step, restStep } = parts;
    return {
      tensors: ["left", "right"],
      value([first, second], _, { define }) {
        const [l, r] = [define(centred(first, left)), define(centred(second, right))];
        const total = (part: "high" | "low") =>
          `${l} * ${literal(parts.left[part])} + ${r} * ${literal(parts.right[part])}`;
        const low = define(total("low"));
        const carry = define(`Math.floor(${low} * ${literal(carryStep)})`);
        const steps = `(${total("high")} + ${carry}) * ${literal(step)}`;
        const rest = `(${low} - ${carry} * ${literal(1 / carryStep)}) * ${literal(restStep)}`;
        const half = restStep === 0 ? "0.5" : `(${rest} + 0.5)`;
        return placed(`Math.floor(${steps} + ${half})`, args, output);
      },
    };
  };
}

/** Products are rounded once, ties to even. */
const product: WholeExpression = (args, output) => {
  const [left, right] = [tensorOf(args, "left"), tensorOf(args, "right")];
  const ratio = Math.fround(Math.fround(left.scale * right.scale) / output.scale);
  return {
    tensors: ["left", "right"],
    value([first, second], _, writer) {
      const steps = writer.single(`${centred(first, left)} * ${centred(second, right)} * ${literal(ratio)}`);
      return placed(rounded(writer, steps), args, output);
    },
  };
};

/** A function of one element. */
function table(name: OperationName): WholeExpression {
  return (args, output) => {
    const { least, results } = elementTable(name, { input: tensorOf(args, "input") }, output);
    const packed = { packed: results };
    return {
      tensors: ["input"],
      value: ([element], _, writer) => writer.read(packed)(writer.whole(`${element} - ${literal(least)}`)),
    };
  };
}

export const wholeExpressions: Readonly<Record<string, WholeExpression | undefined>> = {
  ADD: sum(1),
  HARD_SWISH: table("HARD_SWISH"),
  MUL: product,
  SUB: sum(-1),
};
