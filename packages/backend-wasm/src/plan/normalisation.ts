/** Operations that bring elements to a common size: INSTANCE_NORMALIZATION, L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION, LOG_SOFTMAX. */
import { integerRange, isFloat } from "@nnhal/operations";
import { addElementwise, type Builder, outputOf, type Value } from "./builder.ts";
import { awayFromZero, limit } from "./elements.ts";
import { accumulator, element, on, real } from "./expression.ts";
import { calc, choose, convertFormula, type Formula, integer, realNumber } from "./formula.ts";
import { exponential, logarithm } from "./functions.ts";
import { around, expectFloat, expectReal, type LoweringTable } from "./lowering.ts";
import { bitsOf, exponentialOf, logarithmOfBits, powersOfTwo } from "./real-functions.ts";
import { addCentred, addReduction, addSums } from "./reduction.ts";
import { addRoutine } from "./routine.ts";

/** The middle axis of three. */
const middle = [false, true, false];

/** The lowerings. */
export const normalisations: LoweringTable = {
  INSTANCE_NORMALIZATION({ input, gamma, beta, epsilon, nchw }, { output }, builder) {
    expectFloat(input);
    const name = "INSTANCE_NORMALIZATION";
    const [batches = 1, a = 1, b = 1, c = 1] = input.dimensions;
    const shape = nchw ? [batches * a, b * c, 1] : [batches, a * b, c];
    const [, pixels = 1] = shape;
    const source = { ...builder.read(input), dimensions: shape };
    const [x, other] = [element(0, "f32"), element(1, "f32")];
    const centred = addCentred(builder, name, source, middle);
    const squares = addSums(builder, name, centred, middle, true);
    const variance = on("add", on("div", other, real(pixels)), real(epsilon));
    const target = { ...outputOf(builder, output), dimensions: shape };
    const factor = on("div", real(gamma), on("sqrt", variance));
    addElementwise(builder, name, [centred, squares], target, on("add", on("mul", x, factor), real(beta)), 12);
    return { ...target, dimensions: output.dimensions };
  },
  LOG_SOFTMAX({ input, beta, axis }, { output }, builder) {
    expectFloat(input);
    const [outer, length, inner] = around(input, axis);
    const shape = [outer, length, inner];
    const source = { ...builder.read(input), dimensions: shape };
    return { ...addLogSoftmax(builder, source, beta, outputOf(builder, output)), dimensions: output.dimensions };
  },
  // In float64, as the reference: squares of float32 could be infinite.
  L2_NORMALIZATION({ input, axis }, { output }, builder) {
    expectReal(input);
    const [outer, length, inner] = around(input, axis);
    const target = outputOf(builder, output);
    const source = builder.read(input);
    const [least, greatest] = isFloat(input.type) ? [0, 0] : integerRange(output.type);
    addRoutine(builder, "L2_NORMALIZATION", outer * inner, 8 * length, (routine) => {
      const [values, results] = [routine.read(source), routine.write(target)];
      const column = calc("rem", routine.unit, inner);
      const first = routine.local(calc("add", calc("mul", calc("div", routine.unit, inner), length * inner), column));
      const sum = routine.local(realNumber(0));
      // Of quantised elements in steps, whatever their scale: the least length of floats must not meet a small scale.
      const real = (at: Formula): Formula =>
        isFloat(input.type) ? values.at(at) : convertFormula("toReal", calc("sub", values.at(at), input.zeroPoint));
      const eachElement = (body: (at: Formula) => void) =>
        routine.each(0, integer(length), (index) => body(calc("add", first, calc("mul", index, inner))));
      eachElement((at) => {
        const value = routine.local(real(at));
        routine.set(sum, calc("add", sum, calc("mul", value, value)));
      });
      const size = routine.local(calc("max", calc("sqrt", sum), 1e-6));
      eachElement((at) => {
        const value = calc("div", real(at), size);
        if (isFloat(input.type)) routine.store(results, at, value);
        else {
          const steps = routine.local(calc("div", value, output.scale));
          routine.store(results, at, limit(calc("add", awayFromZero(steps), output.zeroPoint), least, greatest));
        }
      });
    });
    return target;
  },
  LOCAL_RESPONSE_NORMALIZATION({ input, radius, bias, alpha, beta, axis }, { output }, builder) {
    expectFloat(input);
    const [outer, length, inner] = around(input, axis);
    const target = outputOf(builder, output);
    const source = builder.read(input);
    const table = powersOfTwo(builder);
    const single = builder.value("f32", [outer * inner]);
    const work = (2 * Math.min(radius, length) + 40) * length;
    addRoutine(builder, "LOCAL_RESPONSE_NORMALIZATION", outer * inner, work, (routine) => {
      const [values, results, powers] = [routine.read(source), routine.write(target), routine.read(table)];
      const [room, bits] = [routine.write(single), routine.read(bitsOf(single))];
      const column = calc("rem", routine.unit, inner);
      const first = routine.local(calc("add", calc("mul", calc("div", routine.unit, inner), length * inner), column));
      const at = (index: Formula) => calc("add", first, calc("mul", index, inner));
      routine.each(0, integer(length), (index) => {
        const sum = routine.local(realNumber(0));
        const begin = calc("max", calc("sub", index, Math.min(radius, length)), 0);
        const end = calc("min", calc("add", index, Math.min(radius, length) + 1), length);
        routine.each(begin, end, (near) => {
          const value = routine.local(values.at(at(near)));
          routine.set(sum, calc("add", sum, calc("mul", value, value)));
        });
        const base = routine.local(calc("add", calc("mul", sum, alpha), bias));
        const original = routine.local(base);
        const shift = routine.local(realNumber(0));
        // Squares of float32 times a float32 are within 2^±430: two turns bring them into its range.
        for (let turn = 0; turn < 2; turn++) {
          const scale = (isBeyond: Formula, power: number) =>
            routine.when(isBeyond, () => {
              routine.set(base, calc("mul", base, 2 ** power));
              routine.set(shift, calc("sub", shift, power * Math.LN2));
            });
          scale(calc("gt", base, realNumber(2 ** 120)), -200);
          scale(calc("lt", calc("abs", base), realNumber(2 ** -120)), 200);
        }
        // The logarithm of its bits as a float32, and what those lack.
        routine.store(room, routine.unit, base);
        const rounded = room.at(routine.unit);
        const rest = calc("div", calc("sub", base, rounded), rounded);
        const logarithm = calc(
          "add",
          calc("add", logarithmOfBits(routine, routine.local(bits.at(routine.unit))), rest),
          shift,
        );
        const power = exponentialOf(routine, powers, calc("mul", logarithm, -beta));
        routine.store(results, at(index), calc("mul", values.at(at(index)), powerOf(original, beta, power)));
      });
    });
    return target;
  },
};

/** base^-beta, where `power` is that of its magnitude: with the base 0 or infinite, or below 0, as JavaScript has it. */
function powerOf(base: Formula, beta: number, power: Formula): Formula {
  if (beta === 0) return realNumber(1);
  const isOdd = Number.isInteger(beta) && beta % 2 !== 0;
  const ofNegative = calc("mul", power, isOdd ? -1 : Number.isInteger(beta) ? 1 : Number.NaN);
  const signed = choose(calc("lt", base, realNumber(0)), ofNegative, power);
  const [ofZero, ofInfinity] = beta > 0 ? [Number.POSITIVE_INFINITY, 0] : [0, Number.POSITIVE_INFINITY];
  const positive = choose(calc("eq", base, realNumber(Number.POSITIVE_INFINITY)), realNumber(ofInfinity), signed);
  const isLeast = calc("eq", base, realNumber(Number.NEGATIVE_INFINITY));
  const bounded = choose(isLeast, realNumber(isOdd ? -ofInfinity : ofInfinity), positive);
  return choose(calc("eq", base, realNumber(0)), realNumber(ofZero), bounded);
}

/** beta · (x - max) - log(Σ exp(beta · (x - max))) along the middle axis of three. */
function addLogSoftmax(builder: Builder, source: Value, beta: number, output: Value): Value {
  const name = "LOG_SOFTMAX";
  const [outer = 1, , inner = 1] = source.dimensions;
  const one = [outer, 1, inner];
  const most = builder.value("f32", one);
  const [x, other] = [element(0, "f32"), element(1, "f32")];
  addReduction(builder, name, source, middle, most, {
    combine: "max",
    start: real(Number.NEGATIVE_INFINITY),
    taken: x,
    value: accumulator("f32"),
  });
  const scaled = builder.value("f32", source.dimensions);
  addElementwise(builder, name, [source, most], scaled, on("mul", on("sub", x, other), real(beta)));
  const powers = builder.value("f32", source.dimensions);
  addElementwise(builder, name, [scaled], powers, exponential(x), 16);
  const sum = addSums(builder, name, powers, middle);
  const target = { ...output, dimensions: source.dimensions };
  const logarithms = builder.value("f32", one);
  addElementwise(builder, name, [sum], logarithms, logarithm(x), 24);
  addElementwise(builder, name, [scaled, logarithms], target, on("sub", x, other));
  return target;
}
