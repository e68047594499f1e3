/** Layer normalisation in fixed point, inside LSTM cells of integers: see `normaliseLayer` of the reference. */
import type { KernelTensor } from "@nnhal/backend";
import { addElementwise, type Builder, type Value } from "./builder.ts";
import { limit } from "./elements.ts";
import { type Expression, element, makeInteger, on, select, shiftBits, within } from "./expression.ts";
import { divideByPowerOf, fixedMultiple, shiftUp } from "./fixed-point.ts";
import { calc, choose, convertFormula, type Formula, realNumber } from "./formula.ts";
import { addRoutine } from "./routine.ts";

/** Mean and variance of each row, in units of 2^-10 and 2^-20. All numbers are exact. */
function addMoments(builder: Builder, name: string, values: Value) {
  const [rows = 1, count = 1] = values.dimensions;
  const [mean, variance] = [builder.value("i32", [rows, 1]), builder.value("i32", [rows, 1])];
  addRoutine(builder, name, rows, 4 * count, (routine) => {
    const [from, means, variances] = [routine.read(values), routine.write(mean), routine.write(variance)];
    const [sum, squares] = [routine.local(realNumber(0)), routine.local(realNumber(0))];
    const first = routine.local(calc("mul", routine.unit, count));
    routine.each(0, count, (place) => {
      const value = routine.local(convertFormula("toReal", from.at(calc("add", first, place))));
      routine.set(sum, calc("add", sum, value));
      routine.set(squares, calc("add", squares, calc("mul", value, value)));
    });
    const centre = routine.local(calc("trunc", calc("div", calc("mul", sum, 1024), count)));
    const spread = calc("sub", calc("mul", squares, Math.trunc(2 ** 20 / count)), calc("mul", centre, centre));
    routine.store(means, routine.unit, centre);
    routine.store(variances, routine.unit, calc("trunc", calc("div", spread, 2 ** 20)));
  });
  return { mean, variance };
}

/** 1 / √x for x > 1 as a multiplier: its mantissa, and the bits that a product is shifted down by, which may be less than 0. */
function inverseSquareRoot(x: Expression) {
  const isLarge = on("ge", x, makeInteger(1 << 29));
  const quarter = select(isLarge, shiftBits("shr", x, 2), x);
  const more = on("and", isLarge, makeInteger(1));
  const leading = on("sub", on("clz", quarter), makeInteger(1));
  const pairs = on("sub", shiftBits("shr", leading, 1), makeInteger(1));
  const bits = on("sub", on("add", makeInteger(11), more), pairs);
  const scaled = on("shlBy", quarter, shiftBits("shl", pairs, 1));
  // Newton's iteration x ← x · (3 - a · x²) / 2 in numbers with 3 integer bits, from 1.
  const halfOfInput = shiftBits("shr", on("add", shiftBits("shr", scaled, 1), makeInteger(1)), 1);
  let root = makeInteger(1 << 28);
  for (let step = 0; step < 5; step++) {
    const cube = shiftUp(on("highMul", on("highMul", root, root), root), 6);
    const change = on("sub", on("highMul", makeInteger(3 << 27), root), on("highMul", halfOfInput, cube));
    root = shiftUp(change, 3);
  }
  return { mantissa: on("highMul", root, makeInteger(Math.round(Math.SQRT1_2 * 2 ** 31))), bits };
}

/** Rows of numbers of 16 bits, normalised: the results have 12 fractional bits. */
export function addNormalisedLayer(
  builder: Builder,
  name: string,
  values: Value,
  weights: KernelTensor,
  bias: Value,
): Value {
  const [rows = 1, count = 1] = values.dimensions;
  const { mean, variance } = addMoments(builder, name, values);
  const [mantissa, bits] = [builder.value("i32", [rows, 1]), builder.value("i32", [rows, 1])];
  const x = element(0, "i32");
  const isOne = on("le", x, makeInteger(1));
  const root = inverseSquareRoot(x);
  const zero = makeInteger(0);
  const up = on("max", on("sub", zero, root.bits), zero);
  const greatest = makeInteger(2 ** 31 - 1);
  addElementwise(builder, name, [variance], mantissa, select(isOne, greatest, on("shlBy", root.mantissa, up)), 60);
  addElementwise(builder, name, [variance], bits, select(isOne, zero, on("max", root.bits, zero)), 60);
  const normal = builder.value("i32", values.dimensions);
  const shifted = on("sub", shiftBits("shl", x, 10), element(1, "i32"));
  const product = divideByPowerOf(on("highMul", shifted, element(2, "i32")), element(3, "i32"));
  addElementwise(builder, name, [values, mean, mantissa, bits], normal, product, 20);
  const rounded = builder.value("i32", values.dimensions);
  const weightList = builder.read(weights);
  addRoutine(builder, name, rows, 6 * count, (routine) => {
    const [from, factors, terms] = [routine.read(normal), routine.read(weightList), routine.read(bias)];
    const to = routine.write(rounded);
    const first = routine.local(calc("mul", routine.unit, count));
    const whole = (value: Formula) => convertFormula("toReal", value);
    routine.each(0, count, (place) => {
      const at = routine.local(calc("add", first, place));
      const weighted = routine.local(
        calc("add", calc("mul", whole(from.at(at)), whole(factors.at(place))), whole(terms.at(place))),
      );
      const half = choose(calc("gt", weighted, 0), realNumber(512), realNumber(-512));
      const steps = routine.local(calc("trunc", calc("div", calc("add", weighted, half), 1024)));
      routine.store(to, at, limit(steps, -(2 ** 31), 2 ** 31 - 1));
    });
  });
  const result = builder.value("i32", values.dimensions);
  const scaled = within(fixedMultiple(x, weights.scale * 2 ** 12), -32768, 32767);
  addElementwise(builder, name, [rounded], result, scaled, 20);
  return result;
}
