/**
 * The code of elementwise operations on quantised tensors whose results are those of the HAL's fixed-point arithmetic: it reads and returns
 * stored whole numbers. All numbers on the way are exact in float32.
 */
import { elementTable, float32Prelu, float32Sum } from "@nnhal/backend/float32";
import { type AnyArgs, type OperationName, quantisedActivationRange, type TensorInfo } from "@nnhal/operations";
import type { Expression } from "./_expressions.ts";
import { literal } from "./_index.ts";
import { isTensor } from "./_pointwise.ts";
import { clampToRange, roundToWhole, subtractZeroPoint } from "./_quantised.ts";

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
function placeSteps(steps: string, args: AnyArgs, output: TensorInfo): string {
  return clampToRange(`${steps} + ${literal(output.zeroPoint)}`, range(args, output));
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
        const [l, r] = [define(subtractZeroPoint(first, left)), define(subtractZeroPoint(second, right))];
        const total = (part: "high" | "low") =>
          `${l} * ${literal(parts.left[part])} + ${r} * ${literal(parts.right[part])}`;
        const low = define(total("low"));
        const carry = define(`Math.floor(${low} * ${literal(carryStep)})`);
        const steps = `(${total("high")} + ${carry}) * ${literal(step)}`;
        const rest = `(${low} - ${carry} * ${literal(1 / carryStep)}) * ${literal(restStep)}`;
        const half = restStep === 0 ? "0.5" : `(${rest} + 0.5)`;
        return placeSteps(`Math.floor(${steps} + ${half})`, args, output);
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
      const steps = writer.single(
        `${subtractZeroPoint(first, left)} * ${subtractZeroPoint(second, right)} * ${literal(ratio)}`,
      );
      return placeSteps(roundToWhole(writer, steps), args, output);
    },
  };
};

/** See `Float32Prelu`. */
const prelu: WholeExpression = (args, output) => {
  const [input, alpha] = [tensorOf(args, "input"), tensorOf(args, "alpha")];
  const { least, positives, perProduct, leastSteps, greatestSteps, starts } = float32Prelu(input, alpha, output);
  const [ofPositives, ofStarts] = [{ packed: positives }, { packed: starts }];
  return {
    tensors: ["input", "alpha"],
    value([element, factor], _, writer) {
      const { define, read, truncate: whole } = writer;
      const x = define(subtractZeroPoint(element, input));
      const product = define(`${x} * ${subtractZeroPoint(factor, alpha)}`);
      const near = roundToWhole(writer, `${product} * ${literal(perProduct)}`);
      const estimate = define(clampToRange(near, [leastSteps, greatestSteps]));
      const [place, next] = [0, 1].map((more) => whole(`${estimate} + ${literal(more - leastSteps)}`));
      const start = read(ofStarts);
      const more = `(${product} >= ${start(next)} ? 1 : 0)`;
      const less = `(${product} < ${start(place)} ? 1 : 0)`;
      const negative = define(`${estimate} + ${more} - ${less} + ${literal(output.zeroPoint)}`);
      const positive = define(read(ofPositives)(whole(`${element} - ${literal(least)}`)));
      return `(${x} < 0 ? ${negative} : ${positive})`;
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
      value: ([element], _, writer) => writer.read(packed)(writer.truncate(`${element} - ${literal(least)}`)),
    };
  };
}

export const wholeExpressions: Readonly<Record<string, WholeExpression | undefined>> = {
  ADD: sum(1),
  HARD_SWISH: table("HARD_SWISH"),
  MUL: product,
  PRELU: prelu,
  // Of 0 and less it has the greatest element, which numbers of float32 do not give.
  RSQRT: table("RSQRT"),
  SUB: sum(-1),
};
