/** SOFTMAX: in floats by exp, and of 8 bits in the reference's fixed point, step by step. */
import { integerRange, type TensorInfo } from "@nnhal/operations";
import { softmaxExponentials } from "@nnhal/operations/compiling";
import { addElementwise, type Builder, outputOf, type Value } from "./builder.ts";
import {
  accumulator,
  type Expression,
  element,
  makeInteger,
  on,
  real,
  select,
  shiftBits,
  within,
} from "./expression.ts";
import { exponential } from "./functions.ts";
import { around, expectReal, type LoweringTable } from "./lowering.ts";
import { addReduction } from "./reduction.ts";
import { refuse } from "./refusal.ts";
import { addTable } from "./table.ts";

/** The lowering. */
export const softmax: LoweringTable = {
  SOFTMAX({ input, beta, axis }, { output }, builder) {
    expectReal(input);
    const [outer, length, inner] = around(input, axis);
    const source = { ...builder.read(input), dimensions: [outer, length, inner] };
    const target = { ...outputOf(builder, output), dimensions: [outer, length, inner] };
    if (input.type === "TENSOR_FLOAT32") addFloatSoftmax(builder, source, beta, target);
    else addFixedSoftmax(builder, source, beta * input.scale, target, output);
    return { ...target, dimensions: output.dimensions };
  },
};

/** exp(beta · (x - max)) / Σ exp(beta · (x - max)) along the middle axis. */
function addFloatSoftmax(builder: Builder, source: Value, beta: number, target: Value): void {
  const [outer = 1, , inner = 1] = source.dimensions;
  const one = [outer, 1, inner];
  const [most, sum] = [builder.value("f32", one), builder.value("f32", one)];
  const powers = builder.value("f32", source.dimensions);
  const x = element(0, "f32");
  const start = real(Number.NEGATIVE_INFINITY);
  addReduction(builder, "SOFTMAX", source, along, most, { combine: "max", start, taken: x, value: accumulator("f32") });
  const power = exponential(on("mul", on("sub", x, element(1, "f32")), real(beta)));
  addElementwise(builder, "SOFTMAX", [source, most], powers, power, 16);
  const add = { combine: "add", start: real(0), taken: x, value: accumulator("f32") } as const;
  addReduction(builder, "SOFTMAX", powers, along, sum, add);
  addElementwise(builder, "SOFTMAX", [powers, sum], target, on("div", x, element(1, "f32")));
}

/** Axes that a softmax runs along. */
const along = [false, true, false];

/** Integer bits of the sum of exponentials. */
const sumBits = 12;

/** So many numbers of at most 1 have a sum within the integer bits. */
const mostSummed = 2 ** sumBits - 1;

/** The same in fixed point. An element is at most 255 below the greatest, so there are 256 exponentials. */
function addFixedSoftmax(builder: Builder, source: Value, step: number, target: Value, output: TensorInfo): void {
  const [outer = 1, length = 1, inner = 1] = source.dimensions;
  if (length > mostSummed) refuse(`a softmax of ${length} elements of 8 bits is not available`);
  const table = softmaxExponentials(step);
  const one = [outer, 1, inner];
  const most = builder.value(source.type, one);
  const [sum, mantissa, shift] = [builder.value("i32", one), builder.value("i32", one), builder.value("i32", one)];
  const below = builder.value("u8", source.dimensions);
  const powers = builder.value("i32", source.dimensions);
  const x = element(0, "i32");
  const [least] = integerRange(output.type);
  addReduction(builder, "SOFTMAX", source, along, most, {
    combine: "max",
    start: makeInteger(least),
    taken: x,
    value: accumulator("i32"),
  });
  addElementwise(builder, "SOFTMAX", [source, most], below, on("sub", element(1, "i32"), x));
  addTable(builder, "SOFTMAX", below, powers, table);
  const start = makeInteger(0);
  const taken = roundedDown(x, makeInteger(sumBits));
  addReduction(builder, "SOFTMAX", powers, along, sum, { combine: "add", start, taken, value: accumulator("i32") });
  addElementwise(
    builder,
    "SOFTMAX",
    [sum],
    mantissa,
    reciprocal(on("xor", on("shlBy", x, on("clz", x)), makeInteger(-(2 ** 31)))),
  );
  // Units of 1/256: 31 - 8 bits less the shift of the reciprocal, which is the leading zeros less the integer bits.
  addElementwise(builder, "SOFTMAX", [sum], shift, on("sub", makeInteger(31 - 8 + sumBits), on("clz", x)));
  const bits = element(2, "i32");
  const units = roundedDown(on("highMul", element(1, "i32"), x), on("min", bits, makeInteger(31)));
  const share = select(on("gt", bits, makeInteger(31)), makeInteger(0), units);
  const value = within(on("add", share, makeInteger(output.zeroPoint)), ...integerRange(output.type));
  addElementwise(builder, "SOFTMAX", [powers, mantissa, shift], target, value, 16);
}

/** value / 2^bits, halves up, of a value that is not negative. */
function roundedDown(value: Expression, bits: Expression): Expression {
  const half = on("and", on("shrBy", value, on("sub", bits, makeInteger(1))), makeInteger(1));
  return on("add", on("shrBy", value, bits), half);
}

/** A number with 2 integer bits. */
const withTwoBits = (number: number): Expression => makeInteger(Math.round(number * 2 ** 29));

/** 1 / (1 + x) for x in [0, 1) with no integer bits, by three steps of Newton's division of 2 by 1 + x. */
function reciprocal(x: Expression): Expression {
  const half = on("add", shiftBits("shr", x, 1), makeInteger(2 ** 30));
  let quotient = on("add", withTwoBits(48 / 17), on("highMul", half, withTwoBits(-32 / 17)));
  for (let step = 0; step < 3; step++) {
    const error = on("sub", withTwoBits(1), on("highMul", half, quotient));
    quotient = on("add", quotient, shiftBits("shl", on("highMul", quotient, error), 2));
  }
  return select(on("ge", quotient, makeInteger(2 ** 30)), makeInteger(2 ** 31 - 1), shiftBits("shl", quotient, 1));
}
